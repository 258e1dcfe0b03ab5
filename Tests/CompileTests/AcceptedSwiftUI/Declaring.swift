// swiftc:
// swiftc: -default-isolation MainActor
import Preferences
import SwiftUI

// Each kind of value in a view, like Accepted/Types.swift.

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
    @PreferenceState("b", .check { $0.value > 0 }, .secret, in: .standard) var b = Level()
    @PreferenceState("c", coding: .native, .check { $0.value > 0 }, .secret, in: .standard) var c = Level()
    var body: some View { EmptyView() }
}

struct OptionalLevels: View {
    @PreferenceState("a") var a: Level?
    @PreferenceState("b", .check { $0.value > 0 }, .secret, in: .standard) var b: Level?
    @PreferenceState("c", coding: .native, .check { $0.value > 0 }, .secret, in: .standard) var c: Level?
    var body: some View { EmptyView() }
}

struct DefaultLevels: View {
    @PreferenceState("a") var a: Level? = Level()
    @PreferenceState("b", .check { $0.value > 0 }, .secret, in: .standard) var b: Level? = Level()
    @PreferenceState("c", coding: .native, .check { $0.value > 0 }, .secret, in: .standard) var c: Level? = Level()
    var body: some View { EmptyView() }
}

struct Themes: View {
    @PreferenceState("a") var a = Theme.light
    @PreferenceState("b", .choices([.light]), .secret, in: .standard) var b = Theme.light
    @PreferenceState("c", coding: .rawValue, .choices([.light]), .secret, in: .standard) var c = Theme.light
    var body: some View { EmptyView() }
}

struct OptionalThemes: View {
    @PreferenceState("a") var a: Theme?
    @PreferenceState("b", .choices([.light]), .secret, in: .standard) var b: Theme?
    @PreferenceState("c", coding: .rawValue, .choices([.light]), .secret, in: .standard) var c: Theme?
    var body: some View { EmptyView() }
}

struct DefaultThemes: View {
    @PreferenceState("a") var a: Theme? = Theme.light
    @PreferenceState("b", .choices([.light]), .secret, in: .standard) var b: Theme? = Theme.light
    @PreferenceState("c", coding: .rawValue, .choices([.light]), .secret, in: .standard) var c: Theme? = Theme.light
    var body: some View { EmptyView() }
}

struct Frames: View {
    @PreferenceState("a") var a = Frame()
    @PreferenceState("b", .check { $0.x > 0 }, .secret, in: .standard) var b = Frame()
    @PreferenceState("c", coding: .json, .check { $0.x > 0 }, .secret, in: .standard) var c = Frame()
    var body: some View { EmptyView() }
}

struct OptionalFrames: View {
    @PreferenceState("a") var a: Frame?
    @PreferenceState("b", .check { $0.x > 0 }, .secret, in: .standard) var b: Frame?
    @PreferenceState("c", coding: .json, .check { $0.x > 0 }, .secret, in: .standard) var c: Frame?
    var body: some View { EmptyView() }
}

struct DefaultFrames: View {
    @PreferenceState("a") var a: Frame? = Frame()
    @PreferenceState("b", .check { $0.x > 0 }, .secret, in: .standard) var b: Frame? = Frame()
    @PreferenceState("c", coding: .json, .check { $0.x > 0 }, .secret, in: .standard) var c: Frame? = Frame()
    var body: some View { EmptyView() }
}

struct Modes: View {
    @PreferenceState("a") var a = Mode.quick
    @PreferenceState("b", .check { $0 == .quick }, .secret, in: .standard) var b = Mode.quick
    @PreferenceState("c", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard) var c = Mode.quick
    var body: some View { EmptyView() }
}

struct OptionalModes: View {
    @PreferenceState("a") var a: Mode?
    @PreferenceState("b", .check { $0 == .quick }, .secret, in: .standard) var b: Mode?
    @PreferenceState("c", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard) var c: Mode?
    var body: some View { EmptyView() }
}

struct DefaultModes: View {
    @PreferenceState("a") var a: Mode? = Mode.quick
    @PreferenceState("b", .check { $0 == .quick }, .secret, in: .standard) var b: Mode? = Mode.quick
    @PreferenceState("c", coding: .jsonString, .check { $0 == .quick }, .secret, in: .standard) var c: Mode? = Mode
        .quick
    var body: some View { EmptyView() }
}

struct Numbers: View {
    @PreferenceState("a") var a = 5
    @PreferenceState("b", .secret) var b = 5
    @PreferenceState("c", .range(0...10), .secret) var c = 5
    @PreferenceState("d", .range(0...10), .secret, in: .standard) var d = 5
    @PreferenceState("e", in: .standard) var e = 5
    @PreferenceState("f", coding: .native) var f = 5
    @PreferenceState("g", coding: .native, .secret) var g = 5
    @PreferenceState("h", coding: .native, .range(0...10), .secret) var h = 5
    @PreferenceState("i", coding: .native, .range(0...10), .secret, in: .standard) var i = 5
    @PreferenceState("j", coding: .native, in: .standard) var j = 5
    var body: some View { EmptyView() }
}

struct OptionalNumbers: View {
    @PreferenceState("a") var a: Int?
    @PreferenceState("b", .range(0...10), .secret, in: .standard) var b: Int?
    @PreferenceState("c", coding: .native, .range(0...10), .secret, in: .standard) var c: Int?
    var body: some View { EmptyView() }
}

struct DefaultNumbers: View {
    @PreferenceState("a") var a: Int? = 5
    @PreferenceState("b", .range(0...10), .secret, in: .standard) var b: Int? = 5
    @PreferenceState("c", coding: .native, .range(0...10), .secret, in: .standard) var c: Int? = 5
    var body: some View { EmptyView() }
}

struct NumberLists: View {
    @PreferenceState("a") var a = [1, 2]
    @PreferenceState("b", .length(1...8), .secret, in: .standard) var b = [1, 2]
    @PreferenceState("c", coding: .json, .length(1...8), .secret, in: .standard) var c = [1, 2]
    var body: some View { EmptyView() }
}

struct FramesByName: View {
    @PreferenceState("a") var a = ["a": Frame()]
    @PreferenceState("b", .length(1...), .secret, in: .standard) var b = ["a": Frame()]
    @PreferenceState("c", coding: .propertyList, .length(1...), .secret, in: .standard) var c = ["a": Frame()]
    var body: some View { EmptyView() }
}

@MainActor func types() {
    expect(Level.self, Levels()) { [$0.$a, $0.$b, $0.$c] }
    expect(Level?.self, OptionalLevels()) { [$0.$a, $0.$b, $0.$c] }
    expect(Level?.self, DefaultLevels()) { [$0.$a, $0.$b, $0.$c] }
    expect(Theme.self, Themes()) { [$0.$a, $0.$b, $0.$c] }
    expect(Theme?.self, OptionalThemes()) { [$0.$a, $0.$b, $0.$c] }
    expect(Theme?.self, DefaultThemes()) { [$0.$a, $0.$b, $0.$c] }
    expect(Frame.self, Frames()) { [$0.$a, $0.$b, $0.$c] }
    expect(Frame?.self, OptionalFrames()) { [$0.$a, $0.$b, $0.$c] }
    expect(Frame?.self, DefaultFrames()) { [$0.$a, $0.$b, $0.$c] }
    expect(Mode.self, Modes()) { [$0.$a, $0.$b, $0.$c] }
    expect(Mode?.self, OptionalModes()) { [$0.$a, $0.$b, $0.$c] }
    expect(Mode?.self, DefaultModes()) { [$0.$a, $0.$b, $0.$c] }
    expect(Int.self, Numbers()) { [$0.$a, $0.$b, $0.$c, $0.$d, $0.$e, $0.$f, $0.$g, $0.$h, $0.$i, $0.$j] }
    expect(Int?.self, OptionalNumbers()) { [$0.$a, $0.$b, $0.$c] }
    expect(Int?.self, DefaultNumbers()) { [$0.$a, $0.$b, $0.$c] }
    expect([Int].self, NumberLists()) { [$0.$a, $0.$b, $0.$c] }
    expect([String: Frame].self, FramesByName()) { [$0.$a, $0.$b, $0.$c] }
}
