// Declarations without a meaning, which compile only to explain a mistake. The compiler considers an unavailable declaration only if
// no other one fits: it changes neither the type of a valid declaration nor the time that checking it takes.

extension Preference {
    /// Unavailable: a preference needs a name.
    @available(*, unavailable, message: "a preference needs a name, as in '@Preference(\"volume\") var volume = 5'")
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
        message: """
            a preference needs a name, as in '@Preference("artist") var artist: String?' or 'Preference("launches", default: 0)'
            """
    )
    public init(
        default: Value = { fatalError() }(),
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
            "a preference needs a default, as in '@Preference(\"volume\") var volume = 5', unless it is an optional"
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
        default: Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }
}

extension Preference where Value: PreferenceGroup {
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

    /// Unavailable: a group is no value.
    @available(*, unavailable, message: "a group isn't the value of a preference: 'let player = PlayerPreferences()'")
    public init(
        _ name: String,
        default: Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }
}

// `Bool` stands for the type that the declaration doesn't have: nothing uses it, and `Never` would get a warning of its own.
extension Preference where Value == Bool {
    /// Unavailable: a preference without a default needs the type of an optional.
    @available(
        *,
        unavailable,
        message: """
            a preference needs a default, as in 'Preference("launches", default: 0)', \
            or the type of an optional, as in 'Preference<String?>("artist")'
            """
    )
    public init(
        _ name: String,
        default: Bool? = nil,
        _ options: PreferenceOption<Bool>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }

    /// Unavailable: a property is one preference.
    @available(
        *,
        unavailable,
        message: """
            a property is one preference: '@Preference(player.$volume) var volume'; \
            for a whole group write 'let player = PlayerPreferences()'
            """
    )
    public init<Group: PreferenceGroup>(_ group: Group) {
        fatalError()
    }
}
