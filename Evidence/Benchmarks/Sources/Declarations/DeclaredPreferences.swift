public import Preferences

/// A group that one module declares and another reads.
public struct DeclaredPreferences: PreferenceGroup {
    /// Read without a lock.
    @Preference("declared-flag") public var flag = false
    /// Read without a lock.
    @Preference("declared-number") public var number = 0
    /// Read under the slot's lock.
    @Preference("declared-text") public var text = ""

    /// Binds to the standard store, unless `init(in:)` names another.
    public init() {}
}

/// The view of a feature that doesn't know where its preferences are stored.
public protocol VisiblePreferences: Sendable {
    /// A flag.
    var visibleFlag: Preference<Bool> { get }
    /// A number.
    var visibleNumber: Preference<Int> { get }
    /// A text.
    var visibleText: Preference<String> { get }
}

extension DeclaredPreferences: VisiblePreferences {
    /// `flag`
    public var visibleFlag: Preference<Bool> { $flag }
    /// `number`
    public var visibleNumber: Preference<Int> { $number }
    /// `text`
    public var visibleText: Preference<String> { $text }
}
