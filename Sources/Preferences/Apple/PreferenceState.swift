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
// As Preference+Declaring, with one initializer for each kind of value.

extension PreferenceState {
    /// Creates a property of a view: `@PreferenceState("volume", .range(0...10)) var volume = 5`; the type defines its stored form.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil
    ) where Value: PreferenceValue {
        self.init(Preference(wrappedValue: wrappedValue(), name, rule, in: store, description: description))
    }

    /// Creates an optional property of a view: `@PreferenceState("artist") var artist: String?`; the type defines its stored form.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil
    ) where Value: PreferenceValue & ExpressibleByNilLiteral {
        self.init(Preference(wrappedValue: wrappedValue(), name, rule, in: store, description: description))
    }

    /// Creates a property of a view: `@PreferenceState("theme") var theme = Theme.light`; its raw value is stored.
    public init<Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil
    ) where Value: RawRepresentable, Value.RawValue == Raw {
        self.init(Preference(wrappedValue: wrappedValue(), name, rule, in: store, description: description))
    }

    /// Creates an optional property of a view: `@PreferenceState("theme") var theme: Theme?`; its raw value is stored.
    public init<Wrapped, Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue == Raw {
        self.init(Preference(wrappedValue: wrappedValue(), name, rule, in: store, description: description))
    }

    /// Creates a property of a view: `@PreferenceState("frame") var frame = Frame()`; it is stored as nested values.
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil
    ) where Value: Codable {
        self.init(Preference(wrappedValue: wrappedValue(), name, rule, in: store, description: description))
    }

    /// Creates an optional property of a view: `@PreferenceState("frame") var frame: Frame?`; it is stored as nested values.
    @_disfavoredOverload
    public init<Wrapped: Codable>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        description: String? = nil
    ) where Value == Wrapped? {
        self.init(Preference(wrappedValue: wrappedValue(), name, rule, in: store, description: description))
    }

    /// Creates a property of a view: `@PreferenceState("frame", coding: .json) var frame = Frame()`; `coding` defines its stored form.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        description: String? = nil
    ) {
        self.init(
            Preference(wrappedValue: wrappedValue(), name, rule, in: store, coding: coding, description: description)
        )
    }

    /// Creates an optional property of a view: `@PreferenceState("frame", coding: .json) var frame: Frame?`; `coding` defines its
    /// stored form.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ rule: PreferenceRule<Value> = .any,
        in store: PreferenceStore? = nil,
        coding: PreferenceCoding<Value>,
        description: String? = nil
    ) where Value == Wrapped? {
        self.init(
            Preference(wrappedValue: wrappedValue(), name, rule, in: store, coding: coding, description: description)
        )
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
