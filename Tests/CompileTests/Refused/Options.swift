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
    @Preference("d", .range(..."z")) var d: Int?  // error: '.range' takes a range of the preference's own type
    @Preference("e", .range(0...1)) var e = "text"  // error: '.range' takes a range of the preference's own type
    @Preference("f", .range(0...1)) var f: String?  // error: '.range' takes a range of the preference's own type
    @Preference("g", .range(0.0...1.0)) var g: Int = 5  // error: '.range' takes a range of the preference's own type
    @Preference("h", .range(0...10.5)) var h: Int?  // error: '.range' takes a range of the preference's own type
    @Preference("i", .range(0...1)) var i = true  // error: '.range' takes a range of the preference's own type
    @Preference("j", .range(0...1)) var j = [1]  // error: '.range' takes a range of the preference's own type
    @Preference("k", .range(0...1)) var k = Frame()  // error: '.range' takes a range of the preference's own type
    @Preference("l", .range(0...1)) var l = Theme.light  // error: '.range' takes a range of the preference's own type
    @Preference("m", .range(0..<10)) var m = 5  // error: '.range' takes a range that includes its bounds
    @Preference("n", .range(0..<10)) var n: Int?  // error: '.range' takes a range that includes its bounds
    @Preference("o", .range(0..<1)) var o = 0.5  // error: '.range' takes a range that includes its bounds
    @Preference("p", .range(..<10)) var p = 5  // error: '.range' takes a range of the preference's own type
    @Preference("q", .range(..<10)) var q: Int?  // error: '.range' takes a range of the preference's own type
    @Preference("r", .range(10)) var r = 5  // error: '.range' takes a range of the preference's own type
    @Preference("s", .range(0, 10)) var s = 5  // error: '.range' takes a range of the preference's own type
    // error: requires that 'Level' conform to 'Comparable'
    @Preference("t", .range(Level()...Level())) var t = Level()
    // error: requires that 'Theme' conform to 'Comparable'
    @Preference("u", .range(.light ... .dark)) var u = Theme.light
    // error: unary operator '...' cannot be applied to an operand of type 'Theme'
    @Preference("v", .range(Theme.light...)) var v = Theme.light
    // error: '.range' takes a range of the preference's own type
    @Preference("w", coding: .json, .range("a"..."z")) var w = 5
    // error: '.range' takes a range that includes its bounds
    @Preference("x", coding: .json, .range(0..<10), .secret) var x = 5
    // error: '.range' takes a range of the preference's own type
    @Preference("y", .secret, .range("a"..."z"), in: .standard) var y: Int?
    // error: cannot convert value of type 'ClosedRange<Int>' to expected argument type 'PreferenceOption<Int>'
    @Preference("z", 0...10) var z = 5
}

struct PlainRanges: PreferenceGroup {
    // error: '.range' takes a range of the preference's own type
    let a = Preference("a", default: 5, .range("a"..."z"))
    let b = Preference("b", default: 5, .range(0..<10))  // error: '.range' takes a range that includes its bounds
    let c = Preference<Int?>("c", .range("a"..."z"))  // error: '.range' takes a range of the preference's own type
    let d = Preference<Int?>("d", .range(0..<10))  // error: '.range' takes a range that includes its bounds
    // error: '.range' takes a range of the preference's own type
    let e = Preference("e", default: Frame(), coding: .json, .range(0...1))
    // error: requires that 'Theme' conform to 'Comparable'
    let f = Preference("f", default: Theme.light, .range(.light ... .dark))
    // error: '.range' takes a range that includes its bounds
    let g = Preference<Int?>("g", default: 5, .secret, .range(0..<10), in: .standard)
}

// A length is a range of integers, of a string, data or a collection.

struct Lengths: PreferenceGroup {
    @Preference("a", .length(1...8)) var a = 5  // error: '.length' is for strings, data and collections
    @Preference("b", .length(1...)) var b = 0.5  // error: '.length' is for strings, data and collections
    @Preference("c", .length(1...8)) var c: Int?  // error: '.length' is for strings, data and collections
    @Preference("d", .length(1...8)) var d = Theme.light  // error: '.length' is for strings, data and collections
    // error: '.length' is for strings, data and collections
    @Preference("e", .length(1...8), .secret, in: .standard) var e = Frame()
    @Preference("f", .length(8)) var f = "text"  // error: '.length' takes a range of integers
    @Preference("g", .length(8)) var g: String?  // error: '.length' takes a range of integers
    @Preference("h", .length(8)) var h = 5  // error: '.length' takes a range of integers
    @Preference("i", .length("a"..."b")) var i = "text"  // error: '.length' takes a range of integers
    @Preference("j", .length(0.5...1)) var j = "text"  // error: '.length' takes a range of integers
    @Preference("k", .length(1, 8)) var k = "text"  // error: '.length' takes a range of integers
    // error: '.length' is for strings, data and collections
    @Preference("l", coding: .json, .length(1...8)) var l = 5
    let m = Preference("m", default: 5, .length(1...8))  // error: '.length' is for strings, data and collections
    let n = Preference("n", default: "text", .length(8))  // error: '.length' takes a range of integers
    let o = Preference<String?>("o", .length(8))  // error: '.length' takes a range of integers
}

// Choices are an array of the value's type, which is equatable.

struct Choices: PreferenceGroup {
    @Preference("a", .choices(["a"])) var a = 5  // error: '.choices' takes an array of the preference's own type
    @Preference("b", .choices(["a"])) var b: Int?  // error: '.choices' takes an array of the preference's own type
    // error: '.choices' takes an array of the preference's own type
    @Preference("c", .choices([1, 2])) var c = "text"
    @Preference("d", .choices([0.5])) var d: Int = 5  // error: '.choices' takes an array of the preference's own type
    // error: '.choices' takes an array of the preference's own type
    @Preference("e", .choices([Frame()])) var e = Frame()
    // error: '.choices' takes an array of the preference's own type
    @Preference("f", .choices([Frame()])) var f: Frame?
    // error: '.choices' takes an array of the preference's own type
    @Preference("g", .choices([Theme.dark])) var g = "light"
    // error: '.choices' takes an array of the preference's own type
    @Preference("h", .choices(["light"])) var h = Theme.light
    // error: '.choices' takes an array of the preference's own type
    @Preference("i", .choices(["light"])) var i: Theme?
    @Preference("j", .choices("a", "b")) var j = "a"  // error: '.choices' takes an array of the preference's own type
    @Preference("k", .choices(0...3)) var k = 1  // error: '.choices' takes an array of the preference's own type
    @Preference("l", .choices(["a": 1])) var l = "a"  // error: '.choices' takes an array of the preference's own type
    // error: '.choices' takes an array of the preference's own type
    @Preference("m", .choices(Theme.self)) var m = Theme.light
    // error: cannot convert value of type 'Int' to expected argument type 'Wrapped?' | cannot infer contextual base in reference to member 'dark'
    @Preference("n", .choices([.dark])) var n = 5
    // error: '.choices' takes an array of the preference's own type
    @Preference("o", coding: .json, .choices(["a"])) var o = 5
    // error: '.choices' takes an array of the preference's own type
    let p = Preference("p", default: 5, .choices(["a"]))
    // error: '.choices' takes an array of the preference's own type
    let q = Preference<Int?>("q", .choices(["a"]), in: .standard)
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
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("g", .check("must be positive") { $0 > 5 }) var g: String?
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("h", .check { $0 > 0.5 }) var h: Int = 5
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("i", .check { $0 > 5 }) var i = Frame()
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("j", .check { $0.hasPrefix("a") }) var j = Theme.light
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("k", .check { value in value.isEmpty }) var k = 5
    // error: cannot convert value of type '@Sendable (Int) -> Bool' to expected argument type '@Sendable (String) throws -> Bool'
    @Preference("l", .check(isEven)) var l: String = "text"
    // error: cannot convert value of type '@Sendable (Int) -> Bool' to expected argument type '@Sendable (String) throws -> Bool'
    @Preference("m", .check("must be even", isEven)) var m: String = "text"
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("n", coding: .json, .check { $0.isEmpty }) var n = 5
    // error: the closure of '.check' takes a value of the preference's own type
    @Preference("o", .check { $0.isEmpty }, .title("O"), in: .standard) var o = 5
    // error: cannot convert value of type 'Int' to closure result type 'Bool'
    @Preference("p", .check { $0 + 1 }) var p = 5
    // error: contextual type for closure argument list expects 1 argument, which cannot be implicitly ignored
    @Preference("q", .check { true }) var q = 5
    // error: cannot convert value of type 'String' to expected argument type '@Sendable (Int) throws -> Bool'
    @Preference("r", .check("must be positive")) var r = 5
    @Preference("s", .check { $0.isEmpti }) var s: String?  // error: value of type 'String?' has no member 'isEmpti'
    // error: value of type 'String' has no member 'isEmpti'
    @Preference("t", .check { $0.isEmpti }) var t: String = ""
    // error: cannot infer type of closure parameter '$0' without a type annotation | cannot convert value of type 'Frame' to expected argument type 'Wrapped?'
    @Preference("u", .check { $0.y > 0 }) var u = Frame()
    // error: cannot pass function of type '@Sendable (String) async -> Bool' to parameter expecting synchronous function type
    @Preference("v", .check { await $0.isEmpty }) var v = ""
    // error: the closure of '.check' takes a value of the preference's own type
    let w = Preference("w", default: 5, .check { $0.isEmpty })
    // error: the closure of '.check' takes a value of the preference's own type
    let x = Preference<Int?>("x", .check { $0.isEmpty })
    // error: the closure of '.check' takes a value of the preference's own type
    let y = Preference("y", default: 5, .check { (text: String) in true })
}

// Only an optional without a default can be required; the type of the others is kept.

struct Required: PreferenceGroup {
    @Preference("a", .required) var a = 5  // warning: a required preference has no default
    @Preference("b", .required) var b = Theme.light  // warning: a required preference has no default
    @Preference("c", .required) var c = Frame()  // warning: a required preference has no default
    // warning: a required preference has no default
    @Preference("d", .secret, .required, in: .standard) var d = "text"
    @Preference("e", coding: .json, .required) var e = 5  // warning: a required preference has no default
    // error: a preference needs a default | a required preference has no default
    @Preference("f", .required) var f: Int
    // error: cannot call value of non-function type 'PreferenceOption<Int?>'
    @Preference("g", .required(true)) var g: Int?
    let h = Preference("h", default: 5, .required)  // warning: a required preference has no default
    let i = Preference("i", default: Theme.light, .required)  // warning: a required preference has no default
}

func types(_ required: Required) {
    let _: Preference<Int> = required.$a
    let _: Preference<Theme> = required.$b
    let _: Preference<Frame> = required.$c
    let _: Preference<String> = required.$d
    let _: Preference<Int> = required.$e
    let _: (Preference<Int>, Preference<Theme>) = (required.h, required.i)
}

// The other options.

struct Texts: PreferenceGroup {
    // error: cannot convert value of type 'String' to expected argument type 'Character'
    @Preference("a", .short("vo")) var a = 5
    // error: cannot convert value of type 'String' to expected argument type 'Character'
    @Preference("b", .short("")) var b = 5
    @Preference("c", .formerly()) var c = 5  // error: missing argument for parameter #1 in call
    // error: cannot convert value of type '[String]' to expected argument type 'String'
    @Preference("d", .formerly(["a", "b"])) var d = 5
    // error: member 'formerly' is a function that produces expected type 'PreferenceOption<Int>'; did you mean to call it?
    @Preference("e", .formerly) var e = 5
    @Preference("f", .title) var f = 5  // error: member 'title' expects argument of type 'String'
    // error: cannot convert value of type 'Int' to expected argument type 'String'
    @Preference("g", .title(5)) var g = 5
    // error: cannot call value of non-function type 'PreferenceOption<Int>'
    @Preference("h", .secret(true)) var h = 5
    @Preference("i", .deprecated) var i = 5  // error: member 'deprecated' expects argument of type 'String'
    @Preference("j", .section()) var j = 5  // error: missing argument for parameter #1 in call
    // error: 'nil' is not compatible with expected argument type 'String'
    @Preference("k", .description(nil)) var k = 5
    @Preference("l", .unknown) var l = 5  // error: type 'PreferenceOption<Int>' has no member 'unknown'
    @Preference("m", .unknown("text")) var m: Int?  // error: type 'PreferenceOption<Int?>' has no member 'unknown'
    // error: cannot convert value of type 'String' to expected argument type 'PreferenceOption<Int>'
    @Preference("n", "text") var n = 5
    // error: cannot pass array of type '[PreferenceOption<Int?>]' as variadic arguments of type 'PreferenceOption<Int?>'
    @Preference("o", [.secret, .required]) var o: Int?
    // error: 'nil' is not compatible with expected argument type 'PreferenceOption<Int>'
    @Preference("p", nil) var p = 5
    let q = Preference("q", default: 5, .unknown)  // error: type 'PreferenceOption<Int>' has no member 'unknown'
    // error: cannot pass array of type '[PreferenceOption<Int?>]' as variadic arguments of type 'PreferenceOption<Int?>'
    let r = Preference<Int?>("r", [.secret])
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
    // error: cannot convert value of type 'PreferenceOption<Int>' to expected argument type 'PreferenceOption<Int?>'
    @Preference("e", PreferenceOption<Int>.secret) var e: Int?
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    let f = Preference("f", default: "text", .percentage)
    // error: cannot convert value of type 'PreferenceOption<String>' to expected argument type 'PreferenceOption<String?>'
    let g = Preference<String?>("g", PreferenceOption<String>.secret)
}
