#if canImport(SwiftUI)
// Declarations without a meaning, which compile only to explain a mistake, as in Preference+Mistakes.

extension PreferenceState {
    /// Unavailable: a preference needs a name.
    @available(
        *,
        unavailable,
        message: "a preference needs a name, as in '@PreferenceState(\"volume\") var volume = 5'"
    )
    public init(
        wrappedValue: @autoclosure () -> Value,
        coding: PreferenceCoding<Value>? = nil,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }

    /// Unavailable: a preference needs a name.
    @available(
        *,
        unavailable,
        message: "a preference needs a name, as in '@PreferenceState(\"artist\") var artist: String?'"
    )
    public init(
        coding: PreferenceCoding<Value>? = nil,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }

    /// Unavailable: a preference needs a default unless it is an optional.
    @available(
        *,
        unavailable,
        message:
            "a preference needs a default, as in '@PreferenceState(\"volume\") var volume = 5', unless it is an optional"
    )
    public init(
        _ name: String,
        coding: PreferenceCoding<Value>? = nil,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }

    /// Unavailable: the type of the value can't be stored.
    @available(
        *,
        unavailable,
        message: """
            a value that can be stored conforms to 'PreferenceValue' or 'Codable', or is an enum with raw values; \
            so do the elements of a collection, where an enum writes 'enum Theme: String, PreferenceValue', \
            and the keys of a dictionary conform to 'CodingKeyRepresentable', too; anything else takes a 'coding:'
            """
    )
    public init(
        wrappedValue: @autoclosure () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }

    /// Unavailable: the type of the value can't be stored.
    @available(
        *,
        unavailable,
        message: """
            a value that can be stored conforms to 'PreferenceValue' or 'Codable', or is an enum with raw values; \
            so do the elements of a collection, where an enum writes 'enum Theme: String, PreferenceValue', \
            and the keys of a dictionary conform to 'CodingKeyRepresentable', too; anything else takes a 'coding:'
            """
    )
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: ExpressibleByNilLiteral {
        fatalError()
    }
}

extension PreferenceState where Value: PreferenceGroup {
    /// Unavailable: a group is no value.
    @available(*, unavailable, message: "a group isn't the value of a preference: 'let player = PlayerPreferences()'")
    public init(
        wrappedValue: @autoclosure () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }
}

// `Bool` stands for the type that the declaration doesn't have, as in Preference+Mistakes.
extension PreferenceState where Value == Bool {
    /// Unavailable: a preference without a default needs the type of an optional.
    @available(
        *,
        unavailable,
        message: """
            a preference needs a default, as in '@PreferenceState("volume") var volume = 5', \
            or the type of an optional, as in '@PreferenceState("artist") var artist: String?'
            """
    )
    public init(
        _ name: String,
        _ options: PreferenceOption<Bool>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }

    /// Unavailable: a property of a view shows one preference.
    @available(
        *,
        unavailable,
        message: """
            a property of a view shows one preference: '@PreferenceState(player.$volume) var volume'; \
            for a whole group write 'let player = PlayerPreferences()'
            """
    )
    public init<Group: PreferenceGroup>(_ group: Group) {
        fatalError()
    }
}
#endif
