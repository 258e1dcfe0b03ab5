import Preferences

// Declarations beyond those of Types.swift and Options.swift.

enum Theme: String { case light, dark }
struct Frame: Codable { var x = 0 }
enum Size: Int, Codable { case small, large }

struct Properties: PreferenceGroup {
    @Preference("sizes") var sizes: Set<Size> = []
    @Preference("byName") var byName: [String: Frame] = [:]
    @Preference("nested") var nested: Int??
    @Preference("theme") var theme: Theme? = .light
    @Preference("cache", coding: .json) var cache: Frame?
    let noFrame: Preference<Frame?> = Preference("noFrame")
    let noSize: Preference<Size?> = Preference("noSize", default: nil)
    let noTheme = Preference<Theme?>("noTheme", default: .light)
}

struct Places: PreferenceGroup {
    @Preference("count", in: .suite("shared")) var count = 5
    @Preference("theme", in: .inMemory()) var theme = Theme.light
    let size = Preference("size", default: Size.small, in: .suite("shared"))
}

struct Codings: PreferenceGroup {
    let own = Preference("own", default: 0, coding: .reversed)
}

extension PreferenceCoding where Value == Int {
    static let reversed = PreferenceCoding(
        "reversed",
        encode: { .integer(Int64(-$0)) },
        decode: { try -Int(storedValue: $0) }
    )
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
