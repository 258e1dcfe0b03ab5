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
