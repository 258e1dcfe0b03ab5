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

    /// Unavailable: a preference that is declared elsewhere has its default there.
    @available(
        *,
        unavailable,
        message: """
            a preference that is declared elsewhere has its default there: '@PreferenceState(player.$volume) var volume'
            """
    )
    public init(wrappedValue: @autoclosure () -> Value, _ preference: Preference<Value>) {
        fatalError()
    }

    /// Unavailable: the key path must lead to a preference.
    @available(
        *,
        unavailable,
        message: """
            the key path leads to the preference, with '$': '@PreferenceState(\\PlayerPreferences.$volume) var volume'
            """
    )
    public init<Group: PreferenceGroup>(_ keyPath: KeyPath<Group, Value>) {
        fatalError()
    }

    /// Unavailable: the arguments have another order.
    @available(
        *,
        unavailable,
        message: """
            the order is name, coding, options, store, as in \
            '@PreferenceState("frame", coding: .json, .secret, in: .standard)'
            """
    )
    public init(
        wrappedValue: @autoclosure () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        _ others: PreferenceOption<Value>...,
        coding: PreferenceCoding<Value>? = nil,
        _ rest: PreferenceOption<Value>...
    ) {
        fatalError()
    }

    /// Unavailable: the arguments have another order.
    @available(
        *,
        unavailable,
        message: """
            the order is name, coding, options, store, as in \
            '@PreferenceState("frame", coding: .json, .secret, in: .standard)'
            """
    )
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        _ others: PreferenceOption<Value>...,
        coding: PreferenceCoding<Value>? = nil,
        _ rest: PreferenceOption<Value>...
    ) {
        fatalError()
    }

    /// Unavailable: a description and a secret are options.
    @available(
        *,
        unavailable,
        message: "a description and a secret are options: write '.description(\"…\")' and '.secret' after the name"
    )
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        _ others: PreferenceOption<Value>...,
        description: String = "",
        isSecret: Bool = false
    ) {
        fatalError()
    }

    /// Unavailable: a description and a secret are options.
    @available(
        *,
        unavailable,
        message: "a description and a secret are options: write '.description(\"…\")' and '.secret' after the name"
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        _ others: PreferenceOption<Value>...,
        description: String = "",
        isSecret: Bool = false
    ) {
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
