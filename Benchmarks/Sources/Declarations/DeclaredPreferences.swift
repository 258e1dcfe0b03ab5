public import Preferences

/// A value as programs define them, without any conformance but `Codable`.
public struct Profile: Codable, Equatable, Sendable {
    public var title = "untitled"
    public var width = 800
    public var height = 600
    public var scale = 1.5
    public var tags = ["red", "green"]

    public init() {}
}

/// A group that one module declares and another reads.
public struct DeclaredPreferences: PreferenceGroup {
    @Preference("declared-flag") public var flag = false
    @Preference("declared-number") public var number = 0
    @Preference("declared-text") public var text = ""
    public init() {}
}

/// What a feature sees that doesn't know where its preferences live.
public protocol VisiblePreferences: Sendable {
    var visibleFlag: Preference<Bool> { get }
    var visibleNumber: Preference<Int> { get }
    var visibleText: Preference<String> { get }
}

extension DeclaredPreferences: VisiblePreferences {
    public var visibleFlag: Preference<Bool> { $flag }
    public var visibleNumber: Preference<Int> { $number }
    public var visibleText: Preference<String> { $text }
}
