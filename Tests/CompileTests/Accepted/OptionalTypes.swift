// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// Each form of declaration with each kind of optional, like Types.swift: first without a default, then with one.

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

struct OptionalLevels: PreferenceGroup {
    @Preference("a") var a: Level?
    @Preference("b", .secret) var b: Level?
    @Preference("c", .check { $0.value > 0 }, .title("T"), .secret) var c: Level?
    @Preference("d", .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var d: Level?
    @Preference("e", in: .standard) var e: Level?
    @Preference("f", coding: .native) var f: Level?
    @Preference("g", coding: .native, .secret) var g: Level?
    @Preference("h", coding: .native, .check { $0.value > 0 }, .title("T"), .secret) var h: Level?
    @Preference("i", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var i: Level?
    @Preference("j", coding: .native, in: .standard) var j: Level?
    let k = Preference<Level?>("k")
    let l = Preference<Level?>("l", .secret)
    let m = Preference<Level?>("m", .check { $0.value > 0 }, .title("T"), .secret)
    let n = Preference<Level?>("n", .check { $0.value > 0 }, .title("T"), .secret, in: .standard)
    let o = Preference<Level?>("o", in: .standard)
    let p = Preference<Level?>("p", coding: .native)
    let q = Preference<Level?>("q", coding: .native, .secret)
    let r = Preference<Level?>("r", coding: .native, .check { $0.value > 0 }, .title("T"), .secret)
    let s = Preference<Level?>("s", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard)
    let t = Preference<Level?>("t", coding: .native, in: .standard)
}

struct OptionalThemes: PreferenceGroup {
    @Preference("a") var a: Theme?
    @Preference("b", .secret) var b: Theme?
    @Preference("c", .choices([.light]), .title("T"), .secret) var c: Theme?
    @Preference("d", .choices([.light]), .title("T"), .secret, in: .standard) var d: Theme?
    @Preference("e", in: .standard) var e: Theme?
    @Preference("f", coding: .rawValue) var f: Theme?
    @Preference("g", coding: .rawValue, .secret) var g: Theme?
    @Preference("h", coding: .rawValue, .choices([.light]), .title("T"), .secret) var h: Theme?
    @Preference("i", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard) var i: Theme?
    @Preference("j", coding: .rawValue, in: .standard) var j: Theme?
    let k = Preference<Theme?>("k")
    let l = Preference<Theme?>("l", .secret)
    let m = Preference<Theme?>("m", .choices([.light]), .title("T"), .secret)
    let n = Preference<Theme?>("n", .choices([.light]), .title("T"), .secret, in: .standard)
    let o = Preference<Theme?>("o", in: .standard)
    let p = Preference<Theme?>("p", coding: .rawValue)
    let q = Preference<Theme?>("q", coding: .rawValue, .secret)
    let r = Preference<Theme?>("r", coding: .rawValue, .choices([.light]), .title("T"), .secret)
    let s = Preference<Theme?>("s", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard)
    let t = Preference<Theme?>("t", coding: .rawValue, in: .standard)
}

struct OptionalFrames: PreferenceGroup {
    @Preference("a") var a: Frame?
    @Preference("b", .secret) var b: Frame?
    @Preference("c", .check { $0.x > 0 }, .title("T"), .secret) var c: Frame?
    @Preference("d", .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var d: Frame?
    @Preference("e", in: .standard) var e: Frame?
    @Preference("f", coding: .json) var f: Frame?
    @Preference("g", coding: .json, .secret) var g: Frame?
    @Preference("h", coding: .json, .check { $0.x > 0 }, .title("T"), .secret) var h: Frame?
    @Preference("i", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var i: Frame?
    @Preference("j", coding: .json, in: .standard) var j: Frame?
    let k = Preference<Frame?>("k")
    let l = Preference<Frame?>("l", .secret)
    let m = Preference<Frame?>("m", .check { $0.x > 0 }, .title("T"), .secret)
    let n = Preference<Frame?>("n", .check { $0.x > 0 }, .title("T"), .secret, in: .standard)
    let o = Preference<Frame?>("o", in: .standard)
    let p = Preference<Frame?>("p", coding: .json)
    let q = Preference<Frame?>("q", coding: .json, .secret)
    let r = Preference<Frame?>("r", coding: .json, .check { $0.x > 0 }, .title("T"), .secret)
    let s = Preference<Frame?>("s", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard)
    let t = Preference<Frame?>("t", coding: .json, in: .standard)
}

struct OptionalModes: PreferenceGroup {
    @Preference("a") var a: Mode?
    @Preference("b", .secret) var b: Mode?
    @Preference("c", .check { $0 == .quick }, .title("T"), .secret) var c: Mode?
    @Preference("d", .check { $0 == .quick }, .title("T"), .secret, in: .standard) var d: Mode?
    @Preference("e", in: .standard) var e: Mode?
    @Preference("f", coding: .jsonString) var f: Mode?
    @Preference("g", coding: .jsonString, .secret) var g: Mode?
    @Preference("h", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret) var h: Mode?
    @Preference("i", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard) var i: Mode?
    @Preference("j", coding: .jsonString, in: .standard) var j: Mode?
    let k = Preference<Mode?>("k")
    let l = Preference<Mode?>("l", .secret)
    let m = Preference<Mode?>("m", .check { $0 == .quick }, .title("T"), .secret)
    let n = Preference<Mode?>("n", .check { $0 == .quick }, .title("T"), .secret, in: .standard)
    let o = Preference<Mode?>("o", in: .standard)
    let p = Preference<Mode?>("p", coding: .jsonString)
    let q = Preference<Mode?>("q", coding: .jsonString, .secret)
    let r = Preference<Mode?>("r", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret)
    let s = Preference<Mode?>("s", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard)
    let t = Preference<Mode?>("t", coding: .jsonString, in: .standard)
}

struct OptionalNumbers: PreferenceGroup {
    @Preference("a") var a: Int?
    @Preference("b", .secret) var b: Int?
    @Preference("c", .range(0...10), .title("T"), .secret) var c: Int?
    @Preference("d", .range(0...10), .title("T"), .secret, in: .standard) var d: Int?
    @Preference("e", in: .standard) var e: Int?
    @Preference("f", coding: .native) var f: Int?
    @Preference("g", coding: .native, .secret) var g: Int?
    @Preference("h", coding: .native, .range(0...10), .title("T"), .secret) var h: Int?
    @Preference("i", coding: .native, .range(0...10), .title("T"), .secret, in: .standard) var i: Int?
    @Preference("j", coding: .native, in: .standard) var j: Int?
    let k = Preference<Int?>("k")
    let l = Preference<Int?>("l", .secret)
    let m = Preference<Int?>("m", .range(0...10), .title("T"), .secret)
    let n = Preference<Int?>("n", .range(0...10), .title("T"), .secret, in: .standard)
    let o = Preference<Int?>("o", in: .standard)
    let p = Preference<Int?>("p", coding: .native)
    let q = Preference<Int?>("q", coding: .native, .secret)
    let r = Preference<Int?>("r", coding: .native, .range(0...10), .title("T"), .secret)
    let s = Preference<Int?>("s", coding: .native, .range(0...10), .title("T"), .secret, in: .standard)
    let t = Preference<Int?>("t", coding: .native, in: .standard)
}

struct OptionalTexts: PreferenceGroup {
    @Preference("a") var a: String?
    @Preference("b", .secret) var b: String?
    @Preference("c", .length(1...8), .title("T"), .secret) var c: String?
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d: String?
    @Preference("e", in: .standard) var e: String?
    @Preference("f", coding: .native) var f: String?
    @Preference("g", coding: .native, .secret) var g: String?
    @Preference("h", coding: .native, .length(1...8), .title("T"), .secret) var h: String?
    @Preference("i", coding: .native, .length(1...8), .title("T"), .secret, in: .standard) var i: String?
    @Preference("j", coding: .native, in: .standard) var j: String?
    let k = Preference<String?>("k")
    let l = Preference<String?>("l", .secret)
    let m = Preference<String?>("m", .length(1...8), .title("T"), .secret)
    let n = Preference<String?>("n", .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference<String?>("o", in: .standard)
    let p = Preference<String?>("p", coding: .native)
    let q = Preference<String?>("q", coding: .native, .secret)
    let r = Preference<String?>("r", coding: .native, .length(1...8), .title("T"), .secret)
    let s = Preference<String?>("s", coding: .native, .length(1...8), .title("T"), .secret, in: .standard)
    let t = Preference<String?>("t", coding: .native, in: .standard)
}

struct OptionalNumberLists: PreferenceGroup {
    @Preference("a") var a: [Int]?
    @Preference("b", .secret) var b: [Int]?
    @Preference("c", .length(1...8), .title("T"), .secret) var c: [Int]?
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d: [Int]?
    @Preference("e", in: .standard) var e: [Int]?
    @Preference("f", coding: .json) var f: [Int]?
    @Preference("g", coding: .json, .secret) var g: [Int]?
    @Preference("h", coding: .json, .length(1...8), .title("T"), .secret) var h: [Int]?
    @Preference("i", coding: .json, .length(1...8), .title("T"), .secret, in: .standard) var i: [Int]?
    @Preference("j", coding: .json, in: .standard) var j: [Int]?
    let k = Preference<[Int]?>("k")
    let l = Preference<[Int]?>("l", .secret)
    let m = Preference<[Int]?>("m", .length(1...8), .title("T"), .secret)
    let n = Preference<[Int]?>("n", .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference<[Int]?>("o", in: .standard)
    let p = Preference<[Int]?>("p", coding: .json)
    let q = Preference<[Int]?>("q", coding: .json, .secret)
    let r = Preference<[Int]?>("r", coding: .json, .length(1...8), .title("T"), .secret)
    let s = Preference<[Int]?>("s", coding: .json, .length(1...8), .title("T"), .secret, in: .standard)
    let t = Preference<[Int]?>("t", coding: .json, in: .standard)
}

struct OptionalModeSets: PreferenceGroup {
    @Preference("a") var a: Set<Mode>?
    @Preference("b", .secret) var b: Set<Mode>?
    @Preference("c", .length(1...8), .title("T"), .secret) var c: Set<Mode>?
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d: Set<Mode>?
    @Preference("e", in: .standard) var e: Set<Mode>?
    @Preference("f", coding: .native) var f: Set<Mode>?
    @Preference("g", coding: .native, .secret) var g: Set<Mode>?
    @Preference("h", coding: .native, .length(1...8), .title("T"), .secret) var h: Set<Mode>?
    @Preference("i", coding: .native, .length(1...8), .title("T"), .secret, in: .standard) var i: Set<Mode>?
    @Preference("j", coding: .native, in: .standard) var j: Set<Mode>?
    let k = Preference<Set<Mode>?>("k")
    let l = Preference<Set<Mode>?>("l", .secret)
    let m = Preference<Set<Mode>?>("m", .length(1...8), .title("T"), .secret)
    let n = Preference<Set<Mode>?>("n", .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference<Set<Mode>?>("o", in: .standard)
    let p = Preference<Set<Mode>?>("p", coding: .native)
    let q = Preference<Set<Mode>?>("q", coding: .native, .secret)
    let r = Preference<Set<Mode>?>("r", coding: .native, .length(1...8), .title("T"), .secret)
    let s = Preference<Set<Mode>?>("s", coding: .native, .length(1...8), .title("T"), .secret, in: .standard)
    let t = Preference<Set<Mode>?>("t", coding: .native, in: .standard)
}

struct OptionalFrameLists: PreferenceGroup {
    @Preference("a") var a: [Frame]?
    @Preference("b", .secret) var b: [Frame]?
    @Preference("c", .length(...8), .title("T"), .secret) var c: [Frame]?
    @Preference("d", .length(...8), .title("T"), .secret, in: .standard) var d: [Frame]?
    @Preference("e", in: .standard) var e: [Frame]?
    @Preference("f", coding: .json) var f: [Frame]?
    @Preference("g", coding: .json, .secret) var g: [Frame]?
    @Preference("h", coding: .json, .length(...8), .title("T"), .secret) var h: [Frame]?
    @Preference("i", coding: .json, .length(...8), .title("T"), .secret, in: .standard) var i: [Frame]?
    @Preference("j", coding: .json, in: .standard) var j: [Frame]?
    let k = Preference<[Frame]?>("k")
    let l = Preference<[Frame]?>("l", .secret)
    let m = Preference<[Frame]?>("m", .length(...8), .title("T"), .secret)
    let n = Preference<[Frame]?>("n", .length(...8), .title("T"), .secret, in: .standard)
    let o = Preference<[Frame]?>("o", in: .standard)
    let p = Preference<[Frame]?>("p", coding: .json)
    let q = Preference<[Frame]?>("q", coding: .json, .secret)
    let r = Preference<[Frame]?>("r", coding: .json, .length(...8), .title("T"), .secret)
    let s = Preference<[Frame]?>("s", coding: .json, .length(...8), .title("T"), .secret, in: .standard)
    let t = Preference<[Frame]?>("t", coding: .json, in: .standard)
}

struct OptionalFramesByName: PreferenceGroup {
    @Preference("a") var a: [String: Frame]?
    @Preference("b", .secret) var b: [String: Frame]?
    @Preference("c", .length(1...), .title("T"), .secret) var c: [String: Frame]?
    @Preference("d", .length(1...), .title("T"), .secret, in: .standard) var d: [String: Frame]?
    @Preference("e", in: .standard) var e: [String: Frame]?
    @Preference("f", coding: .propertyList) var f: [String: Frame]?
    @Preference("g", coding: .propertyList, .secret) var g: [String: Frame]?
    @Preference("h", coding: .propertyList, .length(1...), .title("T"), .secret) var h: [String: Frame]?
    @Preference("i", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard) var i: [String: Frame]?
    @Preference("j", coding: .propertyList, in: .standard) var j: [String: Frame]?
    let k = Preference<[String: Frame]?>("k")
    let l = Preference<[String: Frame]?>("l", .secret)
    let m = Preference<[String: Frame]?>("m", .length(1...), .title("T"), .secret)
    let n = Preference<[String: Frame]?>("n", .length(1...), .title("T"), .secret, in: .standard)
    let o = Preference<[String: Frame]?>("o", in: .standard)
    let p = Preference<[String: Frame]?>("p", coding: .propertyList)
    let q = Preference<[String: Frame]?>("q", coding: .propertyList, .secret)
    let r = Preference<[String: Frame]?>("r", coding: .propertyList, .length(1...), .title("T"), .secret)
    let s = Preference<[String: Frame]?>("s", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard)
    let t = Preference<[String: Frame]?>("t", coding: .propertyList, in: .standard)
}

func types() {
    expect(Level?.self, OptionalLevels()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Theme?.self, OptionalThemes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Frame?.self, OptionalFrames()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Mode?.self, OptionalModes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Int?.self, OptionalNumbers()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(String?.self, OptionalTexts()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Int]?.self, OptionalNumberLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Set<Mode>?.self, OptionalModeSets()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Frame]?.self, OptionalFrameLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([String: Frame]?.self, OptionalFramesByName()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
}
