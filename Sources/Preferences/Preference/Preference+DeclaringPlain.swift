// Declarations without a property wrapper, with one initializer for each kind of value as in Preference+Declaring.

extension Preference {
    /// Creates a preference of a `PreferenceValue` type without a property wrapper: `Preference("count", default: 0)`.
    ///
    /// The type itself defines the stored form, see `PreferenceValue`.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - rule: The condition that each value must meet when it is set and when it is read. By default every value is allowed.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rule
    ///     doesn't apply to it.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    ///   - description: The purpose of the preference, for `declaredDescription` and the schema of its group.
    ///   - isSecret: Whether descriptions, errors, reports and schemas leave the value out. In a store of secrets, such as the system's
    ///     keyring, every value is a secret, even with `false`, the default.
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

    // Without this overload, an operator after the declaration, as in `Preference("opacity", default: 0.5).value == 1.5`, makes
    // the type ambiguous: the literal may also be a `Decimal`.
    /// Creates a preference of type `Double` without a property wrapper: `Preference("opacity", default: 0.5)`.
    ///
    /// The value is stored as a real.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - rule: The condition that each value must meet when it is set and when it is read. By default every value is allowed.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rule
    ///     doesn't apply to it.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    ///   - description: The purpose of the preference, for `declaredDescription` and the schema of its group.
    ///   - isSecret: Whether descriptions, errors, reports and schemas leave the value out. In a store of secrets, such as the system's
    ///     keyring, every value is a secret, even with `false`, the default.
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

    /// Creates a preference of a type with raw values, without a property wrapper: `Preference("theme", default: Theme.light)`.
    ///
    /// The raw value is stored. A stored raw value that the type doesn't know is unreadable: reading gives the default.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - rule: The condition that each value must meet when it is set and when it is read. By default every value is allowed.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rule
    ///     doesn't apply to it.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    ///   - description: The purpose of the preference, for `declaredDescription` and the schema of its group.
    ///   - isSecret: Whether descriptions, errors, reports and schemas leave the value out. In a store of secrets, such as the system's
    ///     keyring, every value is a secret, even with `false`, the default.
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

    /// Creates an optional preference of a type with raw values, without a property wrapper:
    /// `Preference<Theme?>("theme", default: .light)`.
    ///
    /// The raw value is stored. A stored raw value that the type doesn't know is unreadable: reading gives the default. Setting `nil`
    /// removes the stored value.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - rule: The condition that each value must meet when it is set and when it is read. By default every value is allowed.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rule
    ///     doesn't apply to it.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    ///   - description: The purpose of the preference, for `declaredDescription` and the schema of its group.
    ///   - isSecret: Whether descriptions, errors, reports and schemas leave the value out. In a store of secrets, such as the system's
    ///     keyring, every value is a secret, even with `false`, the default.
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

    /// Creates a preference of a `Codable` type without a property wrapper: `Preference("frame", default: Frame())`.
    ///
    /// The value is stored as its `Codable` form, in nested arrays and dictionaries; `coding: .json` stores it as JSON.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - rule: The condition that each value must meet when it is set and when it is read. By default every value is allowed.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rule
    ///     doesn't apply to it.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    ///   - description: The purpose of the preference, for `declaredDescription` and the schema of its group.
    ///   - isSecret: Whether descriptions, errors, reports and schemas leave the value out. In a store of secrets, such as the system's
    ///     keyring, every value is a secret, even with `false`, the default.
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

    /// Creates a preference with a coding and without a property wrapper:
    /// `Preference("frame", default: Frame(), coding: .json)`.
    ///
    /// `coding` defines the stored form, so the type needs no conformance except `Sendable`.
    ///
    /// - Parameters:
    ///   - name: The name under which the value is stored. An empty name traps.
    ///   - rule: The condition that each value must meet when it is set and when it is read. By default every value is allowed.
    ///   - default: The value if no stored value can be used. It is evaluated each time that it is needed, on any thread; the rule
    ///     doesn't apply to it.
    ///   - store: The store of the value. By default `PreferenceStore.standard`, or the store given to `PreferenceGroup.init(in:)`
    ///     while that creates a group.
    ///   - coding: The conversion between the value and its stored form, such as `.json` or `.jsonString`.
    ///   - description: The purpose of the preference, for `declaredDescription` and the schema of its group.
    ///   - isSecret: Whether descriptions, errors, reports and schemas leave the value out. In a store of secrets, such as the system's
    ///     keyring, every value is a secret, even with `false`, the default.
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
