// Declarations without a meaning, which compile only to explain a mistake.

extension Preference {
    /// Unavailable: a preference needs a name.
    @available(
        *,
        unavailable,
        message: """
            a preference needs a name, as in '@Preference("volume") var volume = 5'
            """
    )
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...
    ) {
        fatalError()
    }

    /// Unavailable: a preference needs a default unless it is an optional of a type that can be stored.
    @available(
        *,
        unavailable,
        message: """
            a preference needs a default, as in '@Preference("volume") var volume = 5', \
            unless it is an optional of a type that can be stored
            """
    )
    @_disfavoredOverload
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
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
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
    @_disfavoredOverload
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }
}

extension Preference where Value == Never {
    /// Unavailable: a preference needs a default unless it is an optional of a type that can be stored.
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
        _ options: PreferenceOption<Never>...,
        in store: PreferenceStore? = nil
    ) {
        fatalError()
    }
}

// The labels and the order of an earlier version.

extension Preference {
    /// Unavailable: a description is an option.
    @available(
        *,
        unavailable,
        message: """
            write the description as an option after the name: '.description("…")'; a secret is '.secret'
            """
    )
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        description: String,
        isSecret: Bool = false
    ) {
        fatalError()
    }

    /// Unavailable: whether a value is a secret is an option.
    @available(
        *,
        unavailable,
        message: """
            write '.secret' after the name, as in '@Preference("token", .secret) var token: String?'
            """
    )
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        isSecret: Bool
    ) {
        fatalError()
    }

    /// Unavailable: a description is an option.
    @available(
        *,
        unavailable,
        message: """
            write the description as an option after the name: '.description("…")'; a secret is '.secret'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        description: String,
        isSecret: Bool = false
    ) {
        fatalError()
    }

    /// Unavailable: whether a value is a secret is an option.
    @available(
        *,
        unavailable,
        message: """
            write '.secret' after the name, as in '@Preference("token", .secret) var token: String?'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        isSecret: Bool
    ) {
        fatalError()
    }

    /// Unavailable: whether a value is a secret is an option.
    @available(
        *,
        unavailable,
        message: """
            write '.secret' after the name, as in '@Preference("token", .secret) var token: String?'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        isSecret: Bool
    ) {
        fatalError()
    }

    /// Unavailable: a description is an option.
    @available(
        *,
        unavailable,
        message: """
            write the description as an option after the name: '.description("…")'; a secret is '.secret'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil,
        description: String,
        isSecret: Bool = false
    ) {
        fatalError()
    }

    /// Unavailable: options stand behind the default.
    @available(
        *,
        unavailable,
        message: """
            options stand behind the default and the coding, as in 'Preference("volume", default: 5, .range(0...10))'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ option: PreferenceOption<Value>,
        _ options: PreferenceOption<Value>...,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>? = nil
    ) {
        fatalError()
    }

    /// Unavailable: options stand behind the coding.
    @available(
        *,
        unavailable,
        message: """
            options stand behind the coding, as in '@Preference("frame", coding: .json, .secret)'
            """
    )
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ option: PreferenceOption<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>
    ) {
        fatalError()
    }

    /// Unavailable: options stand behind the coding.
    @available(
        *,
        unavailable,
        message: """
            options stand behind the coding, as in '@Preference("frame", coding: .json, .secret)'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ option: PreferenceOption<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>
    ) {
        fatalError()
    }
}
