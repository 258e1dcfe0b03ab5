#if canImport(SwiftUI)
// As Preference+Declaring and Preference+DeclaringOptional, with one initializer for each kind of value.

extension PreferenceState {
    /// Declares a preference in a view: `@PreferenceState("name") var name = value`; the type says how it is stored.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: PreferenceValue {
        self.init(Preference(wrappedValue: wrappedValue(), name, in: store, validate: validate))
    }

    /// Declares a preference in a view: `@PreferenceState("name") var name = value`; its raw value is stored.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: RawRepresentable, Value.RawValue: PreferenceValue {
        self.init(Preference(wrappedValue: wrappedValue(), name, in: store, validate: validate))
    }

    /// Declares a preference in a view: `@PreferenceState("name") var name = value`; the type says how it is stored, not its raw value.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: RawRepresentable & PreferenceValue, Value.RawValue: PreferenceValue {
        self.init(Preference(wrappedValue: wrappedValue(), name, in: store, validate: validate))
    }

    /// Declares a preference in a view: `@PreferenceState("name") var name = value`; its raw value is stored, nil removes.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue: PreferenceValue {
        self.init(Preference(wrappedValue: wrappedValue(), name, in: store, validate: validate))
    }

    /// Declares a preference in a view: `@PreferenceState("name") var name = value`; it is stored as nested values.
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value: Codable {
        self.init(Preference(wrappedValue: wrappedValue(), name, in: store, validate: validate))
    }

    /// Declares a preference in a view: `@PreferenceState("name") var name = value`; `coding` says how it is stored.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        validate: PreferenceValidator<Value>? = nil
    ) {
        self.init(Preference(wrappedValue: wrappedValue(), name, in: store, coding: coding, validate: validate))
    }

    /// Declares a preference in a view whose default is nil; the type says how it is stored.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: PreferenceValue {
        self.init(Preference(name, in: store, validate: validate))
    }

    /// Declares a preference in a view whose default is nil; its raw value is stored.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue: PreferenceValue {
        self.init(Preference(name, in: store, validate: validate))
    }

    /// Declares a preference in a view whose default is nil; the type says how it is stored, not its raw value.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable & PreferenceValue, Wrapped.RawValue: PreferenceValue {
        self.init(Preference(name, in: store, validate: validate))
    }

    /// Declares a preference in a view whose default is nil; it is stored as nested values.
    @_disfavoredOverload
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        validate: PreferenceValidator<Value>? = nil
    ) where Value == Wrapped?, Wrapped: Codable {
        self.init(Preference(name, in: store, validate: validate))
    }
}
#endif
