// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// No other diagnostics.

nonisolated struct Level: PreferenceValue {
    var value = 0
    init() {}
    init(storedValue: PropertyListValue) throws { value = try Int(storedValue: storedValue) }
    func storedValue() throws -> PropertyListValue? { .integer(Int64(value)) }
}

nonisolated enum Theme: String { case light, dark }
nonisolated struct Frame: Codable { var x = 0 }

// The bounds of a range have the value's type, which is comparable, and belong to the range.

struct Ranges: PreferenceGroup {
    @Preference("a", .range("a"..."z")) var a = 5  // error: '.range' takes a range of the preference's own type
    @Preference("b", .range("a"..."z")) var b: Int?  // error: '.range' takes a range of the preference's own type
    @Preference("c", .range("a"...)) var c = 5  // error: '.range' takes a range of the preference's own type
    @Preference("d", .range(0...1)) var d = "text"  // error: '.range' takes a range of the preference's own type
    @Preference("e", .range(0.0...1.0)) var e: Int = 5  // error: '.range' takes a range of the preference's own type
    @Preference("f", .range(0...10.5)) var f: Int?  // error: '.range' takes a range of the preference's own type
    @Preference("g", .range(0...1)) var g = Frame()  // error: '.range' takes a range of the preference's own type
    @Preference("h", .range(0...1)) var h = Theme.light  // error: '.range' takes a range of the preference's own type
    @Preference("i", .range(0..<10)) var i = 5  // error: '.range' takes a range that includes its bounds
    @Preference("j", .range(0..<10)) var j: Int?  // error: '.range' takes a range that includes its bounds
    @Preference("k", .range(..<10)) var k = 5  // error: '.range' takes a range of the preference's own type
    @Preference("l", .range(10)) var l = 5  // error: '.range' takes a range of the preference's own type
    // error: requires that 'Level' conform to 'Comparable'
    @Preference("m", .range(Level()...Level())) var m = Level()
    // error: unary operator '...' cannot be applied to an operand of type 'Theme'
    @Preference("n", .range(Theme.light...)) var n = Theme.light
    // error: '.range' takes a range that includes its bounds
    @Preference("o", coding: .json, .range(0..<10), .secret) var o = 5
    // error: cannot convert value of type 'ClosedRange<Int>' to expected argument type 'PreferenceOption<Int>'
    @Preference("p", 0...10) var p = 5
}

struct PlainRanges: PreferenceGroup {
    // error: '.range' takes a range of the preference's own type
    let a = Preference("a", default: 5, .range("a"..."z"))
    let b = Preference("b", default: 5, .range(0..<10))  // error: '.range' takes a range that includes its bounds
    // error: '.range' takes a range of the preference's own type
    let c = Preference("c", default: Frame(), coding: .json, .range(0...1))
    // error: requires that 'Theme' conform to 'Comparable'
    let d = Preference("d", default: Theme.light, .range(.light ... .dark))
}

// A length is a range of integers, of a string, data or a collection.

struct Lengths: PreferenceGroup {
    @Preference("a", .length(1...8)) var a = 5  // error: '.length' is for strings, data and collections
    @Preference("b", .length(1...8)) var b: Int?  // error: '.length' is for strings, data and collections
    @Preference("c", .length(1...8)) var c = Theme.light  // error: '.length' is for strings, data and collections
    @Preference("d", .length(8)) var d = "text"  // error: '.length' takes a range of integers
    @Preference("e", .length(8)) var e: String?  // error: '.length' takes a range of integers
    @Preference("f", .length(0.5...1)) var f = "text"  // error: '.length' takes a range of integers
    // error: '.length' is for strings, data and collections
    @Preference("g", coding: .json, .length(1...8)) var g = 5
    let h = Preference("h", default: 5, .length(1...8))  // error: '.length' is for strings, data and collections
}

// Choices are an array of the value's type, which is equatable.

struct Choices: PreferenceGroup {
    @Preference("a", .choices(["a"])) var a = 5  // error: '.choices' takes an array of the preference's own type
    @Preference("b", .choices(["a"])) var b: Int?  // error: '.choices' takes an array of the preference's own type
    // error: '.choices' takes an array of the preference's own type
    @Preference("c", .choices([Frame()])) var c = Frame()
    // error: '.choices' takes an array of the preference's own type
    @Preference("d", .choices(["light"])) var d = Theme.light
    @Preference("e", .choices("a", "b")) var e = "a"  // error: '.choices' takes an array of the preference's own type
    @Preference("f", .choices(0...3)) var f = 1  // error: '.choices' takes an array of the preference's own type
    // error: '.choices' takes an array of the preference's own type
    @Preference("g", .choices(Theme.self)) var g = Theme.light
    // error: cannot convert value of type 'Int' to expected argument type 'Wrapped?' | cannot infer contextual base in reference to member 'dark'
    @Preference("h", .choices([.dark])) var h = 5
    // error: '.choices' takes an array of the preference's own type
    @Preference("i", coding: .json, .choices(["a"])) var i = 5
    // error: '.choices' takes an array of the preference's own type
    let j = Preference("j", default: 5, .choices(["a"]))
}

// A check takes a value and returns whether it is allowed.

nonisolated func isEven(_ number: Int) -> Bool { number.isMultiple(of: 2) }

struct Checks: PreferenceGroup {
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("a", .check { $0.isEmpty }) var a = 5
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("b", .check { !$0.isEmpty }) var b: Int?
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("c", .check { (text: String) in !text.isEmpty }) var c = 5
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("d", .check { (text: String?) in text != nil }) var d: Int?
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("e", .check("must be long") { $0.count > 5 }) var e = 5
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("f", .check("must be positive") { $0 > 5 }) var f = "text"
    // error: cannot convert value of type '@Sendable (Int) -> Bool' to expected argument type '@Sendable (String) throws -> Bool'
    @Preference("g", .check(isEven)) var g: String = "text"
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("h", coding: .json, .check { $0.isEmpty }) var h = 5
    // error: cannot convert value of type 'Int' to closure result type 'Bool'
    @Preference("i", .check { $0 + 1 }) var i = 5
    // error: contextual type for closure argument list expects 1 argument, which cannot be implicitly ignored
    @Preference("j", .check { true }) var j = 5
    // error: cannot convert value of type 'String' to expected argument type '@Sendable (Int) throws -> Bool'
    @Preference("k", .check("must be positive")) var k = 5
    @Preference("l", .check { $0.isEmpti }) var l: String?  // error: value of type 'String?' has no member 'isEmpti'
    // error: cannot infer type of closure parameter '$0' without a type annotation | cannot convert value of type 'Frame' to expected argument type 'Wrapped?'
    @Preference("m", .check { $0.y > 0 }) var m = Frame()
    // error: cannot pass function of type '@Sendable (String) async -> Bool' to parameter expecting synchronous function type
    @Preference("n", .check { await $0.isEmpty }) var n = ""
    // error: the closure of '.check' takes a value of the preference's own type
    let o = Preference("o", default: 5, .check { $0.isEmpty })
}

// Only an optional without a default can be required; the type of the others is kept.

struct Required: PreferenceGroup {
    @Preference("a", .required) var a = 5  // warning: a required preference has no default
    @Preference("b", .required) var b = Theme.light  // warning: a required preference has no default
    @Preference("c", coding: .json, .required) var c = 5  // warning: a required preference has no default
    // error: a preference needs a default | a required preference has no default
    @Preference("d", .required) var d: Int
    // error: cannot call value of non-function type 'PreferenceOption<Int?>'
    @Preference("e", .required(true)) var e: Int?
    let f = Preference("f", default: 5, .required)  // warning: a required preference has no default
}

func types(_ required: Required) {
    let _: Preference<Int> = required.$a
    let _: Preference<Theme> = required.$b
    let _: (Preference<Int>, Preference<Int>) = (required.$c, required.f)
}

// The other options.

struct Texts: PreferenceGroup {
    // error: cannot convert value of type 'String' to expected argument type 'Character'
    @Preference("a", .short("vo")) var a = 5
    // error: cannot convert value of type '[String]' to expected argument type 'String'
    @Preference("b", .formerly(["a", "b"])) var b = 5
    // error: cannot convert value of type 'Int' to expected argument type 'String'
    @Preference("c", .title(5)) var c = 5
    @Preference("d", .unknown) var d = 5  // error: type 'PreferenceOption<Int>' has no member 'unknown'
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceOption<Int>'
    @Preference("e", "text") var e = 5
    // error: 'nil' is not compatible with expected argument type 'PreferenceOption<Int>'
    @Preference("f", nil) var f = 5
}

// An option of another type.

nonisolated extension PreferenceOption where Value == Int {
    static var percentage: Self { .range(0...100) }
}

nonisolated extension PreferenceOption where Value: Collection {
    static var nonempty: Self { .length(1...) }
}

struct Own: PreferenceGroup {
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    @Preference("a", .percentage) var a = "text"
    // error: member chain produces result of type 'PreferenceOption<Int>' but contextual base was inferred as 'PreferenceOption<Int?>' | requires the types 'Int?' and 'Int' be equivalent
    @Preference("b", .percentage) var b: Int?
    // error: contextual member reference to static property 'nonempty' requires 'Self' constraint in the protocol extension
    @Preference("c", .nonempty) var c = 5
    // error: cannot convert value of type 'PreferenceOption<Int>' to expected argument type 'PreferenceOption<String?>'
    @Preference("d", PreferenceOption<Int>.percentage) var d = "text"
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    let e = Preference("e", default: "text", .percentage)
}
