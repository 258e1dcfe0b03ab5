// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// Each option, of values and of optionals.

nonisolated enum Theme: String { case light, dark }
nonisolated struct Frame: Codable { var x = 0 }
nonisolated struct Failure: Error {}

// Compiles only if the preferences have exactly this type.
func expect<Group, Value>(_: Value.Type, _ group: Group, _: (Group) -> [Preference<Value>]) {}

struct Numbers: PreferenceGroup {
    @Preference("a", .range(0...10)) var a = 5
    @Preference("b", .range(1...)) var b = 5
    @Preference("c", .range(...10)) var c = 5
    @Preference("d", .choices([1, 2, 4])) var d = 1
    @Preference("e", .check { $0 != 80 }) var e = 8080
    @Preference("f", .check("must be even") { $0.isMultiple(of: 2) }) var f = 8080
    @Preference("g", .check("must be even") { if $0.isMultiple(of: 2) { true } else { throw Failure() } }) var g = 8080
    @Preference("h", .check("must be positive", isAllowed)) var h = 8080
    @Preference("h2", .check(isAllowed)) var h2 = 8080
    @Preference("i", .check { number in number == 5 }) var i = 5
    @Preference("j", .check { (number: Int) in number == 5 }, .check { $0 > 0 }) var j = 5
    @Preference("k", .range(0...10), .choices([1, 2]), .check { $0 > 0 }) var k = 5
    @Preference("m", PreferenceOption<Int>.range(0...10)) var m = 5
    @Preference("n", shared, .secret) var n = 5
    @Preference("s", .formerly("b", "c", "d")) var s = 5
    @Preference("u", .deprecated("set t")) var u = 5
    @Preference(
        "w",
        .range(0...10),
        .secret,
        .short("w"),
        .formerly("z"),
        .title("W"),
        .section("S"),
        .description("W.")
    )
    var w = 5
    @Preference(
        "x",
        coding: .native,
        .range(0...10),
        .check("must be even") { $0.isMultiple(of: 2) },
        .description(
            "A description of more than one line, \(1 + 1), in several parts, " + "as long texts are written."
        ),
        in: .suite("shared")
    )
    var x = 5
    @Preference("y", .check { $0 == limit.x }, .range(lower...upper)) var y = 5
    @Preference(
        "z",
        .check {
            let half = $0 / 2; return half > 2
        }
    ) var z = 5
}

nonisolated let shared: PreferenceOption<Int> = .range(0...10)
nonisolated let limit = Frame()
nonisolated let (lower, upper) = (0, 10)
nonisolated func isAllowed(_ number: Int) throws -> Bool { number > 0 }

struct OptionalNumbers: PreferenceGroup {
    @Preference("a", .range(0...10)) var a: Int?
    @Preference("b", .range(1...)) var b: Int?
    @Preference("c", .range(...10)) var c: Int?
    @Preference("d", .choices([1, 2, 4])) var d: Int?
    @Preference("e", .check { $0 != 80 }) var e: Int?
    @Preference("f", .check("must be even") { $0.isMultiple(of: 2) }) var f: Int?
    @Preference("g", .check("must be even") { if $0.isMultiple(of: 2) { true } else { throw Failure() } }) var g: Int?
    @Preference("h", .check("must be positive", isAllowed)) var h: Int?
    @Preference("h2", .check(isAllowed)) var h2: Int?
    @Preference("i", .check { number in number == 5 }) var i: Int?
    @Preference("j", .check { (number: Int) in number == 5 }, .check { $0 > 0 }) var j: Int?
    @Preference("k", .check { (number: Int?) in number != nil }) var k: Int?
    @Preference("l", .check { $0 != nil }) var l: Int?
    @Preference("m", .check { $0 ?? 0 > 5 }) var m: Int?
    @Preference("n", .check { _ in true }) var n: Int?
    @Preference("o", .required) var o: Int?
    @Preference("p", .required, .range(0...10), .formerly("q"), in: .inMemory()) var p: Int?
    @Preference("q", coding: .native, .required) var q: Int?
    @Preference("t", .formerly("b", "c")) var t: Int?
    @Preference("v", .deprecated("set t"), .description("V.")) var v: Int?
    @Preference("w", .range(0...10)) var w: Int? = 5
    @Preference("x", .choices([1, 2, 4]), .check { $0 > 0 }) var x: Int? = 5
    let y = Preference<Int?>("y", .required)
    let z: Preference<Int?> = Preference("z", default: 5, .range(0...10), .check { $0 > 0 })
}

struct Themes: PreferenceGroup {
    @Preference("a", .choices([.light])) var a = Theme.light
    @Preference("b", .check { $0 == .light }) var b = Theme.light
    @Preference("c", .check { $0.rawValue.count > 4 }, .secret) var c = Theme.light
    let d = Preference("d", default: Theme.light, .choices([.light]), .check { $0 != .dark })
    let e = Preference("e", default: .light, .choices([Theme.light]))
}

struct OptionalThemes: PreferenceGroup {
    @Preference("a", .choices([.light])) var a: Theme?
    @Preference("b", .check { $0 == .light }) var b: Theme?
    @Preference("c", .required, .secret) var c: Theme?
    let d = Preference<Theme?>("d", .choices([.light]), .check { $0 != .dark })
    let e = Preference("e", default: Theme?.none, .choices([.light]))
}

struct Texts: PreferenceGroup {
    @Preference("a", .length(1...8)) var a = "text"
    @Preference("b", .length(1...)) var b = "text"
    @Preference("c", .length(..<8)) var c = "text"
    @Preference("d", .length(1..<8)) var d = "text"
    @Preference("e", .range("a"..."z")) var e = "text"
    @Preference("f", .choices(["text", "data"])) var f = "text"
    @Preference("g", .check { !$0.isEmpty }) var g = "text"
    @Preference("h", .length(1...8), .check("must be lowercase") { $0.lowercased() == $0 }, .secret) var h = "text"
}

struct OptionalTexts: PreferenceGroup {
    @Preference("a", .length(1...8)) var a: String?
    @Preference("b", .length(1...)) var b: String?
    @Preference("c", .length(..<8)) var c: String?
    @Preference("d", .length(1..<8)) var d: String?
    @Preference("e", .range("a"..."z")) var e: String?
    @Preference("f", .choices(["text", "data"])) var f: String?
    @Preference("g", .check { !$0.isEmpty }) var g: String?
    @Preference("h", .required, .length(1...8), .check { $0?.isEmpty == false }, in: .inMemory()) var h: String?
}

struct Reals: PreferenceGroup {
    @Preference("a", .range(0...1)) var a = 0.5
    @Preference("b", .range(0.5...)) var b = 0.5
    // The bounds decide on the type of a literal, as in `max(5, 0.5)`.
    @Preference("c", .range(0.0...10.0)) var c = 5
    @Preference("d", .choices([0.5, 1])) var d = 1
    let e = Preference("e", default: 5, .range(0.0...10.0))
    let f = Preference("f", default: 0.5, .range(0...1), .secret)
}

// Without a default and a type, an optional of the type of the bounds.
struct Bounds: PreferenceGroup {
    let a = Preference("a", .range(0...10))
}

struct Frames: PreferenceGroup {
    @Preference("a", .check { $0.x > 0 }) var a = Frame()
    @Preference("b", coding: .json, .check("must be positive") { $0.x > 0 }, .secret) var b = Frame()
    let c = Preference("c", default: Frame(), .check { frame in frame.x > 0 && frame.x < 10 })
}

// Own options.

nonisolated extension PreferenceOption where Value == Int {
    static var percentage: Self { .range(0...100) }
    static func multiple(of number: Int) -> Self {
        .check("must be a multiple of \(number)") { $0.isMultiple(of: number) }
    }
}

nonisolated extension PreferenceOption where Value == Int? {
    static var percentage: Self { .range(0...100) }
}

nonisolated extension PreferenceOption where Value: Collection {
    static var nonempty: Self { .length(1...) }
}

nonisolated extension PreferenceOption where Value: Comparable & ExpressibleByIntegerLiteral {
    static var positive: Self { .check("must be positive") { $0 > 0 } }
}

nonisolated extension PreferenceOption {
    static func help(_ text: StaticString) -> Self { .description("\(text)") }
    static var hidden: Self { .section("") }
    static func above<Wrapped: Comparable & Sendable>(_ bound: Wrapped) -> Self where Value == Wrapped? {
        .check { $0 > bound }
    }
}

struct Own: PreferenceGroup {
    @Preference("a", .percentage) var a = 5
    @Preference("b", .percentage, .multiple(of: 5), .positive, .help("B"), .hidden, .secret, in: .standard) var b = 5
    @Preference("c", coding: .native, .positive) var c = 5
    let d = Preference("d", default: 5, .percentage, .help("D"))
}

struct OptionalOwn: PreferenceGroup {
    @Preference("a", .percentage) var a: Int?
    @Preference("b", .above(0), .help("B"), .hidden) var b: Int?
    let c = Preference<Int?>("c", .percentage, .above(0))
}

struct OwnOfCollections: PreferenceGroup {
    @Preference("a", .nonempty) var a = [1]
    @Preference("b", .nonempty, .help("B")) var b: [Int] = []
}

func types() {
    expect(Int.self, Numbers()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$h2, $0.$i, $0.$j, $0.$k]
    }
    expect(Int.self, Numbers()) { [$0.$m, $0.$n, $0.$s, $0.$u, $0.$w, $0.$x, $0.$y, $0.$z] }
    expect(Int?.self, OptionalNumbers()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$h2, $0.$i, $0.$j]
    }
    expect(Int?.self, OptionalNumbers()) { [$0.$k, $0.$l, $0.$m, $0.$n, $0.$o, $0.$p, $0.$q, $0.$t, $0.$v] }
    expect(Int?.self, OptionalNumbers()) { [$0.$w, $0.$x, $0.y, $0.z] }
    expect(Theme.self, Themes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e] }
    expect(Theme?.self, OptionalThemes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e] }
    expect(String.self, Texts()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h] }
    expect(String?.self, OptionalTexts()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h] }
    expect(Double.self, Reals()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.e, $0.f] }
    expect(Int?.self, Bounds()) { [$0.a] }
    expect(Frame.self, Frames()) { [$0.$a, $0.$b, $0.c] }
    expect(Int.self, Own()) { [$0.$a, $0.$b, $0.$c, $0.d] }
    expect(Int?.self, OptionalOwn()) { [$0.$a, $0.$b, $0.c] }
    expect([Int].self, OwnOfCollections()) { [$0.$a, $0.$b] }
}

// Elsewhere than in a group: constants, static constants, local properties, views of a declared preference, and generic code.

nonisolated let global = Preference("global", default: 5, .range(0...10), .secret)

nonisolated enum Statistics {
    static let launches = Preference("launches", default: 0, .title("Launches"), .section("Statistics"))
    static let theme = Preference<Theme?>("theme", .choices([.light]), in: .standard)
}

struct Toolbar {
    @Preference(Statistics.launches) var launches
    @Preference(Statistics.theme) var theme: Theme?
    @Preference("volume", .range(0...10)) var volume = 5
}

func elsewhere() {
    @Preference("local", .range(0...10), .required) var local: Int?
    @Preference("theme", .choices([.dark])) var theme = Theme.dark
    let _: Preference<Int?> = $local
    let _: Preference<Theme> = $theme
    let _: (Preference<Int>, Preference<Int>, Preference<Theme?>) = (global, Statistics.launches, Statistics.theme)
    let _: (Preference<Int>, Preference<Theme?>, Preference<Int>) = (
        Toolbar().$launches, Toolbar().$theme, Toolbar().$volume
    )
    _ = Preference("opacity", default: 0.5, .range(0...1)).value == 1.5
}

func generic<Value: PreferenceValue & Comparable>(_ value: Value, _ range: ClosedRange<Value>) -> Preference<Value> {
    Preference("generic", default: value, .range(range), .check { $0 > range.lowerBound })
}

func generic<Value: Codable & Equatable & Sendable>(_ value: Value, _ options: PreferenceOption<Value>) -> Preference<
    Value
> {
    Preference("generic", default: value, .choices([value]), options)
}
