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
