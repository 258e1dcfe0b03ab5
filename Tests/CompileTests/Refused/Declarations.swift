// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// No other diagnostics.

nonisolated enum Theme: String { case light, dark }
nonisolated struct Frame: Codable { var x = 0 }
struct Player: PreferenceGroup { @Preference("x") var x = 5 }
nonisolated let player = Player()

// A preference has a name.

struct Names: PreferenceGroup {
    @Preference var a = 5  // error: a preference needs a name
    @Preference() var b = Theme.light  // error: a preference needs a name
    @Preference(.range(0...10)) var c = 5  // error: a preference needs a name
    @Preference(.range(0...10), .secret) var d: Int?  // error: a preference needs a name
    @Preference(.secret, in: .standard) var e = 5  // error: a preference needs a name
    @Preference(coding: .json) var f = Frame()  // error: a preference needs a name
    @Preference(coding: .json, .secret, in: .standard) var g: Frame?  // error: a preference needs a name
    @Preference(.required) var h: String?  // error: a preference needs a name
    @Preference(5) var i = 5  // error: cannot convert value of type 'Int' to expected argument type 'String'
    @Preference(name: "j") var j = 5  // error: extraneous argument label 'name:' in call
    @Preference(default: 5) var k: Int  // error: a preference needs a name
    let l = Preference(default: 5)  // error: a preference needs a name
    let m = Preference(default: 5, .secret)  // error: a preference needs a name
    let n = Preference<Int?>()  // error: a preference needs a name
    let o = Preference<Int?>(.secret, in: .standard)  // error: a preference needs a name
}

// A property without an argument gets its wrapper from an initializer, which a group doesn't have.
struct Unnamed: PreferenceGroup {  // error: type 'Unnamed' does not conform to protocol 'PreferenceGroup'
    @Preference var a: Int?
}

// A preference has a default, unless it is an optional.

struct Defaults: PreferenceGroup {
    @Preference("a") var a: Int  // error: a preference needs a default
    @Preference("b") var b: Theme  // error: a preference needs a default
    @Preference("c") var c: Frame  // error: a preference needs a default
    @Preference("d", .secret) var d: String  // error: a preference needs a default
    @Preference("e", .range(0...10), .check { $0 > 5 }) var e: Int  // error: a preference needs a default
    @Preference("f", coding: .json) var f: Frame  // error: a preference needs a default
    @Preference("g", coding: .json, .secret, in: .standard) var g: Frame  // error: a preference needs a default
    @Preference("h", in: .standard) var h: [Int]  // error: a preference needs a default
    @Preference("i") var i  // error: or the type of an optional
    let j = Preference("j")  // error: or the type of an optional
    let k = Preference("k", .secret)  // error: or the type of an optional
    let l = Preference("l", in: .standard)  // error: or the type of an optional
    let m = Preference("m", coding: .json)  // error: generic parameter 'Wrapped' could not be inferred
    let n = Preference("n", default: nil)  // error: or the type of an optional
    // error: generic parameter 'Value' could not be inferred
    let o = Preference("o", default: nil, coding: .json, .secret, in: .standard)
    let p = Preference<Int>("p")  // error: a preference needs a default
    let q: Preference<Int> = Preference("q", .range(0...10), in: .standard)  // error: a preference needs a default
    let r = Preference<Frame>("r", coding: .json)  // error: a preference needs a default
}

// A default has the value's type.

struct Types: PreferenceGroup {
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    @Preference("a") var a: Int = "loud"
    @Preference("b") var b: Int = nil  // error: 'nil' is not compatible with expected argument type 'Int'
    @Preference("c") var c = nil  // error: generic parameter 'Wrapped' could not be inferred
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    let d: Preference<Int> = Preference("d", default: "loud")
    let e = Preference<Int>("e", default: nil)  // error: 'nil' is not compatible with expected argument type 'Int'
}

// A coding and a store have their types.

struct Codings: PreferenceGroup {
    @Preference("a", coding: .rawValue) var a = 5  // error: '.rawValue' is for types with raw values
    @Preference("b", coding: .rawValue) var b: Int?  // error: '.rawValue' is for types with raw values
    @Preference("c", coding: .native) var c = Frame()  // error: requires that 'Frame' conform to 'PreferenceValue'
    // error: type 'PreferenceCoding<Frame>' has no member 'unknown'
    @Preference("d", coding: .unknown) var d = Frame()
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceCoding<Frame>'
    @Preference("e", coding: "json") var e = Frame()
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceStore'
    @Preference("f", in: "shared") var f = 5
    // error: cannot convert value of type 'Player' to expected argument type 'PreferenceStore'
    @Preference("g", in: player) var g = 5
    let h = Preference("h", default: 5, coding: .rawValue)  // error: '.rawValue' is for types with raw values
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceStore'
    let i = Preference("i", default: 5, in: "shared")
}

// A property for a preference that is declared elsewhere.

struct Views {
    @Preference(player) var a  // error: a property is one preference
    @Preference(Player()) var b  // error: a property is one preference
    @Preference(Player.self) var c  // error: type 'Player.Type' cannot conform to 'PreferenceGroup'
    @Preference(player.x) var d  // error: cannot convert value of type 'Int' to expected argument type 'String'
    // error: cannot infer key path type from context; consider explicitly specifying a root type | cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'String'
    @Preference(\.x) var e
    // error: cannot convert value of type 'Preference<Int>' to expected argument type 'Preference<String>'
    @Preference(player.$x) var i: String
}
