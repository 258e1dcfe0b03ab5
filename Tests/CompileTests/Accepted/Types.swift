// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// Each kind of value, as a property and as a constant: by its name alone, with options and a store, and with a coding. Numbers have each
// other form, too. `Level` is a PreferenceValue, `Theme` has raw values, `Frame` is Codable; `Size` has raw values and is Codable, and
// `Mode` is all of them.

nonisolated struct Level: PreferenceValue {
    var value = 0
    init() {}
    init(storedValue: PropertyListValue) throws { value = try Int(storedValue: storedValue) }
    func storedValue() throws -> PropertyListValue? { .integer(Int64(value)) }
}

nonisolated enum Theme: String { case light, dark }
nonisolated struct Frame: Codable { var x = 0 }
nonisolated enum Size: Int, Codable { case small, large }
nonisolated enum Mode: String, Codable, PreferenceValue { case quick, careful }

// Compiles only if the preferences have exactly this type.
func expect<Group, Value>(_: Value.Type, _ group: Group, _: (Group) -> [Preference<Value>]) {}

struct Levels: PreferenceGroup {
    @Preference("a") var a = Level()
    @Preference("b", .check { $0.value > 0 }, .secret, in: .standard) var b = Level()
    @Preference("c", coding: .native, .check { $0.value > 0 }, .secret, in: .standard) var c = Level()
    let d = Preference("d", default: Level())
    let e = Preference("e", default: Level(), .check { $0.value > 0 }, .secret, in: .standard)
    let f = Preference("f", default: Level(), coding: .native, .check { $0.value > 0 }, .secret, in: .standard)
}

struct Themes: PreferenceGroup {
    @Preference("a") var a = Theme.light
    @Preference("b", .choices([.light]), .secret, in: .standard) var b = Theme.light
    @Preference("c", coding: .rawValue, .choices([.light]), .secret, in: .standard) var c = Theme.light
    let d = Preference("d", default: Theme.light)
    let e = Preference("e", default: Theme.light, .choices([.light]), .secret, in: .standard)
    let f = Preference("f", default: Theme.light, coding: .rawValue, .choices([.light]), .secret, in: .standard)
}

struct Frames: PreferenceGroup {
    @Preference("a") var a = Frame()
    @Preference("b", .check { $0.x > 0 }, .secret, in: .standard) var b = Frame()
    @Preference("c", coding: .json, .check { $0.x > 0 }, .secret, in: .standard) var c = Frame()
    let d = Preference("d", default: Frame())
    let e = Preference("e", default: Frame(), .check { $0.x > 0 }, .secret, in: .standard)
    let f = Preference("f", default: Frame(), coding: .json, .check { $0.x > 0 }, .secret, in: .standard)
}

struct Sizes: PreferenceGroup {
    @Preference("a") var a = Size.small
    @Preference("b", .choices([.large]), .secret, in: .standard) var b = Size.small
    @Preference("c", coding: .propertyList, .choices([.large]), .secret, in: .standard) var c = Size.small
    let d = Preference("d", default: Size.small)
    let e = Preference("e", default: Size.small, .choices([.large]), .secret, in: .standard)
    let f = Preference("f", default: Size.small, coding: .propertyList, .choices([.large]), .secret, in: .standard)
}

struct Modes: PreferenceGroup {
    @Preference("a") var a = Mode.quick
    @Preference("b", .check { $0 == .quick }, .secret, in: .standard) var b = Mode.quick
    @Preference("c", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard) var c = Mode.quick
    let d = Preference("d", default: Mode.quick)
    let e = Preference("e", default: Mode.quick, .check { $0 == .quick }, .secret, in: .standard)
    let f = Preference("f", default: Mode.quick, coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard)
}

struct Numbers: PreferenceGroup {
    @Preference("a") var a = 5
    @Preference("b", .secret) var b = 5
    @Preference("c", .range(0...10), .secret) var c = 5
    @Preference("d", .range(0...10), .secret, in: .standard) var d = 5
    @Preference("e", in: .standard) var e = 5
    @Preference("f", coding: .native) var f = 5
    @Preference("g", coding: .native, .secret) var g = 5
    @Preference("h", coding: .native, .range(0...10), .secret) var h = 5
    @Preference("i", coding: .native, .range(0...10), .secret, in: .standard) var i = 5
    @Preference("j", coding: .native, in: .standard) var j = 5
    let k = Preference("k", default: 5)
    let l = Preference("l", default: 5, .secret)
    let m = Preference("m", default: 5, .range(0...10), .secret)
    let n = Preference("n", default: 5, .range(0...10), .secret, in: .standard)
    let o = Preference("o", default: 5, in: .standard)
    let p = Preference("p", default: 5, coding: .native)
    let q = Preference("q", default: 5, coding: .native, .secret)
    let r = Preference("r", default: 5, coding: .native, .range(0...10), .secret)
    let s = Preference("s", default: 5, coding: .native, .range(0...10), .secret, in: .standard)
    let t = Preference("t", default: 5, coding: .native, in: .standard)
}

struct Reals: PreferenceGroup {
    @Preference("a") var a = 0.5
    @Preference("b", .range(0...1), .secret, in: .standard) var b = 0.5
    @Preference("c", coding: .native, .range(0...1), .secret, in: .standard) var c = 0.5
    let d = Preference("d", default: 0.5)
    let e = Preference("e", default: 0.5, .range(0...1), .secret, in: .standard)
    let f = Preference("f", default: 0.5, coding: .native, .range(0...1), .secret, in: .standard)
}

struct Texts: PreferenceGroup {
    @Preference("a") var a = "text"
    @Preference("b", .length(1...8), .secret, in: .standard) var b = "text"
    @Preference("c", coding: .native, .length(1...8), .secret, in: .standard) var c = "text"
    let d = Preference("d", default: "text")
    let e = Preference("e", default: "text", .length(1...8), .secret, in: .standard)
    let f = Preference("f", default: "text", coding: .native, .length(1...8), .secret, in: .standard)
}

struct NumberLists: PreferenceGroup {
    @Preference("a") var a = [1, 2]
    @Preference("b", .length(1...8), .secret, in: .standard) var b = [1, 2]
    @Preference("c", coding: .json, .length(1...8), .secret, in: .standard) var c = [1, 2]
    let d = Preference("d", default: [1, 2])
    let e = Preference("e", default: [1, 2], .length(1...8), .secret, in: .standard)
    let f = Preference("f", default: [1, 2], coding: .json, .length(1...8), .secret, in: .standard)
}

struct LevelLists: PreferenceGroup {
    @Preference("a") var a = [Level()]
    @Preference("b", .check { !$0.isEmpty }, .secret, in: .standard) var b = [Level()]
    @Preference("c", coding: .native, .check { !$0.isEmpty }, .secret, in: .standard) var c = [Level()]
    let d = Preference("d", default: [Level()])
    let e = Preference("e", default: [Level()], .check { !$0.isEmpty }, .secret, in: .standard)
    let f = Preference("f", default: [Level()], coding: .native, .check { !$0.isEmpty }, .secret, in: .standard)
}

struct ModeSets: PreferenceGroup {
    @Preference("a") var a = Set([Mode.quick])
    @Preference("b", .length(1...8), .secret, in: .standard) var b = Set([Mode.quick])
    @Preference("c", coding: .native, .length(1...8), .secret, in: .standard) var c = Set([Mode.quick])
    let d = Preference("d", default: Set([Mode.quick]))
    let e = Preference("e", default: Set([Mode.quick]), .length(1...8), .secret, in: .standard)
    let f = Preference("f", default: Set([Mode.quick]), coding: .native, .length(1...8), .secret, in: .standard)
}

struct FrameLists: PreferenceGroup {
    @Preference("a") var a = [Frame()]
    @Preference("b", .length(...8), .secret, in: .standard) var b = [Frame()]
    @Preference("c", coding: .json, .length(...8), .secret, in: .standard) var c = [Frame()]
    let d = Preference("d", default: [Frame()])
    let e = Preference("e", default: [Frame()], .length(...8), .secret, in: .standard)
    let f = Preference("f", default: [Frame()], coding: .json, .length(...8), .secret, in: .standard)
}

struct FramesByName: PreferenceGroup {
    @Preference("a") var a = ["a": Frame()]
    @Preference("b", .length(1...), .secret, in: .standard) var b = ["a": Frame()]
    @Preference("c", coding: .propertyList, .length(1...), .secret, in: .standard) var c = ["a": Frame()]
    let d = Preference("d", default: ["a": Frame()])
    let e = Preference("e", default: ["a": Frame()], .length(1...), .secret, in: .standard)
    let f = Preference("f", default: ["a": Frame()], coding: .propertyList, .length(1...), .secret, in: .standard)
}

// Optionals without a default.

struct OptionalLevels: PreferenceGroup {
    @Preference("a") var a: Level?
    @Preference("b", .check { $0.value > 0 }, .secret, in: .standard) var b: Level?
    @Preference("c", coding: .native, .check { $0.value > 0 }, .secret, in: .standard) var c: Level?
    let d = Preference<Level?>("d")
    let e = Preference<Level?>("e", .check { $0.value > 0 }, .secret, in: .standard)
    let f = Preference<Level?>("f", coding: .native, .check { $0.value > 0 }, .secret, in: .standard)
}

struct OptionalThemes: PreferenceGroup {
    @Preference("a") var a: Theme?
    @Preference("b", .choices([.light]), .secret, in: .standard) var b: Theme?
    @Preference("c", coding: .rawValue, .choices([.light]), .secret, in: .standard) var c: Theme?
    let d = Preference<Theme?>("d")
    let e = Preference<Theme?>("e", .choices([.light]), .secret, in: .standard)
    let f = Preference<Theme?>("f", coding: .rawValue, .choices([.light]), .secret, in: .standard)
}

struct OptionalFrames: PreferenceGroup {
    @Preference("a") var a: Frame?
    @Preference("b", .check { $0.x > 0 }, .secret, in: .standard) var b: Frame?
    @Preference("c", coding: .json, .check { $0.x > 0 }, .secret, in: .standard) var c: Frame?
    let d = Preference<Frame?>("d")
    let e = Preference<Frame?>("e", .check { $0.x > 0 }, .secret, in: .standard)
    let f = Preference<Frame?>("f", coding: .json, .check { $0.x > 0 }, .secret, in: .standard)
}

struct OptionalModes: PreferenceGroup {
    @Preference("a") var a: Mode?
    @Preference("b", .check { $0 == .quick }, .secret, in: .standard) var b: Mode?
    @Preference("c", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard) var c: Mode?
    let d = Preference<Mode?>("d")
    let e = Preference<Mode?>("e", .check { $0 == .quick }, .secret, in: .standard)
    let f = Preference<Mode?>("f", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard)
}

struct OptionalNumbers: PreferenceGroup {
    @Preference("a") var a: Int?
    @Preference("b", .range(0...10), .secret, in: .standard) var b: Int?
    @Preference("c", coding: .native, .range(0...10), .secret, in: .standard) var c: Int?
    let d = Preference<Int?>("d")
    let e = Preference<Int?>("e", .range(0...10), .secret, in: .standard)
    let f = Preference<Int?>("f", coding: .native, .range(0...10), .secret, in: .standard)
}

struct OptionalTexts: PreferenceGroup {
    @Preference("a") var a: String?
    @Preference("b", .length(1...8), .secret, in: .standard) var b: String?
    @Preference("c", coding: .native, .length(1...8), .secret, in: .standard) var c: String?
    let d = Preference<String?>("d")
    let e = Preference<String?>("e", .length(1...8), .secret, in: .standard)
    let f = Preference<String?>("f", coding: .native, .length(1...8), .secret, in: .standard)
}

struct OptionalNumberLists: PreferenceGroup {
    @Preference("a") var a: [Int]?
    @Preference("b", .length(1...8), .secret, in: .standard) var b: [Int]?
    @Preference("c", coding: .json, .length(1...8), .secret, in: .standard) var c: [Int]?
    let d = Preference<[Int]?>("d")
    let e = Preference<[Int]?>("e", .length(1...8), .secret, in: .standard)
    let f = Preference<[Int]?>("f", coding: .json, .length(1...8), .secret, in: .standard)
}

struct OptionalFrameLists: PreferenceGroup {
    @Preference("a") var a: [Frame]?
    @Preference("b", .length(...8), .secret, in: .standard) var b: [Frame]?
    @Preference("c", coding: .json, .length(...8), .secret, in: .standard) var c: [Frame]?
    let d = Preference<[Frame]?>("d")
    let e = Preference<[Frame]?>("e", .length(...8), .secret, in: .standard)
    let f = Preference<[Frame]?>("f", coding: .json, .length(...8), .secret, in: .standard)
}

struct OptionalFramesByName: PreferenceGroup {
    @Preference("a") var a: [String: Frame]?
    @Preference("b", .length(1...), .secret, in: .standard) var b: [String: Frame]?
    @Preference("c", coding: .propertyList, .length(1...), .secret, in: .standard) var c: [String: Frame]?
    let d = Preference<[String: Frame]?>("d")
    let e = Preference<[String: Frame]?>("e", .length(1...), .secret, in: .standard)
    let f = Preference<[String: Frame]?>("f", coding: .propertyList, .length(1...), .secret, in: .standard)
}

// Optionals with a default.

struct DefaultLevels: PreferenceGroup {
    @Preference("a") var a: Level? = Level()
    @Preference("b", .check { $0.value > 0 }, .secret, in: .standard) var b: Level? = Level()
    @Preference("c", coding: .native, .check { $0.value > 0 }, .secret, in: .standard) var c: Level? = Level()
    let d = Preference<Level?>("d", default: Level())
    let e = Preference<Level?>("e", default: Level(), .check { $0.value > 0 }, .secret, in: .standard)
    let f = Preference<Level?>("f", default: Level(), coding: .native, .check { $0.value > 0 }, .secret, in: .standard)
}

struct DefaultThemes: PreferenceGroup {
    @Preference("a") var a: Theme? = Theme.light
    @Preference("b", .choices([.light]), .secret, in: .standard) var b: Theme? = Theme.light
    @Preference("c", coding: .rawValue, .choices([.light]), .secret, in: .standard) var c: Theme? = Theme.light
    let d = Preference<Theme?>("d", default: Theme.light)
    let e = Preference<Theme?>("e", default: Theme.light, .choices([.light]), .secret, in: .standard)
    let f = Preference<Theme?>("f", default: Theme.light, coding: .rawValue, .choices([.light]), .secret, in: .standard)
}

struct DefaultFrames: PreferenceGroup {
    @Preference("a") var a: Frame? = Frame()
    @Preference("b", .check { $0.x > 0 }, .secret, in: .standard) var b: Frame? = Frame()
    @Preference("c", coding: .json, .check { $0.x > 0 }, .secret, in: .standard) var c: Frame? = Frame()
    let d = Preference<Frame?>("d", default: Frame())
    let e = Preference<Frame?>("e", default: Frame(), .check { $0.x > 0 }, .secret, in: .standard)
    let f = Preference<Frame?>("f", default: Frame(), coding: .json, .check { $0.x > 0 }, .secret, in: .standard)
}

struct DefaultModes: PreferenceGroup {
    @Preference("a") var a: Mode? = Mode.quick
    @Preference("b", .check { $0 == .quick }, .secret, in: .standard) var b: Mode? = Mode.quick
    @Preference("c", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard) var c: Mode? = Mode.quick
    let d = Preference<Mode?>("d", default: Mode.quick)
    let e = Preference<Mode?>("e", default: Mode.quick, .check { $0 == .quick }, .secret, in: .standard)
    let f = Preference<Mode?>(
        "f",
        default: Mode.quick,
        coding: .jsonString,
        .check { $0 == .quick },
        .secret,
        in: .standard
    )
}

struct DefaultNumbers: PreferenceGroup {
    @Preference("a") var a: Int? = 5
    @Preference("b", .range(0...10), .secret, in: .standard) var b: Int? = 5
    @Preference("c", coding: .native, .range(0...10), .secret, in: .standard) var c: Int? = 5
    let d = Preference<Int?>("d", default: 5)
    let e = Preference<Int?>("e", default: 5, .range(0...10), .secret, in: .standard)
    let f = Preference<Int?>("f", default: 5, coding: .native, .range(0...10), .secret, in: .standard)
}

struct DefaultNumberLists: PreferenceGroup {
    @Preference("a") var a: [Int]? = [1, 2]
    @Preference("b", .length(1...8), .secret, in: .standard) var b: [Int]? = [1, 2]
    @Preference("c", coding: .json, .length(1...8), .secret, in: .standard) var c: [Int]? = [1, 2]
    let d = Preference<[Int]?>("d", default: [1, 2])
    let e = Preference<[Int]?>("e", default: [1, 2], .length(1...8), .secret, in: .standard)
    let f = Preference<[Int]?>("f", default: [1, 2], coding: .json, .length(1...8), .secret, in: .standard)
}

struct DefaultFrameLists: PreferenceGroup {
    @Preference("a") var a: [Frame]? = [Frame()]
    @Preference("b", .length(...8), .secret, in: .standard) var b: [Frame]? = [Frame()]
    @Preference("c", coding: .json, .length(...8), .secret, in: .standard) var c: [Frame]? = [Frame()]
    let d = Preference<[Frame]?>("d", default: [Frame()])
    let e = Preference<[Frame]?>("e", default: [Frame()], .length(...8), .secret, in: .standard)
    let f = Preference<[Frame]?>("f", default: [Frame()], coding: .json, .length(...8), .secret, in: .standard)
}

func types() {
    expect(Level.self, Levels()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Theme.self, Themes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Frame.self, Frames()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Size.self, Sizes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Mode.self, Modes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Int.self, Numbers()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Double.self, Reals()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(String.self, Texts()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Int].self, NumberLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Level].self, LevelLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Set<Mode>.self, ModeSets()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Frame].self, FrameLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([String: Frame].self, FramesByName()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Level?.self, OptionalLevels()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Theme?.self, OptionalThemes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Frame?.self, OptionalFrames()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Mode?.self, OptionalModes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Int?.self, OptionalNumbers()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(String?.self, OptionalTexts()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Int]?.self, OptionalNumberLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Frame]?.self, OptionalFrameLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([String: Frame]?.self, OptionalFramesByName()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Level?.self, DefaultLevels()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Theme?.self, DefaultThemes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Frame?.self, DefaultFrames()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Mode?.self, DefaultModes()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect(Int?.self, DefaultNumbers()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Int]?.self, DefaultNumberLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
    expect([Frame]?.self, DefaultFrameLists()) { [$0.$a, $0.$b, $0.$c, $0.d, $0.e, $0.f] }
}
