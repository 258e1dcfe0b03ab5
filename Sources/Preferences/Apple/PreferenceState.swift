#if canImport(SwiftUI)
public import SwiftUI

/// A preference as a property of a view, which is evaluated again at each change, wherever the change was made.
///
///     @PreferenceState(Defaults.general.$theme) var theme
///     @PreferenceState(\GeneralPreferences.$theme) var theme
///     @PreferenceState("user.name") var name = "Pitt"
///
/// `$theme` is a `Binding`. Nothing is kept in the view, so a view that is made anew with another preference shows that
/// one. Below `View.preferenceStore(_:)` it is the preference of the same name in that store, whichever store it was
/// declared in.
@propertyWrapper
public struct PreferenceState<Value: Sendable>: DynamicProperty {
    @Environment(\.preferenceStore) private var store
    private let declared: Preference<Value>

    /// Shows a preference that is declared elsewhere.
    public init(_ preference: Preference<Value>) {
        declared = preference
    }

    /// Shows a preference of a group, in the standard store unless the environment has another.
    public init<Group: PreferenceGroup>(_ keyPath: KeyPath<Group, Preference<Value>>) {
        self.init(Group()[keyPath: keyPath])
    }

    /// The preference in the store that the view's environment has, else in its own.
    public var preference: Preference<Value> {
        guard let store else { return declared }
        return declared.bound(to: store)
    }

    /// The preference's value; see `Preference.value`.
    public var wrappedValue: Value {
        get { preference.value }
        nonmutating set { preference.value = newValue }
    }

    /// A binding to the preference; see `Preference.binding`.
    public var projectedValue: Binding<Value> { preference.binding }
}

extension Preference {
    /// A binding to the value, for controls.
    ///
    /// Who makes it in a view's body is told of changes, also where the control alone reads the value. A set that is
    /// refused is reported to the store's issue handler, and the control shows the old value again. The binding's
    /// transaction, and so its animation, goes on to whatever the change updates.
    public var binding: Binding<Value> {
        // Registers with Observation: not every control reads its binding where that is tracked.
        _ = value
        return Binding(
            get: { value },
            set: { newValue, transaction in
                withTransaction(transaction) { value = newValue }
            }
        )
    }
}
#endif

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

#if canImport(SwiftUI)
public import SwiftUI

extension EnvironmentValues {
    /// The store that stands in for the ones that preferences were declared in; nil for these themselves.
    public var preferenceStore: PreferenceStore? {
        get { self[PreferenceStoreKey.self] }
        set { self[PreferenceStoreKey.self] = newValue }
    }
}

private struct PreferenceStoreKey: EnvironmentKey {
    static let defaultValue: PreferenceStore? = nil
}

extension View {
    /// Makes each `PreferenceState` of the view and of those in it use a store: for previews, tests and accounts.
    ///
    ///     #Preview { SettingsView().preferenceStore(.inMemory(["theme": "dark"])) }
    public func preferenceStore(_ store: PreferenceStore?) -> some View {
        environment(\.preferenceStore, store)
    }
}
#endif
