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
    @Preference(.range(0...10), .secret) var c: Int?  // error: a preference needs a name
    @Preference(coding: .json, .secret, in: .standard) var d: Frame?  // error: a preference needs a name
    @Preference(.required) var e: String?  // error: a preference needs a name
    @Preference(5) var f = 5  // error: cannot convert value of type 'Int' to expected argument type 'String'
    @Preference(name: "j") var g = 5  // error: extraneous argument label 'name:' in call
    @Preference(default: 5) var h: Int  // error: a preference needs a name
    let i = Preference(default: 5)  // error: a preference needs a name
    let j = Preference(default: 5, .secret)  // error: a preference needs a name
    let k = Preference<Int?>()  // error: a preference needs a name
}

// A property without an argument gets its wrapper from an initializer, which a group doesn't have.
struct Unnamed: PreferenceGroup {  // error: type 'Unnamed' does not conform to protocol 'PreferenceGroup'
    @Preference var a: Int?
}

// A preference has a default, unless it is an optional.

struct Defaults: PreferenceGroup {
    @Preference("a") var a: Int  // error: a preference needs a default
    @Preference("b") var b: Frame  // error: a preference needs a default
    @Preference("c", .range(0...10), .check { $0 > 5 }) var c: Int  // error: a preference needs a default
    @Preference("d", coding: .json) var d: Frame  // error: a preference needs a default
    @Preference("e") var e  // error: or the type of an optional
    let f = Preference("f")  // error: or the type of an optional
    let g = Preference("g", .secret)  // error: or the type of an optional
    let h = Preference("h", coding: .json)  // error: generic parameter 'Wrapped' could not be inferred
    let i = Preference("i", default: nil)  // error: or the type of an optional
    // error: generic parameter 'Value' could not be inferred
    let j = Preference("j", default: nil, coding: .json, .secret, in: .standard)
    let k = Preference<Int>("k")  // error: a preference needs a default
    let l: Preference<Int> = Preference("l", .range(0...10), in: .standard)  // error: a preference needs a default
}

// A default has the value's type.

struct Types: PreferenceGroup {
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    @Preference("a") var a: Int = "loud"
    @Preference("b") var b: Int = nil  // error: 'nil' is not compatible with expected argument type 'Int'
    @Preference("c") var c = nil  // error: generic parameter 'Wrapped' could not be inferred
    let d = Preference<Int>("d", default: nil)  // error: 'nil' is not compatible with expected argument type 'Int'
}

// A coding and a store have their types.

struct Codings: PreferenceGroup {
    @Preference("a", coding: .rawValue) var a = 5  // error: '.rawValue' is for types with raw values
    @Preference("b", coding: .native) var b = Frame()  // error: requires that 'Frame' conform to 'PreferenceValue'
    // error: type 'PreferenceCoding<Frame>' has no member 'unknown'
    @Preference("c", coding: .unknown) var c = Frame()
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceCoding<Frame>'
    @Preference("d", coding: "json") var d = Frame()
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceStore'
    @Preference("e", in: "shared") var e = 5
    // error: cannot convert value of type 'Player' to expected argument type 'PreferenceStore'
    @Preference("f", in: player) var f = 5
    let g = Preference("g", default: 5, coding: .rawValue)  // error: '.rawValue' is for types with raw values
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
    @Preference(player.$x) var f: String
}
