// A value outside the range is refused, never clamped; a default is not checked.

extension Preference {
    /// Declares a property: `@Preference("name") var name = value`; a value outside `range` is refused.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        range: ClosedRange<Value>
    ) where Value: PreferenceValue & Comparable {
        self.init(
            name,
            store: store,
            coding: .native,
            validation: PreferenceValidation(range: range),
            default: wrappedValue
        )
    }

    /// Declares a property: `@Preference("name") var name = value`; a value outside `range` is refused, nil removes.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        range: ClosedRange<Wrapped>
    ) where Value == Wrapped?, Wrapped: PreferenceValue & Comparable {
        self.init(
            name,
            store: store,
            coding: .native,
            validation: PreferenceValidation(range: range),
            default: wrappedValue
        )
    }

    /// Declares a property: `@Preference("name") var name = value`; `coding` says how it is stored, and a value outside
    /// `range` is refused.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        range: ClosedRange<Value>
    ) where Value: Comparable {
        self.init(
            name,
            store: store,
            coding: coding,
            validation: PreferenceValidation(range: range),
            default: wrappedValue
        )
    }

    /// Declares a plain value: `Preference("name", default: value)`; a value outside `range` is refused.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        range: ClosedRange<Value>
    ) where Value: PreferenceValue & Comparable {
        self.init(
            name,
            store: store,
            coding: .native,
            validation: PreferenceValidation(range: range),
            default: `default`
        )
    }

    /// Declares a plain value: `Preference("name", default: value)`; a value outside `range` is refused, nil removes.
    public init<Wrapped>(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        range: ClosedRange<Wrapped>
    ) where Value == Wrapped?, Wrapped: PreferenceValue & Comparable {
        self.init(
            name,
            store: store,
            coding: .native,
            validation: PreferenceValidation(range: range),
            default: `default`
        )
    }

    /// Declares a plain value: `Preference("name", default: value)`; `coding` says how it is stored, and a value
    /// outside `range` is refused.
    public init(
        _ name: String,
        default: @autoclosure @escaping @Sendable () -> Value,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        range: ClosedRange<Value>
    ) where Value: Comparable {
        self.init(
            name,
            store: store,
            coding: coding,
            validation: PreferenceValidation(range: range),
            default: `default`
        )
    }

    /// Declares a preference whose default is nil; a value outside `range` is refused.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        range: ClosedRange<Wrapped>
    ) where Value == Wrapped?, Wrapped: PreferenceValue & Comparable {
        self.init(name, store: store, coding: .native, validation: PreferenceValidation(range: range), default: { nil })
    }

    /// Declares a preference whose default is nil; `coding` says how it is stored, and a value outside `range` is
    /// refused.
    public init<Wrapped>(
        _ name: String,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        range: ClosedRange<Wrapped>
    ) where Value == Wrapped?, Wrapped: Comparable {
        self.init(name, store: store, coding: coding, validation: PreferenceValidation(range: range), default: { nil })
    }
}
