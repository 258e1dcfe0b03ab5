// swiftc:
// swiftc: -default-isolation MainActor
import Preferences
import SwiftUI

// Each form of declaration in a view with each kind of value, like Accepted/Types.swift and the others there.

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

// Compiles only if the bindings have exactly this type.
@MainActor func expect<Content: View, Value>(_: Value.Type, _ view: Content, _: (Content) -> [Binding<Value>]) {}

struct Levels: View {
    @PreferenceState("a") var a = Level()
    @PreferenceState("b", .secret) var b = Level()
    @PreferenceState("c", .check { $0.value > 0 }, .title("T"), .secret) var c = Level()
    @PreferenceState("d", .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var d = Level()
    @PreferenceState("e", in: .standard) var e = Level()
    @PreferenceState("f", coding: .native) var f = Level()
    @PreferenceState("g", coding: .native, .secret) var g = Level()
    @PreferenceState("h", coding: .native, .check { $0.value > 0 }, .title("T"), .secret) var h = Level()
    @PreferenceState("i", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var i = Level()
    @PreferenceState("j", coding: .native, in: .standard) var j = Level()
    var body: some View { EmptyView() }
}

struct OptionalLevels: View {
    @PreferenceState("a") var a: Level?
    @PreferenceState("b", .secret) var b: Level?
    @PreferenceState("c", .check { $0.value > 0 }, .title("T"), .secret) var c: Level?
    @PreferenceState("d", .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var d: Level?
    @PreferenceState("e", in: .standard) var e: Level?
    @PreferenceState("f", coding: .native) var f: Level?
    @PreferenceState("g", coding: .native, .secret) var g: Level?
    @PreferenceState("h", coding: .native, .check { $0.value > 0 }, .title("T"), .secret) var h: Level?
    @PreferenceState("i", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var i: Level?
    @PreferenceState("j", coding: .native, in: .standard) var j: Level?
    var body: some View { EmptyView() }
}

struct DefaultLevels: View {
    @PreferenceState("a") var a: Level? = Level()
    @PreferenceState("b", .secret) var b: Level? = Level()
    @PreferenceState("c", .check { $0.value > 0 }, .title("T"), .secret) var c: Level? = Level()
    @PreferenceState("d", .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var d: Level? = Level()
    @PreferenceState("e", in: .standard) var e: Level? = Level()
    @PreferenceState("f", coding: .native) var f: Level? = Level()
    @PreferenceState("g", coding: .native, .secret) var g: Level? = Level()
    @PreferenceState("h", coding: .native, .check { $0.value > 0 }, .title("T"), .secret) var h: Level? = Level()
    @PreferenceState("i", coding: .native, .check { $0.value > 0 }, .title("T"), .secret, in: .standard) var i: Level? =
        Level()
    @PreferenceState("j", coding: .native, in: .standard) var j: Level? = Level()
    var body: some View { EmptyView() }
}

struct Themes: View {
    @PreferenceState("a") var a = Theme.light
    @PreferenceState("b", .secret) var b = Theme.light
    @PreferenceState("c", .choices([.light]), .title("T"), .secret) var c = Theme.light
    @PreferenceState("d", .choices([.light]), .title("T"), .secret, in: .standard) var d = Theme.light
    @PreferenceState("e", in: .standard) var e = Theme.light
    @PreferenceState("f", coding: .rawValue) var f = Theme.light
    @PreferenceState("g", coding: .rawValue, .secret) var g = Theme.light
    @PreferenceState("h", coding: .rawValue, .choices([.light]), .title("T"), .secret) var h = Theme.light
    @PreferenceState("i", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard) var i = Theme
        .light
    @PreferenceState("j", coding: .rawValue, in: .standard) var j = Theme.light
    var body: some View { EmptyView() }
}

struct OptionalThemes: View {
    @PreferenceState("a") var a: Theme?
    @PreferenceState("b", .secret) var b: Theme?
    @PreferenceState("c", .choices([.light]), .title("T"), .secret) var c: Theme?
    @PreferenceState("d", .choices([.light]), .title("T"), .secret, in: .standard) var d: Theme?
    @PreferenceState("e", in: .standard) var e: Theme?
    @PreferenceState("f", coding: .rawValue) var f: Theme?
    @PreferenceState("g", coding: .rawValue, .secret) var g: Theme?
    @PreferenceState("h", coding: .rawValue, .choices([.light]), .title("T"), .secret) var h: Theme?
    @PreferenceState("i", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard) var i: Theme?
    @PreferenceState("j", coding: .rawValue, in: .standard) var j: Theme?
    var body: some View { EmptyView() }
}

struct DefaultThemes: View {
    @PreferenceState("a") var a: Theme? = Theme.light
    @PreferenceState("b", .secret) var b: Theme? = Theme.light
    @PreferenceState("c", .choices([.light]), .title("T"), .secret) var c: Theme? = Theme.light
    @PreferenceState("d", .choices([.light]), .title("T"), .secret, in: .standard) var d: Theme? = Theme.light
    @PreferenceState("e", in: .standard) var e: Theme? = Theme.light
    @PreferenceState("f", coding: .rawValue) var f: Theme? = Theme.light
    @PreferenceState("g", coding: .rawValue, .secret) var g: Theme? = Theme.light
    @PreferenceState("h", coding: .rawValue, .choices([.light]), .title("T"), .secret) var h: Theme? = Theme.light
    @PreferenceState("i", coding: .rawValue, .choices([.light]), .title("T"), .secret, in: .standard) var i: Theme? =
        Theme.light
    @PreferenceState("j", coding: .rawValue, in: .standard) var j: Theme? = Theme.light
    var body: some View { EmptyView() }
}

struct Frames: View {
    @PreferenceState("a") var a = Frame()
    @PreferenceState("b", .secret) var b = Frame()
    @PreferenceState("c", .check { $0.x > 0 }, .title("T"), .secret) var c = Frame()
    @PreferenceState("d", .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var d = Frame()
    @PreferenceState("e", in: .standard) var e = Frame()
    @PreferenceState("f", coding: .json) var f = Frame()
    @PreferenceState("g", coding: .json, .secret) var g = Frame()
    @PreferenceState("h", coding: .json, .check { $0.x > 0 }, .title("T"), .secret) var h = Frame()
    @PreferenceState("i", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var i = Frame()
    @PreferenceState("j", coding: .json, in: .standard) var j = Frame()
    var body: some View { EmptyView() }
}

struct OptionalFrames: View {
    @PreferenceState("a") var a: Frame?
    @PreferenceState("b", .secret) var b: Frame?
    @PreferenceState("c", .check { $0.x > 0 }, .title("T"), .secret) var c: Frame?
    @PreferenceState("d", .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var d: Frame?
    @PreferenceState("e", in: .standard) var e: Frame?
    @PreferenceState("f", coding: .json) var f: Frame?
    @PreferenceState("g", coding: .json, .secret) var g: Frame?
    @PreferenceState("h", coding: .json, .check { $0.x > 0 }, .title("T"), .secret) var h: Frame?
    @PreferenceState("i", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var i: Frame?
    @PreferenceState("j", coding: .json, in: .standard) var j: Frame?
    var body: some View { EmptyView() }
}

struct DefaultFrames: View {
    @PreferenceState("a") var a: Frame? = Frame()
    @PreferenceState("b", .secret) var b: Frame? = Frame()
    @PreferenceState("c", .check { $0.x > 0 }, .title("T"), .secret) var c: Frame? = Frame()
    @PreferenceState("d", .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var d: Frame? = Frame()
    @PreferenceState("e", in: .standard) var e: Frame? = Frame()
    @PreferenceState("f", coding: .json) var f: Frame? = Frame()
    @PreferenceState("g", coding: .json, .secret) var g: Frame? = Frame()
    @PreferenceState("h", coding: .json, .check { $0.x > 0 }, .title("T"), .secret) var h: Frame? = Frame()
    @PreferenceState("i", coding: .json, .check { $0.x > 0 }, .title("T"), .secret, in: .standard) var i: Frame? =
        Frame()
    @PreferenceState("j", coding: .json, in: .standard) var j: Frame? = Frame()
    var body: some View { EmptyView() }
}

struct Modes: View {
    @PreferenceState("a") var a = Mode.quick
    @PreferenceState("b", .secret) var b = Mode.quick
    @PreferenceState("c", .check { $0 == .quick }, .title("T"), .secret) var c = Mode.quick
    @PreferenceState("d", .check { $0 == .quick }, .title("T"), .secret, in: .standard) var d = Mode.quick
    @PreferenceState("e", in: .standard) var e = Mode.quick
    @PreferenceState("f", coding: .jsonString) var f = Mode.quick
    @PreferenceState("g", coding: .jsonString, .secret) var g = Mode.quick
    @PreferenceState("h", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret) var h = Mode.quick
    @PreferenceState("i", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard) var i =
        Mode.quick
    @PreferenceState("j", coding: .jsonString, in: .standard) var j = Mode.quick
    var body: some View { EmptyView() }
}

struct OptionalModes: View {
    @PreferenceState("a") var a: Mode?
    @PreferenceState("b", .secret) var b: Mode?
    @PreferenceState("c", .check { $0 == .quick }, .title("T"), .secret) var c: Mode?
    @PreferenceState("d", .check { $0 == .quick }, .title("T"), .secret, in: .standard) var d: Mode?
    @PreferenceState("e", in: .standard) var e: Mode?
    @PreferenceState("f", coding: .jsonString) var f: Mode?
    @PreferenceState("g", coding: .jsonString, .secret) var g: Mode?
    @PreferenceState("h", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret) var h: Mode?
    @PreferenceState("i", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard) var i:
        Mode?
    @PreferenceState("j", coding: .jsonString, in: .standard) var j: Mode?
    var body: some View { EmptyView() }
}

struct DefaultModes: View {
    @PreferenceState("a") var a: Mode? = Mode.quick
    @PreferenceState("b", .secret) var b: Mode? = Mode.quick
    @PreferenceState("c", .check { $0 == .quick }, .title("T"), .secret) var c: Mode? = Mode.quick
    @PreferenceState("d", .check { $0 == .quick }, .title("T"), .secret, in: .standard) var d: Mode? = Mode.quick
    @PreferenceState("e", in: .standard) var e: Mode? = Mode.quick
    @PreferenceState("f", coding: .jsonString) var f: Mode? = Mode.quick
    @PreferenceState("g", coding: .jsonString, .secret) var g: Mode? = Mode.quick
    @PreferenceState("h", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret) var h: Mode? = Mode.quick
    @PreferenceState("i", coding: .jsonString, .check { $0 == .quick }, .title("T"), .secret, in: .standard) var i:
        Mode? = Mode.quick
    @PreferenceState("j", coding: .jsonString, in: .standard) var j: Mode? = Mode.quick
    var body: some View { EmptyView() }
}

struct Numbers: View {
    @PreferenceState("a") var a = 5
    @PreferenceState("b", .secret) var b = 5
    @PreferenceState("c", .range(0...10), .title("T"), .secret) var c = 5
    @PreferenceState("d", .range(0...10), .title("T"), .secret, in: .standard) var d = 5
    @PreferenceState("e", in: .standard) var e = 5
    @PreferenceState("f", coding: .native) var f = 5
    @PreferenceState("g", coding: .native, .secret) var g = 5
    @PreferenceState("h", coding: .native, .range(0...10), .title("T"), .secret) var h = 5
    @PreferenceState("i", coding: .native, .range(0...10), .title("T"), .secret, in: .standard) var i = 5
    @PreferenceState("j", coding: .native, in: .standard) var j = 5
    var body: some View { EmptyView() }
}

struct OptionalNumbers: View {
    @PreferenceState("a") var a: Int?
    @PreferenceState("b", .secret) var b: Int?
    @PreferenceState("c", .range(0...10), .title("T"), .secret) var c: Int?
    @PreferenceState("d", .range(0...10), .title("T"), .secret, in: .standard) var d: Int?
    @PreferenceState("e", in: .standard) var e: Int?
    @PreferenceState("f", coding: .native) var f: Int?
    @PreferenceState("g", coding: .native, .secret) var g: Int?
    @PreferenceState("h", coding: .native, .range(0...10), .title("T"), .secret) var h: Int?
    @PreferenceState("i", coding: .native, .range(0...10), .title("T"), .secret, in: .standard) var i: Int?
    @PreferenceState("j", coding: .native, in: .standard) var j: Int?
    var body: some View { EmptyView() }
}

struct DefaultNumbers: View {
    @PreferenceState("a") var a: Int? = 5
    @PreferenceState("b", .secret) var b: Int? = 5
    @PreferenceState("c", .range(0...10), .title("T"), .secret) var c: Int? = 5
    @PreferenceState("d", .range(0...10), .title("T"), .secret, in: .standard) var d: Int? = 5
    @PreferenceState("e", in: .standard) var e: Int? = 5
    @PreferenceState("f", coding: .native) var f: Int? = 5
    @PreferenceState("g", coding: .native, .secret) var g: Int? = 5
    @PreferenceState("h", coding: .native, .range(0...10), .title("T"), .secret) var h: Int? = 5
    @PreferenceState("i", coding: .native, .range(0...10), .title("T"), .secret, in: .standard) var i: Int? = 5
    @PreferenceState("j", coding: .native, in: .standard) var j: Int? = 5
    var body: some View { EmptyView() }
}

struct NumberLists: View {
    @PreferenceState("a") var a = [1, 2]
    @PreferenceState("b", .secret) var b = [1, 2]
    @PreferenceState("c", .length(1...8), .title("T"), .secret) var c = [1, 2]
    @PreferenceState("d", .length(1...8), .title("T"), .secret, in: .standard) var d = [1, 2]
    @PreferenceState("e", in: .standard) var e = [1, 2]
    @PreferenceState("f", coding: .json) var f = [1, 2]
    @PreferenceState("g", coding: .json, .secret) var g = [1, 2]
    @PreferenceState("h", coding: .json, .length(1...8), .title("T"), .secret) var h = [1, 2]
    @PreferenceState("i", coding: .json, .length(1...8), .title("T"), .secret, in: .standard) var i = [1, 2]
    @PreferenceState("j", coding: .json, in: .standard) var j = [1, 2]
    var body: some View { EmptyView() }
}

struct OptionalNumberLists: View {
    @PreferenceState("a") var a: [Int]?
    @PreferenceState("b", .secret) var b: [Int]?
    @PreferenceState("c", .length(1...8), .title("T"), .secret) var c: [Int]?
    @PreferenceState("d", .length(1...8), .title("T"), .secret, in: .standard) var d: [Int]?
    @PreferenceState("e", in: .standard) var e: [Int]?
    @PreferenceState("f", coding: .json) var f: [Int]?
    @PreferenceState("g", coding: .json, .secret) var g: [Int]?
    @PreferenceState("h", coding: .json, .length(1...8), .title("T"), .secret) var h: [Int]?
    @PreferenceState("i", coding: .json, .length(1...8), .title("T"), .secret, in: .standard) var i: [Int]?
    @PreferenceState("j", coding: .json, in: .standard) var j: [Int]?
    var body: some View { EmptyView() }
}

struct DefaultNumberLists: View {
    @PreferenceState("a") var a: [Int]? = [1, 2]
    @PreferenceState("b", .secret) var b: [Int]? = [1, 2]
    @PreferenceState("c", .length(1...8), .title("T"), .secret) var c: [Int]? = [1, 2]
    @PreferenceState("d", .length(1...8), .title("T"), .secret, in: .standard) var d: [Int]? = [1, 2]
    @PreferenceState("e", in: .standard) var e: [Int]? = [1, 2]
    @PreferenceState("f", coding: .json) var f: [Int]? = [1, 2]
    @PreferenceState("g", coding: .json, .secret) var g: [Int]? = [1, 2]
    @PreferenceState("h", coding: .json, .length(1...8), .title("T"), .secret) var h: [Int]? = [1, 2]
    @PreferenceState("i", coding: .json, .length(1...8), .title("T"), .secret, in: .standard) var i: [Int]? = [1, 2]
    @PreferenceState("j", coding: .json, in: .standard) var j: [Int]? = [1, 2]
    var body: some View { EmptyView() }
}

struct FramesByName: View {
    @PreferenceState("a") var a = ["a": Frame()]
    @PreferenceState("b", .secret) var b = ["a": Frame()]
    @PreferenceState("c", .length(1...), .title("T"), .secret) var c = ["a": Frame()]
    @PreferenceState("d", .length(1...), .title("T"), .secret, in: .standard) var d = ["a": Frame()]
    @PreferenceState("e", in: .standard) var e = ["a": Frame()]
    @PreferenceState("f", coding: .propertyList) var f = ["a": Frame()]
    @PreferenceState("g", coding: .propertyList, .secret) var g = ["a": Frame()]
    @PreferenceState("h", coding: .propertyList, .length(1...), .title("T"), .secret) var h = ["a": Frame()]
    @PreferenceState("i", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard) var i = [
        "a": Frame()
    ]
    @PreferenceState("j", coding: .propertyList, in: .standard) var j = ["a": Frame()]
    var body: some View { EmptyView() }
}

struct OptionalFramesByName: View {
    @PreferenceState("a") var a: [String: Frame]?
    @PreferenceState("b", .secret) var b: [String: Frame]?
    @PreferenceState("c", .length(1...), .title("T"), .secret) var c: [String: Frame]?
    @PreferenceState("d", .length(1...), .title("T"), .secret, in: .standard) var d: [String: Frame]?
    @PreferenceState("e", in: .standard) var e: [String: Frame]?
    @PreferenceState("f", coding: .propertyList) var f: [String: Frame]?
    @PreferenceState("g", coding: .propertyList, .secret) var g: [String: Frame]?
    @PreferenceState("h", coding: .propertyList, .length(1...), .title("T"), .secret) var h: [String: Frame]?
    @PreferenceState("i", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard) var i:
        [String: Frame]?
    @PreferenceState("j", coding: .propertyList, in: .standard) var j: [String: Frame]?
    var body: some View { EmptyView() }
}

struct DefaultFramesByName: View {
    @PreferenceState("a") var a: [String: Frame]? = ["a": Frame()]
    @PreferenceState("b", .secret) var b: [String: Frame]? = ["a": Frame()]
    @PreferenceState("c", .length(1...), .title("T"), .secret) var c: [String: Frame]? = ["a": Frame()]
    @PreferenceState("d", .length(1...), .title("T"), .secret, in: .standard) var d: [String: Frame]? = ["a": Frame()]
    @PreferenceState("e", in: .standard) var e: [String: Frame]? = ["a": Frame()]
    @PreferenceState("f", coding: .propertyList) var f: [String: Frame]? = ["a": Frame()]
    @PreferenceState("g", coding: .propertyList, .secret) var g: [String: Frame]? = ["a": Frame()]
    @PreferenceState("h", coding: .propertyList, .length(1...), .title("T"), .secret) var h: [String: Frame]? = [
        "a": Frame()
    ]
    @PreferenceState("i", coding: .propertyList, .length(1...), .title("T"), .secret, in: .standard) var i:
        [String: Frame]? = ["a": Frame()]
    @PreferenceState("j", coding: .propertyList, in: .standard) var j: [String: Frame]? = ["a": Frame()]
    var body: some View { EmptyView() }
}

@MainActor func types() {
    expect(Level.self, Levels()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Level?.self, OptionalLevels()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Level?.self, DefaultLevels()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Theme.self, Themes()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Theme?.self, OptionalThemes()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Theme?.self, DefaultThemes()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Frame.self, Frames()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Frame?.self, OptionalFrames()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Frame?.self, DefaultFrames()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Mode.self, Modes()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Mode?.self, OptionalModes()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Mode?.self, DefaultModes()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Int.self, Numbers()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Int?.self, OptionalNumbers()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Int?.self, DefaultNumbers()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect([Int].self, NumberLists()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect([Int]?.self, OptionalNumberLists()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j]
    }
    expect([Int]?.self, DefaultNumberLists()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j]
    }
    expect([String: Frame].self, FramesByName()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j]
    }
    expect([String: Frame]?.self, OptionalFramesByName()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j]
    }
    expect([String: Frame]?.self, DefaultFramesByName()) {
        [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j]
    }
}
