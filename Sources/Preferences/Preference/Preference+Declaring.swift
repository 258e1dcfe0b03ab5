// One initializer for each kind of value, since a generic one can't choose the coding: a type that says itself how it
// is stored wins over its raw value, a raw value over `Codable`. Where a type fits several, the narrower constraint
// decides, so no declaration is ever ambiguous.

extension Preference {
    /// Declares a property: `@Preference("name") var name = value`; the type says how it is stored.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: PreferenceValue {
        self.init(
            name,
            store: store,
            coding: .native,
            validation: PreferenceValidation(validate),
            default: wrappedValue
        )
    }

    /// Declares a property: `@Preference("name") var name = value`; its raw value is stored.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: RawRepresentable, Value.RawValue: PreferenceValue {
        self.init(
            name,
            store: store,
            coding: .rawValue,
            validation: PreferenceValidation(validate),
            default: wrappedValue
        )
    }

    /// Declares a property: `@Preference("name") var name = value`; the type says how it is stored, not its raw value.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: RawRepresentable & PreferenceValue, Value.RawValue: PreferenceValue {
        self.init(
            name,
            store: store,
            coding: .native,
            validation: PreferenceValidation(validate),
            default: wrappedValue
        )
    }

    /// Declares a property: `@Preference("name") var name = value`; its raw value is stored, nil removes.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue: PreferenceValue {
        self.init(
            name,
            store: store,
            coding: .rawValue,
            validation: PreferenceValidation(validate),
            default: wrappedValue
        )
    }

    /// Declares a property: `@Preference("name") var name = value`; it is stored as nested values.
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: Codable {
        self.init(
            name,
            store: store,
            coding: .propertyList,
            validation: PreferenceValidation(validate),
            default: wrappedValue
        )
    }

    /// Declares a plain value: `Preference("name", default: value)`; the type says how it is stored.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: PreferenceValue {
        self.init(name, store: store, coding: .native, validation: PreferenceValidation(validate), default: `default`)
    }

    /// Declares a plain value: `Preference("name", default: value)`; its raw value is stored.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: RawRepresentable, Value.RawValue: PreferenceValue {
        self.init(name, store: store, coding: .rawValue, validation: PreferenceValidation(validate), default: `default`)
    }

    /// Declares a plain value: `Preference("name", default: value)`; the type says how it is stored, not its raw value.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: RawRepresentable & PreferenceValue, Value.RawValue: PreferenceValue {
        self.init(name, store: store, coding: .native, validation: PreferenceValidation(validate), default: `default`)
    }

    /// Declares a plain value: `Preference("name", default: value)`; its raw value is stored, nil removes.
    public init<Wrapped>(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue: PreferenceValue {
        self.init(name, store: store, coding: .rawValue, validation: PreferenceValidation(validate), default: `default`)
    }

    /// Declares a plain value: `Preference("name", default: value)`; it is stored as nested values.
    @_disfavoredOverload
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: Codable {
        self.init(
            name,
            store: store,
            coding: .propertyList,
            validation: PreferenceValidation(validate),
            default: `default`
        )
    }
}

// As Preference+Declaring, for optional values without a written default.

extension Preference {
    /// Declares a preference whose default is nil; the type says how it is stored.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: PreferenceValue {
        self.init(name, store: store, coding: .native, validation: PreferenceValidation(validate), default: { nil })
    }

    /// Declares a preference whose default is nil; its raw value is stored.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue: PreferenceValue {
        self.init(name, store: store, coding: .rawValue, validation: PreferenceValidation(validate), default: { nil })
    }

    /// Declares a preference whose default is nil; the type says how it is stored, not its raw value.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable & PreferenceValue, Wrapped.RawValue: PreferenceValue {
        self.init(name, store: store, coding: .native, validation: PreferenceValidation(validate), default: { nil })
    }

    /// Declares a preference whose default is nil; it is stored as nested values.
    @_disfavoredOverload
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: Codable {
        self.init(
            name,
            store: store,
            coding: .propertyList,
            validation: PreferenceValidation(validate),
            default: { nil }
        )
    }
}

extension Preference {
    /// Declares a property: `@Preference("name") var name = value`; `coding` says how it is stored.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        validate: PreferenceValidator<Value>? = nil
    ) {
        self.init(name, store: store, coding: coding, validation: PreferenceValidation(validate), default: wrappedValue)
    }

    /// Declares a plain value: `Preference("name", default: value)`; `coding` says how it is stored.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        validate: PreferenceValidator<Value>? = nil
    ) {
        self.init(name, store: store, coding: coding, validation: PreferenceValidation(validate), default: `default`)
    }

    /// Declares a preference whose default is nil; `coding` says how it is stored.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped? {
        self.init(name, store: store, coding: coding, validation: PreferenceValidation(validate), default: { nil })
    }
}
