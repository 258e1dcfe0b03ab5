// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// No other diagnostics.

nonisolated enum Theme: String { case light, dark }
nonisolated struct Frame: Codable { var x = 0 }
struct Player: PreferenceGroup { @Preference("x") var x = 5 }
nonisolated let player = Player()

// The order is name, default, coding, options, store.

struct Order: PreferenceGroup {
    @Preference("a", .secret, coding: .json) var a = Frame()  // error: the order is name, coding, options, store
    // error: the order is name, default, coding, options, store
    @Preference("b", .secret, coding: .json) var b: Frame?
    @Preference("c", in: .standard, .secret) var c = 5  // error: the order is name, coding, options, store
    // error: the order is name, default, coding, options, store
    @Preference("d", in: .standard, .secret, .title("D")) var d: Int?
    // error: the order is name, coding, options, store
    @Preference("e", in: .standard, coding: .json) var e = Frame()
    // error: the order is name, default, coding, options, store
    @Preference("f", in: .standard, coding: .json) var f: Frame?
    // error: the order is name, coding, options, store
    @Preference("g", .secret, in: .standard, coding: .json) var g = Frame()
    // error: the order is name, default, coding, options, store
    @Preference("h", in: .standard, .secret, coding: .json) var h: Frame?
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceOption<Int>'
    @Preference(.secret, "i") var i = 5
    // error: incorrect argument labels in call (have 'wrappedValue:in:_:', expected 'wrappedValue:_:_:in:')
    @Preference(in: .standard, "j") var j = 5
    // error: the order is name, coding, options, store
    @Preference("k", .range(0...10), coding: .json, .secret) var k = 5
}

struct PlainOrder: PreferenceGroup {
    let a = Preference("a", .range(0...10), default: 5)  // error: the order is name, default, coding, options, store
    // error: the order is name, default, coding, options, store
    let b = Preference("b", .secret, .title("B"), default: Theme.light)
    // error: the order is name, default, coding, options, store
    let c = Preference("c", .secret, default: Frame(), coding: .json)
    // error: the order is name, default, coding, options, store
    let d = Preference("d", default: Frame(), .secret, coding: .json)
    // error: the order is name, default, coding, options, store
    let e = Preference("e", .secret, default: 5, in: .standard)
    // error: the order is name, default, coding, options, store
    let f = Preference("f", default: 5, in: .standard, .secret)
    // error: the order is name, default, coding, options, store
    let g = Preference("g", default: Frame(), in: .standard, coding: .json)
    let h = Preference("h", in: .standard, default: 5)  // error: the order is name, default, coding, options, store
    let i = Preference("i", coding: .json, default: 5)  // error: the order is name, default, coding, options, store
    // error: the order is name, default, coding, options, store
    let j = Preference("j", .secret, coding: .json, default: 5)
    // error: the order is name, default, coding, options, store
    let k = Preference<Int?>("k", in: .standard, .secret)
    // error: the order is name, default, coding, options, store
    let l = Preference<Frame?>("l", .secret, coding: .json)
    // error: the order is name, default, coding, options, store
    let m = Preference<Frame?>("m", in: .standard, coding: .json)
    // error: the order is name, default, coding, options, store
    let n = Preference("n", .check { $0 > 5 }, default: 5)
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceOption<Int>'
    let o = Preference(default: 5, "o")
}

// The labels of an earlier version are options.

struct Labels: PreferenceGroup {
    @Preference("a", isSecret: true) var a = "text"  // error: a description and a secret are options
    @Preference("b", isSecret: true) var b: String?  // error: a description and a secret are options
    @Preference("c", description: "C") var c = Theme.light  // error: a description and a secret are options
    @Preference("d", description: "D") var d: Theme?  // error: a description and a secret are options
    // error: a description and a secret are options
    @Preference("e", description: "E", isSecret: true) var e = Frame()
    @Preference("f", in: .standard, isSecret: true) var f: Frame?  // error: a description and a secret are options
    // error: a description and a secret are options
    @Preference("g", coding: .json, description: "G") var g = Frame()
    // error: a description and a secret are options
    @Preference("h", in: .standard, coding: .json, description: "H", isSecret: false) var h = Frame()
    // error: a description and a secret are options
    @Preference("i", .range(0...10), in: .standard, description: "I") var i = 5
    // error: a description and a secret are options
    @Preference("j", coding: .json, .range(0...10), isSecret: true) var j: Int?
    @Preference("k", .check { $0 > 5 }, isSecret: true) var k = 5  // error: a description and a secret are options
    // error: extraneous argument label 'range:' in call | cannot convert value of type 'ClosedRange<Int>' to expected argument type 'PreferenceOption<Int>'
    @Preference("l", range: 0...10) var l = 5
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceOption<Int>' | extraneous argument label 'title:' in call
    @Preference("m", title: "M") var m = 5
    let n = Preference("n", default: "text", isSecret: true)  // error: a description and a secret are options
    let o = Preference("o", default: Theme.light, description: "O")  // error: a description and a secret are options
    // error: a description and a secret are options
    let p = Preference("p", .range(0...10), default: 5, in: .standard, coding: .json, description: "P", isSecret: true)
    // error: a description and a secret are options
    let q = Preference("q", default: 5, .range(0...10), description: "Q")
    let r = Preference<String?>("r", isSecret: true)  // error: a description and a secret are options
    let s = Preference<Theme?>("s", description: "S")  // error: a description and a secret are options
    // error: a description and a secret are options
    let t = Preference<Int?>("t", .range(0...9), in: .standard, coding: .json, isSecret: true)
}

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
    // error: cannot infer key path type from context; consider explicitly specifying a root type
    @Preference(\.x) var e
    @Preference(\Player.x) var f  // error: '@Preference' takes a name or a preference
    @Preference(\Player.$x) var g  // error: '@Preference' takes a name or a preference
    @Preference(player.$x) var h = 5  // error: a preference that is declared elsewhere has its default there
    // error: cannot convert value of type 'Preference<Int>' to expected argument type 'Preference<String>'
    @Preference(player.$x) var i: String
}
