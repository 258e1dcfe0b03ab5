// One initializer for each kind of value, as a generic one can't choose the coding: a type's own conformance to
// `PreferenceValue` wins over its raw value, a raw value over `Codable`. The generic parameter `Raw` alone ranks the
// first two; `@_disfavoredOverload` ranks the last. So no declaration is ambiguous.

extension Preference {
    /// Creates a property: `@Preference("volume", .range(0...10)) var volume = 5`; the type defines its stored form.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: PreferenceValue {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .native,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates an optional property: `@Preference("artist") var artist: String?`; the type defines its stored form.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: PreferenceValue & ExpressibleByNilLiteral {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .native,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates a property: `@Preference("theme") var theme = Theme.light`; its raw value is stored.
    public init<Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: RawRepresentable, Value.RawValue == Raw {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .rawValue,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates an optional property: `@Preference("theme") var theme: Theme?`; its raw value is stored.
    public init<Wrapped, Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue == Raw {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .rawValue,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates a property: `@Preference("frame") var frame = Frame()`; it is stored as nested values.
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: Codable {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .propertyList,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates an optional property: `@Preference("frame") var frame: Frame?`; it is stored as nested values.
    @_disfavoredOverload
    public init<Wrapped: Codable>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value == Wrapped? {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .propertyList,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates a property: `@Preference("frame", coding: .json) var frame = Frame()`; `coding` defines its stored form.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        description: String? = nil,
        isSecret: Bool = false
    ) {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: coding,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates an optional property: `@Preference("frame", coding: .json) var frame: Frame?`; `coding` defines its
    /// stored form.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value == Wrapped? {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: coding,
            description: description,
            isSecret: isSecret,
            default: wrappedValue
        )
    }

    /// Creates a property for a preference that is declared elsewhere:
    /// `@Preference(Defaults.general.$theme) var theme`.
    ///
    /// It keeps the store that it was declared in, also in a group that is created by `init(in:)`.
    public init(_ preference: @autoclosure () -> Preference<Value>) {
        // A static group that is first used here is not one of the group that is being created.
        self = GroupBinding.$current.withValue(nil) { preference() }
    }
}

extension Preference {
    /// Creates a plain value: `Preference("count", default: 0)`; the type defines its stored form.
    public init(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: PreferenceValue {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .native,
            description: description,
            isSecret: isSecret,
            default: `default`
        )
    }

    /// Creates a plain value: `Preference("opacity", default: 0.5)`.
    ///
    /// A `Double` without this initializer is ambiguous where an operator follows, as in
    /// `Preference("opacity", default: 0.5).value == 1.5`: `Decimal` might be meant.
    public init(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value == Double {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .native,
            description: description,
            isSecret: isSecret,
            default: `default`
        )
    }

    /// Creates a plain value: `Preference("theme", default: Theme.light)`; its raw value is stored.
    public init<Raw: PreferenceValue>(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: RawRepresentable, Value.RawValue == Raw {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .rawValue,
            description: description,
            isSecret: isSecret,
            default: `default`
        )
    }

    /// Creates a plain optional value: `Preference<Theme?>("theme", default: .light)`; its raw value is stored.
    public init<Wrapped, Raw: PreferenceValue>(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue == Raw {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .rawValue,
            description: description,
            isSecret: isSecret,
            default: `default`
        )
    }

    /// Creates a plain value: `Preference("frame", default: Frame())`; it is stored as nested values.
    @_disfavoredOverload
    public init(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: Codable {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: .propertyList,
            description: description,
            isSecret: isSecret,
            default: `default`
        )
    }

    /// Creates a plain value: `Preference("frame", default: Frame(), coding: .json)`; `coding` defines its stored form.
    public init(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        description: String? = nil,
        isSecret: Bool = false
    ) {
        self.init(
            declaring: name,
            rule,
            in: store,
            coding: coding,
            description: description,
            isSecret: isSecret,
            default: `default`
        )
    }
}

// Declarations that compile without a meaning, for the sake of the message.

extension Preference {
    /// Unavailable: only an optional of a type that can be stored needs no default.
    @available(
        *,
        unavailable,
        message: """
            a preference needs a default, as in '@Preference("volume") var volume = 5', \
            unless it is an optional of a type that can be stored; \
            the elements of a collection adopt 'PreferenceValue' or 'Codable'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) {
        fatalError()
    }

    /// Unavailable: the elements of a collection adopt `PreferenceValue` or `Codable`.
    @available(
        *,
        unavailable,
        message: """
            the elements of a collection adopt 'PreferenceValue' or 'Codable', \
            and the keys of a dictionary 'CodingKeyRepresentable'; \
            for an enum write 'enum Theme: String, PreferenceValue'
            """
    )
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: Collection {
        fatalError()
    }

    /// Unavailable: the elements of a collection adopt `PreferenceValue` or `Codable`.
    @available(
        *,
        unavailable,
        message: """
            the elements of a collection adopt 'PreferenceValue' or 'Codable', \
            and the keys of a dictionary 'CodingKeyRepresentable'; \
            for an enum write 'enum Theme: String, PreferenceValue'
            """
    )
    @_disfavoredOverload
    public init(
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        description: String? = nil,
        isSecret: Bool = false
    ) where Value: Collection {
        fatalError()
    }
}
