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
