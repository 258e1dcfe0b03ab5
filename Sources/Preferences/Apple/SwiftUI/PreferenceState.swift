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
