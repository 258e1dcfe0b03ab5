import Preferences

// All forms of declarations with all kinds of values. `Level` is a PreferenceValue, `Theme` is RawRepresentable, `Frame` is Codable;
// `Size` is RawRepresentable and Codable, and `Mode` is a PreferenceValue too.

struct Level: PreferenceValue, Comparable {
    var value = 0
    init() {}
    init(storedValue: PropertyListValue) throws { value = try Int(storedValue: storedValue) }
    func storedValue() throws -> PropertyListValue? { .integer(Int64(value)) }
    static func < (left: Level, right: Level) -> Bool { left.value < right.value }
}

enum Theme: String { case light, dark }
struct Frame: Codable { var x = 0 }
enum Size: Int, Codable { case small, large }
enum Mode: String, Codable, PreferenceValue { case quick, careful }

struct Properties: PreferenceGroup {
    @Preference("level") var level = Level()
    @Preference("theme") var theme = Theme.light
    @Preference("frame") var frame = Frame()
    @Preference("size") var size = Size.small
    @Preference("mode") var mode = Mode.quick
    @Preference("list") var list = [1, 2]
    @Preference("frames") var frames = [Frame()]
    @Preference("sizes") var sizes: Set<Size> = []
    @Preference("byName") var byName: [String: Frame] = [:]
}

struct OptionalProperties: PreferenceGroup {
    @Preference("level") var level: Level?
    @Preference("theme") var theme: Theme?
    @Preference("frame") var frame: Frame?
    @Preference("size") var size: Size?
    @Preference("mode") var mode: Mode?
    @Preference("nested") var nested: Int??
}

struct OptionalPropertiesWithDefaults: PreferenceGroup {
    @Preference("level") var level: Level? = Level()
    @Preference("theme") var theme: Theme? = .light
    @Preference("frame") var frame: Frame? = Frame()
    @Preference("size") var size: Size? = .small
    @Preference("mode") var mode: Mode? = .quick
}

struct PlainValues: PreferenceGroup {
    let level = Preference("level", default: Level())
    let theme = Preference("theme", default: Theme.light)
    let frame = Preference("frame", default: Frame())
    let size = Preference("size", default: Size.small)
    let mode = Preference("mode", default: Mode.quick)
    let noLevel = Preference<Level?>("noLevel")
    let noTheme = Preference<Theme?>("noTheme")
    let noFrame: Preference<Frame?> = Preference("noFrame")
    let noSize: Preference<Size?> = Preference("noSize", default: nil)
    let noMode = Preference<Mode?>("noMode", default: .quick)
}

struct Places: PreferenceGroup {
    @Preference("level", in: .suite("shared")) var level = Level()
    @Preference("theme", in: .inMemory()) var theme = Theme.light
    @Preference("frame", in: .suite("shared")) var frame: Frame?
    let size = Preference("size", default: Size.small, in: .suite("shared"))
    let mode = Preference<Mode?>("mode", in: .standard)
}

struct Codings: PreferenceGroup {
    @Preference("level", coding: .native) var level = Level()
    @Preference("theme", coding: .rawValue) var theme = Theme.light
    @Preference("noTheme", coding: .rawValue) var noTheme: Theme?
    @Preference("frame", coding: .propertyList) var frame = Frame()
    @Preference("cache", coding: .json) var cache: Frame?
    @Preference("text", coding: .jsonString) var text = Frame()
    @Preference("size", coding: .json, in: .suite("shared")) var size = Size.small
    @Preference("mode", coding: .json, .check { $0 != .careful }) var mode = Mode.quick
    @Preference("count", coding: .native, .range(0...10)) var count = 5
    @Preference("noCount", coding: .native, .range(0...10)) var noCount: Int?
    let own = Preference("own", default: 0, coding: .reversed)
}

extension PreferenceCoding where Value == Int {
    static let reversed = PreferenceCoding(
        "reversed",
        encode: { .integer(Int64(-$0)) },
        decode: { try -Int(storedValue: $0) }
    )
}

struct Rules: PreferenceGroup {
    @Preference("level", .check { $0.value >= 0 }) var level = Level()
    @Preference("theme", .check { $0 == .dark }) var theme = Theme.dark
    @Preference("frame", .check { $0.x > 0 }) var frame = Frame()
    @Preference("size", .check { $0 == .small }, in: .suite("shared")) var size = Size.small
    @Preference("mode", .check { $0 != nil }) var mode: Mode?
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("noVolume", .range(0...10)) var noVolume: Int?
    @Preference("someVolume", .range(0...10)) var someVolume: Int? = 5
    @Preference("opacity", .range(0...1), in: .suite("shared")) var opacity = 0.5
    let name = Preference("name", default: "Pitt", .check { !$0.isEmpty })
    let size2 = Preference("size2", default: 12.0, .range(6...72))
    let size3 = Preference<Double?>("size3", .range(6...72))
    @Preference("letters", .choices(["a", "b"])) var letters = "a"
    @Preference("look", .choices([.dark])) var look: Theme?
    @Preference("word", .length(1...8), .description("A word.")) var word = "a"
    @Preference("list", .length(0...3)) var list: [Int]?
    @Preference("even", .check { $0.isMultiple(of: 2) }) var even: Int?
    @Preference("any") var any = 0
}

struct Secrets: PreferenceGroup {
    @Preference("level", .secret) var level = Level()
    @Preference("theme", .secret) var theme = Theme.light
    @Preference("frame", .secret) var frame = Frame()
    @Preference("noLevel", .secret) var noLevel: Level?
    @Preference("noTheme", .secret) var noTheme: Theme?
    @Preference("noFrame", .secret) var noFrame: Frame?
    @Preference("coded", coding: .json, .secret) var coded = Frame()
    @Preference("noCoded", coding: .json, .secret) var noCoded: Frame?
    let plainLevel = Preference("plainLevel", default: Level(), .secret)
    let plainTheme = Preference("plainTheme", default: Theme.light, .secret)
    let plainFrame = Preference("plainFrame", default: Frame(), .secret)
    let plainNumber = Preference("plainNumber", default: 0.5, .secret)
    let plainNoTheme = Preference<Theme?>("plainNoTheme", default: .light, .secret)
    let plainCoded = Preference("plainCoded", default: Frame(), coding: .json, .secret)
}

// All forms have the same order: name, default, coding, options, store.
struct Orders: PreferenceGroup {
    @Preference("a", coding: .json, .range(0...10), .description("A."), .secret, in: .suite("shared")) var a = 5
    @Preference("b", coding: .json, .check { $0 > 0 }, .description("B."), in: .suite("shared")) var b: Int?
    let c = Preference("c", default: 5, coding: .json, .range(0...10), .description("C."), in: .suite("shared"))
    let d = Preference<Int?>("d", coding: .json, .range(0...10), .description("D."), in: .suite("shared"))
    let e = Preference("e", default: "a", .check { !$0.isEmpty }, .description("E."))
}

// A declared preference can be a property wrapper in any type.
enum Declared { static let orders = Orders() }
struct Toolbar {
    @Preference(Declared.orders.$a) var a
    @Preference(Declared.orders.c) var c: Int
}

func generic<Value: PreferenceValue>(_ value: Value) -> Preference<Value> { Preference("x", default: value) }
func genericCodable<Value: Codable & Sendable>(_ value: Value) -> Preference<Value> { Preference("x", default: value) }

// Public types declare their Sendable conformance and their initializer.

/// An enum.
public enum PublicMode: String, Sendable { case quick, exact }
/// A struct.
public struct PublicFrame: Codable, Sendable { var x = 0 }

/// A group.
public struct PublicProperties: PreferenceGroup {
    /// An enum.
    @Preference("mode") public var mode = PublicMode.quick
    /// A struct.
    @Preference("frame") public var frame = PublicFrame()
    /// Creates the group.
    public init() {}
}
