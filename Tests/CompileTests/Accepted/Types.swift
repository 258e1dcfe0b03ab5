// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// Each form of declaration with each kind of value: without an option, with one, with several, and with a store. `Level` is a
// PreferenceValue, `Theme` has raw values, `Frame` is Codable; `Size` has raw values and is Codable, and `Mode` is all of them.

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
    @Preference("b", .secret) var b = Level()
    @Preference("c", .check { $0.value > 0 }, .title("T"), .secret) var c = Level()
    @Preference("d", .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var d = Level()
    @Preference("e", in: .standard) var e = Level()
    @Preference("f", coding: .native) var f = Level()
    @Preference("g", coding: .native, .secret) var g = Level()
    @Preference("h", coding: .native, .check { $0.value > 0 }, .title("T"), .secret) var h = Level()
    @Preference("i", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var i = Level()
    @Preference("j", coding: .native, in: .standard) var j = Level()
    let k = Preference("k", default: Level())
    let l = Preference("l", default: Level(), .secret)
    let m = Preference("m", default: Level(), .check { $0.value > 0 }, .title("T"), .secret)
    let n = Preference("n", default: Level(), .check { $0.value > 0 }, .title("T"), .secret, in: .standard)
    let o = Preference("o", default: Level(), in: .standard)
    let p = Preference("p", default: Level(), coding: .native)
    let q = Preference("q", default: Level(), coding: .native, .secret)
    let r = Preference("r", default: Level(), coding: .native, .check { $0.value > 0 }, .title("T"), .secret)
    let s = Preference(
        "s",
        default: Level(),
        coding: .native,
        .check { $0.value > 0 },
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: Level(), coding: .native, in: .standard)
}

struct Themes: PreferenceGroup {
    @Preference("a") var a = Theme.light
    @Preference("b", .secret) var b = Theme.light
    @Preference("c", .choices([.light]), .title("T"), .secret) var c = Theme.light
    @Preference("d", .choices([.light]), .title("T"), .secret, in: .standard) var d = Theme.light
    @Preference("e", in: .standard) var e = Theme.light
    @Preference("f", coding: .rawValue) var f = Theme.light
    @Preference("g", coding: .rawValue, .secret) var g = Theme.light
    @Preference("h", coding: .rawValue, .choices([.light]), .title("T"), .secret) var h = Theme.light
    @Preference("i", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard) var i = Theme.light
    @Preference("j", coding: .rawValue, in: .standard) var j = Theme.light
    let k = Preference("k", default: Theme.light)
    let l = Preference("l", default: Theme.light, .secret)
    let m = Preference("m", default: Theme.light, .choices([.light]), .title("T"), .secret)
    let n = Preference("n", default: Theme.light, .choices([.light]), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: Theme.light, in: .standard)
    let p = Preference("p", default: Theme.light, coding: .rawValue)
    let q = Preference("q", default: Theme.light, coding: .rawValue, .secret)
    let r = Preference("r", default: Theme.light, coding: .rawValue, .choices([.light]), .title("T"), .secret)
    let s = Preference(
        "s",
        default: Theme.light,
        coding: .rawValue,
        .choices([.light]),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: Theme.light, coding: .rawValue, in: .standard)
}

struct Frames: PreferenceGroup {
    @Preference("a") var a = Frame()
    @Preference("b", .secret) var b = Frame()
    @Preference("c", .check { $0.x > 0 }, .title("T"), .secret) var c = Frame()
    @Preference("d", .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var d = Frame()
    @Preference("e", in: .standard) var e = Frame()
    @Preference("f", coding: .json) var f = Frame()
    @Preference("g", coding: .json, .secret) var g = Frame()
    @Preference("h", coding: .json, .check { $0.x > 0 }, .title("T"), .secret) var h = Frame()
    @Preference("i", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var i = Frame()
    @Preference("j", coding: .json, in: .standard) var j = Frame()
    let k = Preference("k", default: Frame())
    let l = Preference("l", default: Frame(), .secret)
    let m = Preference("m", default: Frame(), .check { $0.x > 0 }, .title("T"), .secret)
    let n = Preference("n", default: Frame(), .check { $0.x > 0 }, .title("T"), .secret, in: .standard)
    let o = Preference("o", default: Frame(), in: .standard)
    let p = Preference("p", default: Frame(), coding: .json)
    let q = Preference("q", default: Frame(), coding: .json, .secret)
    let r = Preference("r", default: Frame(), coding: .json, .check { $0.x > 0 }, .title("T"), .secret)
    let s = Preference("s", default: Frame(), coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard)
    let t = Preference("t", default: Frame(), coding: .json, in: .standard)
}

struct Sizes: PreferenceGroup {
    @Preference("a") var a = Size.small
    @Preference("b", .secret) var b = Size.small
    @Preference("c", .choices([.large]), .title("T"), .secret) var c = Size.small
    @Preference("d", .choices([.large]), .title("T"), .secret, in: .standard) var d = Size.small
    @Preference("e", in: .standard) var e = Size.small
    @Preference("f", coding: .propertyList) var f = Size.small
    @Preference("g", coding: .propertyList, .secret) var g = Size.small
    @Preference("h", coding: .propertyList, .choices([.large]), .title("T"), .secret) var h = Size.small
    @Preference("i", coding: .propertyList, .choices([.large]), .title("T"), .secret, in: .standard) var i = Size.small
    @Preference("j", coding: .propertyList, in: .standard) var j = Size.small
    let k = Preference("k", default: Size.small)
    let l = Preference("l", default: Size.small, .secret)
    let m = Preference("m", default: Size.small, .choices([.large]), .title("T"), .secret)
    let n = Preference("n", default: Size.small, .choices([.large]), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: Size.small, in: .standard)
    let p = Preference("p", default: Size.small, coding: .propertyList)
    let q = Preference("q", default: Size.small, coding: .propertyList, .secret)
    let r = Preference("r", default: Size.small, coding: .propertyList, .choices([.large]), .title("T"), .secret)
    let s = Preference(
        "s",
        default: Size.small,
        coding: .propertyList,
        .choices([.large]),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: Size.small, coding: .propertyList, in: .standard)
}

struct Modes: PreferenceGroup {
    @Preference("a") var a = Mode.quick
    @Preference("b", .secret) var b = Mode.quick
    @Preference("c", .check { $0 == .quick }, .title("T"), .secret) var c = Mode.quick
    @Preference("d", .check { $0 == .quick }, .title("T"), .secret, in: .standard) var d = Mode.quick
    @Preference("e", in: .standard) var e = Mode.quick
    @Preference("f", coding: .jsonString) var f = Mode.quick
    @Preference("g", coding: .jsonString, .secret) var g = Mode.quick
    @Preference("h", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret) var h = Mode.quick
    @Preference("i", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard) var i = Mode
        .quick
    @Preference("j", coding: .jsonString, in: .standard) var j = Mode.quick
    let k = Preference("k", default: Mode.quick)
    let l = Preference("l", default: Mode.quick, .secret)
    let m = Preference("m", default: Mode.quick, .check { $0 == .quick }, .title("T"), .secret)
    let n = Preference("n", default: Mode.quick, .check { $0 == .quick }, .title("T"), .secret, in: .standard)
    let o = Preference("o", default: Mode.quick, in: .standard)
    let p = Preference("p", default: Mode.quick, coding: .jsonString)
    let q = Preference("q", default: Mode.quick, coding: .jsonString, .secret)
    let r = Preference("r", default: Mode.quick, coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret)
    let s = Preference(
        "s",
        default: Mode.quick,
        coding: .jsonString,
        .check { $0 == .quick },
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: Mode.quick, coding: .jsonString, in: .standard)
}

struct Numbers: PreferenceGroup {
    @Preference("a") var a = 5
    @Preference("b", .secret) var b = 5
    @Preference("c", .range(0...10), .title("T"), .secret) var c = 5
    @Preference("d", .range(0...10), .title("T"), .secret, in: .standard) var d = 5
    @Preference("e", in: .standard) var e = 5
    @Preference("f", coding: .native) var f = 5
    @Preference("g", coding: .native, .secret) var g = 5
    @Preference("h", coding: .native, .range(0...10), .title("T"), .secret) var h = 5
    @Preference("i", coding: .native, .range(0...10), .title("T"), .secret, in: .standard) var i = 5
    @Preference("j", coding: .native, in: .standard) var j = 5
    let k = Preference("k", default: 5)
    let l = Preference("l", default: 5, .secret)
    let m = Preference("m", default: 5, .range(0...10), .title("T"), .secret)
    let n = Preference("n", default: 5, .range(0...10), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: 5, in: .standard)
    let p = Preference("p", default: 5, coding: .native)
    let q = Preference("q", default: 5, coding: .native, .secret)
    let r = Preference("r", default: 5, coding: .native, .range(0...10), .title("T"), .secret)
    let s = Preference("s", default: 5, coding: .native, .range(0...10), .title("T"), .secret, in: .standard)
    let t = Preference("t", default: 5, coding: .native, in: .standard)
}

struct Reals: PreferenceGroup {
    @Preference("a") var a = 0.5
    @Preference("b", .secret) var b = 0.5
    @Preference("c", .range(0...1), .title("T"), .secret) var c = 0.5
    @Preference("d", .range(0...1), .title("T"), .secret, in: .standard) var d = 0.5
    @Preference("e", in: .standard) var e = 0.5
    @Preference("f", coding: .native) var f = 0.5
    @Preference("g", coding: .native, .secret) var g = 0.5
    @Preference("h", coding: .native, .range(0...1), .title("T"), .secret) var h = 0.5
    @Preference("i", coding: .native, .range(0...1), .title("T"), .secret, in: .standard) var i = 0.5
    @Preference("j", coding: .native, in: .standard) var j = 0.5
    let k = Preference("k", default: 0.5)
    let l = Preference("l", default: 0.5, .secret)
    let m = Preference("m", default: 0.5, .range(0...1), .title("T"), .secret)
    let n = Preference("n", default: 0.5, .range(0...1), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: 0.5, in: .standard)
    let p = Preference("p", default: 0.5, coding: .native)
    let q = Preference("q", default: 0.5, coding: .native, .secret)
    let r = Preference("r", default: 0.5, coding: .native, .range(0...1), .title("T"), .secret)
    let s = Preference("s", default: 0.5, coding: .native, .range(0...1), .title("T"), .secret, in: .standard)
    let t = Preference("t", default: 0.5, coding: .native, in: .standard)
}

struct Texts: PreferenceGroup {
    @Preference("a") var a = "text"
    @Preference("b", .secret) var b = "text"
    @Preference("c", .length(1...8), .title("T"), .secret) var c = "text"
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d = "text"
    @Preference("e", in: .standard) var e = "text"
    @Preference("f", coding: .native) var f = "text"
    @Preference("g", coding: .native, .secret) var g = "text"
    @Preference("h", coding: .native, .length(1...8), .title("T"), .secret) var h = "text"
    @Preference("i", coding: .native, .length(1...8), .title("T"), .secret, in: .standard) var i = "text"
    @Preference("j", coding: .native, in: .standard) var j = "text"
    let k = Preference("k", default: "text")
    let l = Preference("l", default: "text", .secret)
    let m = Preference("m", default: "text", .length(1...8), .title("T"), .secret)
    let n = Preference("n", default: "text", .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: "text", in: .standard)
    let p = Preference("p", default: "text", coding: .native)
    let q = Preference("q", default: "text", coding: .native, .secret)
    let r = Preference("r", default: "text", coding: .native, .length(1...8), .title("T"), .secret)
    let s = Preference("s", default: "text", coding: .native, .length(1...8), .title("T"), .secret, in: .standard)
    let t = Preference("t", default: "text", coding: .native, in: .standard)
}

struct NumberLists: PreferenceGroup {
    @Preference("a") var a = [1, 2]
    @Preference("b", .secret) var b = [1, 2]
    @Preference("c", .length(1...8), .title("T"), .secret) var c = [1, 2]
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d = [1, 2]
    @Preference("e", in: .standard) var e = [1, 2]
    @Preference("f", coding: .json) var f = [1, 2]
    @Preference("g", coding: .json, .secret) var g = [1, 2]
    @Preference("h", coding: .json, .length(1...8), .title("T"), .secret) var h = [1, 2]
    @Preference("i", coding: .json, .length(1...8), .title("T"), .secret, in: .standard) var i = [1, 2]
    @Preference("j", coding: .json, in: .standard) var j = [1, 2]
    let k = Preference("k", default: [1, 2])
    let l = Preference("l", default: [1, 2], .secret)
    let m = Preference("m", default: [1, 2], .length(1...8), .title("T"), .secret)
    let n = Preference("n", default: [1, 2], .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: [1, 2], in: .standard)
    let p = Preference("p", default: [1, 2], coding: .json)
    let q = Preference("q", default: [1, 2], coding: .json, .secret)
    let r = Preference("r", default: [1, 2], coding: .json, .length(1...8), .title("T"), .secret)
    let s = Preference("s", default: [1, 2], coding: .json, .length(1...8), .title("T"), .secret, in: .standard)
    let t = Preference("t", default: [1, 2], coding: .json, in: .standard)
}

struct LevelLists: PreferenceGroup {
    @Preference("a") var a = [Level()]
    @Preference("b", .secret) var b = [Level()]
    @Preference("c", .check { !$0.isEmpty }, .title("T"), .secret) var c = [Level()]
    @Preference("d", .check { !$0.isEmpty }, .title("T"), .secret, in: .standard) var d = [Level()]
    @Preference("e", in: .standard) var e = [Level()]
    @Preference("f", coding: .native) var f = [Level()]
    @Preference("g", coding: .native, .secret) var g = [Level()]
    @Preference("h", coding: .native, .check { !$0.isEmpty }, .title("T"), .secret) var h = [Level()]
    @Preference("i", coding: .native, .check { !$0.isEmpty }, .title("T"), .secret, in: .standard) var i = [Level()]
    @Preference("j", coding: .native, in: .standard) var j = [Level()]
    let k = Preference("k", default: [Level()])
    let l = Preference("l", default: [Level()], .secret)
    let m = Preference("m", default: [Level()], .check { !$0.isEmpty }, .title("T"), .secret)
    let n = Preference("n", default: [Level()], .check { !$0.isEmpty }, .title("T"), .secret, in: .standard)
    let o = Preference("o", default: [Level()], in: .standard)
    let p = Preference("p", default: [Level()], coding: .native)
    let q = Preference("q", default: [Level()], coding: .native, .secret)
    let r = Preference("r", default: [Level()], coding: .native, .check { !$0.isEmpty }, .title("T"), .secret)
    let s = Preference(
        "s",
        default: [Level()],
        coding: .native,
        .check { !$0.isEmpty },
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: [Level()], coding: .native, in: .standard)
}

struct ModeSets: PreferenceGroup {
    @Preference("a") var a = Set([Mode.quick])
    @Preference("b", .secret) var b = Set([Mode.quick])
    @Preference("c", .length(1...8), .title("T"), .secret) var c = Set([Mode.quick])
    @Preference("d", .length(1...8), .title("T"), .secret, in: .standard) var d = Set([Mode.quick])
    @Preference("e", in: .standard) var e = Set([Mode.quick])
    @Preference("f", coding: .native) var f = Set([Mode.quick])
    @Preference("g", coding: .native, .secret) var g = Set([Mode.quick])
    @Preference("h", coding: .native, .length(1...8), .title("T"), .secret) var h = Set([Mode.quick])
    @Preference("i", coding: .native, .length(1...8), .title("T"), .secret, in: .standard) var i = Set([Mode.quick])
    @Preference("j", coding: .native, in: .standard) var j = Set([Mode.quick])
    let k = Preference("k", default: Set([Mode.quick]))
    let l = Preference("l", default: Set([Mode.quick]), .secret)
    let m = Preference("m", default: Set([Mode.quick]), .length(1...8), .title("T"), .secret)
    let n = Preference("n", default: Set([Mode.quick]), .length(1...8), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: Set([Mode.quick]), in: .standard)
    let p = Preference("p", default: Set([Mode.quick]), coding: .native)
    let q = Preference("q", default: Set([Mode.quick]), coding: .native, .secret)
    let r = Preference("r", default: Set([Mode.quick]), coding: .native, .length(1...8), .title("T"), .secret)
    let s = Preference(
        "s",
        default: Set([Mode.quick]),
        coding: .native,
        .length(1...8),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: Set([Mode.quick]), coding: .native, in: .standard)
}

struct FrameLists: PreferenceGroup {
    @Preference("a") var a = [Frame()]
    @Preference("b", .secret) var b = [Frame()]
    @Preference("c", .length(...8), .title("T"), .secret) var c = [Frame()]
    @Preference("d", .length(...8), .title("T"), .secret, in: .standard) var d = [Frame()]
    @Preference("e", in: .standard) var e = [Frame()]
    @Preference("f", coding: .json) var f = [Frame()]
    @Preference("g", coding: .json, .secret) var g = [Frame()]
    @Preference("h", coding: .json, .length(...8), .title("T"), .secret) var h = [Frame()]
    @Preference("i", coding: .json, .length(...8), .title("T"), .secret, in: .standard) var i = [Frame()]
    @Preference("j", coding: .json, in: .standard) var j = [Frame()]
    let k = Preference("k", default: [Frame()])
    let l = Preference("l", default: [Frame()], .secret)
    let m = Preference("m", default: [Frame()], .length(...8), .title("T"), .secret)
    let n = Preference("n", default: [Frame()], .length(...8), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: [Frame()], in: .standard)
    let p = Preference("p", default: [Frame()], coding: .json)
    let q = Preference("q", default: [Frame()], coding: .json, .secret)
    let r = Preference("r", default: [Frame()], coding: .json, .length(...8), .title("T"), .secret)
    let s = Preference("s", default: [Frame()], coding: .json, .length(...8), .title("T"), .secret, in: .standard)
    let t = Preference("t", default: [Frame()], coding: .json, in: .standard)
}

struct SizeLists: PreferenceGroup {
    @Preference("a") var a = [Size.small]
    @Preference("b", .secret) var b = [Size.small]
    @Preference("c", .choices([[.small]]), .title("T"), .secret) var c = [Size.small]
    @Preference("d", .choices([[.small]]), .title("T"), .secret, in: .standard) var d = [Size.small]
    @Preference("e", in: .standard) var e = [Size.small]
    @Preference("f", coding: .json) var f = [Size.small]
    @Preference("g", coding: .json, .secret) var g = [Size.small]
    @Preference("h", coding: .json, .choices([[.small]]), .title("T"), .secret) var h = [Size.small]
    @Preference("i", coding: .json, .choices([[.small]]), .title("T"), .secret, in: .standard) var i = [Size.small]
    @Preference("j", coding: .json, in: .standard) var j = [Size.small]
    let k = Preference("k", default: [Size.small])
    let l = Preference("l", default: [Size.small], .secret)
    let m = Preference("m", default: [Size.small], .choices([[.small]]), .title("T"), .secret)
    let n = Preference("n", default: [Size.small], .choices([[.small]]), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: [Size.small], in: .standard)
    let p = Preference("p", default: [Size.small], coding: .json)
    let q = Preference("q", default: [Size.small], coding: .json, .secret)
    let r = Preference("r", default: [Size.small], coding: .json, .choices([[.small]]), .title("T"), .secret)
    let s = Preference(
        "s",
        default: [Size.small],
        coding: .json,
        .choices([[.small]]),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: [Size.small], coding: .json, in: .standard)
}

struct FramesByName: PreferenceGroup {
    @Preference("a") var a = ["a": Frame()]
    @Preference("b", .secret) var b = ["a": Frame()]
    @Preference("c", .length(1...), .title("T"), .secret) var c = ["a": Frame()]
    @Preference("d", .length(1...), .title("T"), .secret, in: .standard) var d = ["a": Frame()]
    @Preference("e", in: .standard) var e = ["a": Frame()]
    @Preference("f", coding: .propertyList) var f = ["a": Frame()]
    @Preference("g", coding: .propertyList, .secret) var g = ["a": Frame()]
    @Preference("h", coding: .propertyList, .length(1...), .title("T"), .secret) var h = ["a": Frame()]
    @Preference("i", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard) var i = ["a": Frame()]
    @Preference("j", coding: .propertyList, in: .standard) var j = ["a": Frame()]
    let k = Preference("k", default: ["a": Frame()])
    let l = Preference("l", default: ["a": Frame()], .secret)
    let m = Preference("m", default: ["a": Frame()], .length(1...), .title("T"), .secret)
    let n = Preference("n", default: ["a": Frame()], .length(1...), .title("T"), .secret, in: .standard)
    let o = Preference("o", default: ["a": Frame()], in: .standard)
    let p = Preference("p", default: ["a": Frame()], coding: .propertyList)
    let q = Preference("q", default: ["a": Frame()], coding: .propertyList, .secret)
    let r = Preference("r", default: ["a": Frame()], coding: .propertyList, .length(1...), .title("T"), .secret)
    let s = Preference(
        "s",
        default: ["a": Frame()],
        coding: .propertyList,
        .length(1...),
        .title("T"),
        .secret,
        in: .standard
    )
    let t = Preference("t", default: ["a": Frame()], coding: .propertyList, in: .standard)
}

func types() {
    expect(Level.self, Levels()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Theme.self, Themes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Frame.self, Frames()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Size.self, Sizes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Mode.self, Modes()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Int.self, Numbers()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Double.self, Reals()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(String.self, Texts()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Int].self, NumberLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Level].self, LevelLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect(Set<Mode>.self, ModeSets()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Frame].self, FrameLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([Size].self, SizeLists()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
    expect([String: Frame].self, FramesByName()) {
        [
            $0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j, $0.k, $0.l, $0.m, $0.n, $0.o, $0.p,
            $0.q, $0.r, $0.s, $0.t,
        ]
    }
}
