// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// Each form of declaration with each kind of optional and a default, like OptionalTypes.swift.

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

struct DefaultLevels: PreferenceGroup {
    @Preference("a") var a: Level? = Level()
    @Preference("b", .secret) var b: Level? = Level()
    @Preference("c", .check { $0.value > 0 }, .title("T"), .secret) var c: Level? = Level()
    @Preference("d", .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var d: Level? = Level()
    @Preference("e", in: .standard) var e: Level? = Level()
    @Preference("f", coding: .native) var f: Level? = Level()
    @Preference("g", coding: .native, .secret) var g: Level? = Level()
    @Preference("h", coding: .native, .check { $0.value > 0 }, .title("T"), .secret) var h: Level? = Level()
    @Preference("i", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var i: Level? =
        Level()
    @Preference("j", coding: .native, in: .standard) var j: Level? = Level()
    let k = Preference<Level?>("k", default: Level())
    let l = Preference<Level?>("l", default: Level(), .secret)
    let m = Preference<Level?>("m", default: Level(), .check { $0.value > 0 }, .title("T"), .secret)
    let n = Preference<Level?>("n", default: Level(), .check { $0.value > 0 }, .title("T"), .secret, in: .standard)
    let o = Preference<Level?>("o", default: Level(), in: .standard)
    let p = Preference<Level?>("p", default: Level(), coding: .native)
    let q = Preference<Level?>("q", default: Level(), coding: .native, .secret)
    let r = Preference<Level?>("r", default: Level(), coding: .native, .check { $0.value > 0 }, .title("T"), .secret)
    let s = Preference<Level?>(
        "s",
        default: Level(),
        coding: .native,
        .check { $0.value > 0 },
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<Level?>("t", default: Level(), coding: .native, in: .standard)
}

struct DefaultThemes: PreferenceGroup {
    @Preference("a") var a: Theme? = Theme.light
    @Preference("b", .secret) var b: Theme? = Theme.light
    @Preference("c", .choices([.light]), .title("T"), .secret) var c: Theme? = Theme.light
    @Preference("d", .choices([.light]), .title("T"), .secret, in: .standard) var d: Theme? = Theme.light
    @Preference("e", in: .standard) var e: Theme? = Theme.light
    @Preference("f", coding: .rawValue) var f: Theme? = Theme.light
    @Preference("g", coding: .rawValue, .secret) var g: Theme? = Theme.light
    @Preference("h", coding: .rawValue, .choices([.light]), .title("T"), .secret) var h: Theme? = Theme.light
    @Preference("i", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard) var i: Theme? = Theme
        .light
    @Preference("j", coding: .rawValue, in: .standard) var j: Theme? = Theme.light
    let k = Preference<Theme?>("k", default: Theme.light)
    let l = Preference<Theme?>("l", default: Theme.light, .secret)
    let m = Preference<Theme?>("m", default: Theme.light, .choices([.light]), .title("T"), .secret)
    let n = Preference<Theme?>("n", default: Theme.light, .choices([.light]), .title("T"), .secret, in: .standard)
    let o = Preference<Theme?>("o", default: Theme.light, in: .standard)
    let p = Preference<Theme?>("p", default: Theme.light, coding: .rawValue)
    let q = Preference<Theme?>("q", default: Theme.light, coding: .rawValue, .secret)
    let r = Preference<Theme?>("r", default: Theme.light, coding: .rawValue, .choices([.light]), .title("T"), .secret)
    let s = Preference<Theme?>(
        "s",
        default: Theme.light,
        coding: .rawValue,
        .choices([.light]),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<Theme?>("t", default: Theme.light, coding: .rawValue, in: .standard)
}

struct DefaultFrames: PreferenceGroup {
    @Preference("a") var a: Frame? = Frame()
    @Preference("b", .secret) var b: Frame? = Frame()
    @Preference("c", .check { $0.x > 0 }, .title("T"), .secret) var c: Frame? = Frame()
    @Preference("d", .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var d: Frame? = Frame()
    @Preference("e", in: .standard) var e: Frame? = Frame()
    @Preference("f", coding: .json) var f: Frame? = Frame()
    @Preference("g", coding: .json, .secret) var g: Frame? = Frame()
    @Preference("h", coding: .json, .check { $0.x > 0 }, .title("T"), .secret) var h: Frame? = Frame()
    @Preference("i", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var i: Frame? = Frame()
    @Preference("j", coding: .json, in: .standard) var j: Frame? = Frame()
    let k = Preference<Frame?>("k", default: Frame())
    let l = Preference<Frame?>("l", default: Frame(), .secret)
    let m = Preference<Frame?>("m", default: Frame(), .check { $0.x > 0 }, .title("T"), .secret)
    let n = Preference<Frame?>("n", default: Frame(), .check { $0.x > 0 }, .title("T"), .secret, in: .standard)
    let o = Preference<Frame?>("o", default: Frame(), in: .standard)
    let p = Preference<Frame?>("p", default: Frame(), coding: .json)
    let q = Preference<Frame?>("q", default: Frame(), coding: .json, .secret)
    let r = Preference<Frame?>("r", default: Frame(), coding: .json, .check { $0.x > 0 }, .title("T"), .secret)
    let s = Preference<Frame?>(
        "s",
        default: Frame(),
        coding: .json,
        .check { $0.x > 0 },
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<Frame?>("t", default: Frame(), coding: .json, in: .standard)
}

struct DefaultModes: PreferenceGroup {
    @Preference("a") var a: Mode? = Mode.quick
    @Preference("b", .secret) var b: Mode? = Mode.quick
    @Preference("c", .check { $0 == .quick }, .title("T"), .secret) var c: Mode? = Mode.quick
    @Preference("d", .check { $0 == .quick }, .title("T"), .secret, in: .standard) var d: Mode? = Mode.quick
    @Preference("e", in: .standard) var e: Mode? = Mode.quick
    @Preference("f", coding: .jsonString) var f: Mode? = Mode.quick
    @Preference("g", coding: .jsonString, .secret) var g: Mode? = Mode.quick
    @Preference("h", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret) var h: Mode? = Mode.quick
    @Preference("i", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard) var i: Mode? =
        Mode.quick
    @Preference("j", coding: .jsonString, in: .standard) var j: Mode? = Mode.quick
    let k = Preference<Mode?>("k", default: Mode.quick)
    let l = Preference<Mode?>("l", default: Mode.quick, .secret)
    let m = Preference<Mode?>("m", default: Mode.quick, .check { $0 == .quick }, .title("T"), .secret)
    let n = Preference<Mode?>("n", default: Mode.quick, .check { $0 == .quick }, .title("T"), .secret, in: .standard)
    let o = Preference<Mode?>("o", default: Mode.quick, in: .standard)
    let p = Preference<Mode?>("p", default: Mode.quick, coding: .jsonString)
    let q = Preference<Mode?>("q", default: Mode.quick, coding: .jsonString, .secret)
    let r = Preference<Mode?>(
        "r",
        default: Mode.quick,
        coding: .jsonString,
        .check { $0 == .quick },
        .title("T"),
        .secret
    )
    let s = Preference<Mode?>(
        "s",
        default: Mode.quick,
        coding: .jsonString,
        .check { $0 == .quick },
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<Mode?>("t", default: Mode.quick, coding: .jsonString, in: .standard)
}

struct DefaultNumbers: PreferenceGroup {
    @Preference("a") var a: Int? = 5
    @Preference("b", .secret) var b: Int? = 5
    @Preference("c", .range(0...10), .title("T"), .secret) var c: Int? = 5
    @Preference("d", .range(0...10), .title("T"), .secret, in: .standard) var d: Int? = 5
    @Preference("e", in: .standard) var e: Int? = 5
    @Preference("f", coding: .native) var f: Int? = 5
    @Preference("g", coding: .native, .secret) var g: Int? = 5
    @Preference("h", coding: .native, .range(0...10), .title("T"), .secret) var h: Int? = 5
    @Preference("i", coding: .native, .range(0...10), .title("T"), .secret, in: .standard) var i: Int? = 5
    @Preference("j", coding: .native, in: .standard) var j: Int? = 5
    let k = Preference<Int?>("k", default: 5)
    let l = Preference<Int?>("l", default: 5, .secret)
    let m = Preference<Int?>("m", default: 5, .range(0...10), .title("T"), .secret)
    let n = Preference<Int?>("n", default: 5, .range(0...10), .title("T"), .secret, in: .standard)
    let o = Preference<Int?>("o", default: 5, in: .standard)
    let p = Preference<Int?>("p", default: 5, coding: .native)
    let q = Preference<Int?>("q", default: 5, coding: .native, .secret)
    let r = Preference<Int?>("r", default: 5, coding: .native, .range(0...10), .title("T"), .secret)
    let s = Preference<Int?>("s", default: 5, coding: .native, .range(0...10), .title("T"), .secret, in: .standard)
    let t = Preference<Int?>("t", default: 5, coding: .native, in: .standard)
}

struct DefaultTexts: PreferenceGroup {
    @Preference("a") var a: String? = "text"
    @Preference("b", .secret) var b: String? = "text"
    @Preference("c", .length(1...8), .title("T"), .secret) var c: String? = "text"
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d: String? = "text"
    @Preference("e", in: .standard) var e: String? = "text"
    @Preference("f", coding: .native) var f: String? = "text"
    @Preference("g", coding: .native, .secret) var g: String? = "text"
    @Preference("h", coding: .native, .length(1...8), .title("T"), .secret) var h: String? = "text"
    @Preference("i", coding: .native, .length(1...8), .title("T"), .secret, in: .standard) var i: String? = "text"
    @Preference("j", coding: .native, in: .standard) var j: String? = "text"
    let k = Preference<String?>("k", default: "text")
    let l = Preference<String?>("l", default: "text", .secret)
    let m = Preference<String?>("m", default: "text", .length(1...8), .title("T"), .secret)
    let n = Preference<String?>("n", default: "text", .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference<String?>("o", default: "text", in: .standard)
    let p = Preference<String?>("p", default: "text", coding: .native)
    let q = Preference<String?>("q", default: "text", coding: .native, .secret)
    let r = Preference<String?>("r", default: "text", coding: .native, .length(1...8), .title("T"), .secret)
    let s = Preference<String?>(
        "s",
        default: "text",
        coding: .native,
        .length(1...8),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<String?>("t", default: "text", coding: .native, in: .standard)
}

struct DefaultNumberLists: PreferenceGroup {
    @Preference("a") var a: [Int]? = [1, 2]
    @Preference("b", .secret) var b: [Int]? = [1, 2]
    @Preference("c", .length(1...8), .title("T"), .secret) var c: [Int]? = [1, 2]
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d: [Int]? = [1, 2]
    @Preference("e", in: .standard) var e: [Int]? = [1, 2]
    @Preference("f", coding: .json) var f: [Int]? = [1, 2]
    @Preference("g", coding: .json, .secret) var g: [Int]? = [1, 2]
    @Preference("h", coding: .json, .length(1...8), .title("T"), .secret) var h: [Int]? = [1, 2]
    @Preference("i", coding: .json, .length(1...8), .title("T"), .secret, in: .standard) var i: [Int]? = [1, 2]
    @Preference("j", coding: .json, in: .standard) var j: [Int]? = [1, 2]
    let k = Preference<[Int]?>("k", default: [1, 2])
    let l = Preference<[Int]?>("l", default: [1, 2], .secret)
    let m = Preference<[Int]?>("m", default: [1, 2], .length(1...8), .title("T"), .secret)
    let n = Preference<[Int]?>("n", default: [1, 2], .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference<[Int]?>("o", default: [1, 2], in: .standard)
    let p = Preference<[Int]?>("p", default: [1, 2], coding: .json)
    let q = Preference<[Int]?>("q", default: [1, 2], coding: .json, .secret)
    let r = Preference<[Int]?>("r", default: [1, 2], coding: .json, .length(1...8), .title("T"), .secret)
    let s = Preference<[Int]?>(
        "s",
        default: [1, 2],
        coding: .json,
        .length(1...8),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<[Int]?>("t", default: [1, 2], coding: .json, in: .standard)
}

struct DefaultModeSets: PreferenceGroup {
    @Preference("a") var a: Set<Mode>? = Set([Mode.quick])
    @Preference("b", .secret) var b: Set<Mode>? = Set([Mode.quick])
    @Preference("c", .length(1...8), .title("T"), .secret) var c: Set<Mode>? = Set([Mode.quick])
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d: Set<Mode>? = Set([Mode.quick])
    @Preference("e", in: .standard) var e: Set<Mode>? = Set([Mode.quick])
    @Preference("f", coding: .native) var f: Set<Mode>? = Set([Mode.quick])
    @Preference("g", coding: .native, .secret) var g: Set<Mode>? = Set([Mode.quick])
    @Preference("h", coding: .native, .length(1...8), .title("T"), .secret) var h: Set<Mode>? = Set([Mode.quick])
    @Preference("i", coding: .native, .length(1...8), .title("T"), .secret, in: .standard) var i: Set<Mode>? = Set([
        Mode.quick
    ])
    @Preference("j", coding: .native, in: .standard) var j: Set<Mode>? = Set([Mode.quick])
    let k = Preference<Set<Mode>?>("k", default: Set([Mode.quick]))
    let l = Preference<Set<Mode>?>("l", default: Set([Mode.quick]), .secret)
    let m = Preference<Set<Mode>?>("m", default: Set([Mode.quick]), .length(1...8), .title("T"), .secret)
    let n = Preference<Set<Mode>?>("n", default: Set([Mode.quick]), .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference<Set<Mode>?>("o", default: Set([Mode.quick]), in: .standard)
    let p = Preference<Set<Mode>?>("p", default: Set([Mode.quick]), coding: .native)
    let q = Preference<Set<Mode>?>("q", default: Set([Mode.quick]), coding: .native, .secret)
    let r = Preference<Set<Mode>?>(
        "r",
        default: Set([Mode.quick]),
        coding: .native,
        .length(1...8),
        .title("T"),
        .secret
    )
    let s = Preference<Set<Mode>?>(
        "s",
        default: Set([Mode.quick]),
        coding: .native,
        .length(1...8),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<Set<Mode>?>("t", default: Set([Mode.quick]), coding: .native, in: .standard)
}

struct DefaultFrameLists: PreferenceGroup {
    @Preference("a") var a: [Frame]? = [Frame()]
    @Preference("b", .secret) var b: [Frame]? = [Frame()]
    @Preference("c", .length(...8), .title("T"), .secret) var c: [Frame]? = [Frame()]
    @Preference("d", .length(...8), .title("T"), .secret, in: .standard) var d: [Frame]? = [Frame()]
    @Preference("e", in: .standard) var e: [Frame]? = [Frame()]
    @Preference("f", coding: .json) var f: [Frame]? = [Frame()]
    @Preference("g", coding: .json, .secret) var g: [Frame]? = [Frame()]
    @Preference("h", coding: .json, .length(...8), .title("T"), .secret) var h: [Frame]? = [Frame()]
    @Preference("i", coding: .json, .length(...8), .title("T"), .secret, in: .standard) var i: [Frame]? = [Frame()]
    @Preference("j", coding: .json, in: .standard) var j: [Frame]? = [Frame()]
    let k = Preference<[Frame]?>("k", default: [Frame()])
    let l = Preference<[Frame]?>("l", default: [Frame()], .secret)
    let m = Preference<[Frame]?>("m", default: [Frame()], .length(...8), .title("T"), .secret)
    let n = Preference<[Frame]?>("n", default: [Frame()], .length(...8), .title("T"), .secret, in: .standard)
    let o = Preference<[Frame]?>("o", default: [Frame()], in: .standard)
    let p = Preference<[Frame]?>("p", default: [Frame()], coding: .json)
    let q = Preference<[Frame]?>("q", default: [Frame()], coding: .json, .secret)
    let r = Preference<[Frame]?>("r", default: [Frame()], coding: .json, .length(...8), .title("T"), .secret)
    let s = Preference<[Frame]?>(
        "s",
        default: [Frame()],
        coding: .json,
        .length(...8),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<[Frame]?>("t", default: [Frame()], coding: .json, in: .standard)
}

struct DefaultFramesByName: PreferenceGroup {
    @Preference("a") var a: [String: Frame]? = ["a": Frame()]
    @Preference("b", .secret) var b: [String: Frame]? = ["a": Frame()]
    @Preference("c", .length(1...), .title("T"), .secret) var c: [String: Frame]? = ["a": Frame()]
    @Preference("d", .length(1...), .title("T"), .secret, in: .standard) var d: [String: Frame]? = ["a": Frame()]
    @Preference("e", in: .standard) var e: [String: Frame]? = ["a": Frame()]
    @Preference("f", coding: .propertyList) var f: [String: Frame]? = ["a": Frame()]
    @Preference("g", coding: .propertyList, .secret) var g: [String: Frame]? = ["a": Frame()]
    @Preference("h", coding: .propertyList, .length(1...), .title("T"), .secret) var h: [String: Frame]? = [
        "a": Frame()
    ]
    @Preference("i", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard) var i:
        [String: Frame]? = ["a": Frame()]
    @Preference("j", coding: .propertyList, in: .standard) var j: [String: Frame]? = ["a": Frame()]
    let k = Preference<[String: Frame]?>("k", default: ["a": Frame()])
    let l = Preference<[String: Frame]?>("l", default: ["a": Frame()], .secret)
    let m = Preference<[String: Frame]?>("m", default: ["a": Frame()], .length(1...), .title("T"), .secret)
    let n = Preference<[String: Frame]?>(
        "n",
        default: ["a": Frame()],
        .length(1...),
        .title("T"),
        .secret,
        in: .standard
    )
    let o = Preference<[String: Frame]?>("o", default: ["a": Frame()], in: .standard)
    let p = Preference<[String: Frame]?>("p", default: ["a": Frame()], coding: .propertyList)
    let q = Preference<[String: Frame]?>("q", default: ["a": Frame()], coding: .propertyList, .secret)
    let r = Preference<[String: Frame]?>(
        "r",
        default: ["a": Frame()],
        coding: .propertyList,
        .length(1...),
        .title("T"),
        .secret
    )
    let s = Preference<[String: Frame]?>(
        "s",
        default: ["a": Frame()],
        coding: .propertyList,
        .length(1...),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference<[String: Frame]?>("t", default: ["a": Frame()], coding: .propertyList, in: .standard)
}

func types() {
    expect(Level?.self, DefaultLevels()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Theme?.self, DefaultThemes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Frame?.self, DefaultFrames()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Mode?.self, DefaultModes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Int?.self, DefaultNumbers()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(String?.self, DefaultTexts()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Int]?.self, DefaultNumberLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Set<Mode>?.self, DefaultModeSets()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Frame]?.self, DefaultFrameLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([String: Frame]?.self, DefaultFramesByName()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
}
