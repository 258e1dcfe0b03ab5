#if canImport(SwiftUI)
public import SwiftUI

/// A preference as a property of a view, which is evaluated again when the preference shows another value, wherever it was changed.
///
///     @PreferenceState(preferences.$theme) var theme
///     @PreferenceState(\GeneralPreferences.$theme) var theme
///     @PreferenceState("user.name") var name = "Pitt"
///
/// `$theme` is a `Binding`. If a view is created again with another preference, it shows that one. Below
/// `View.preferenceStore(_:)`, the property is the preference of the same name in that store, whichever store it was declared in.
@propertyWrapper
public struct PreferenceState<Value: Sendable>: DynamicProperty {
    @Environment(\.preferenceStore) private var store
    private let declared: Preference<Value>
    /// The preference in use since the last `update()`, which SwiftUI calls in place before it evaluates the body.
    @usableFromInline var current: Preference<Value>

    /// Creates a property that shows a preference declared elsewhere.
    public init(_ preference: Preference<Value>) {
        declared = preference
        current = preference
    }

    /// Creates a property that shows a preference of a group, in the standard store unless the environment has another.
    ///
    /// The group is created once in the program, by `init()`, and kept.
    public init<Group: PreferenceGroup>(_ keyPath: KeyPath<Group, Preference<Value>>) {
        self.init(SharedGroup<Group>.shared.preference(at: keyPath))
    }

    /// Selects the store of the view's environment; called by SwiftUI.
    public mutating func update() {
        current = if let store, store !== declared.store { declared.bound(to: store) } else { declared }
    }

    /// The preference in the store of the view's environment, or in its own store if the environment has none.
    public var preference: Preference<Value> { current }

    /// The preference's value; see `Preference.value`. After a rejected set, the views that show the value are evaluated again.
    @inlinable
    public var wrappedValue: Value {
        get { current.value }
        nonmutating set { current.setFromView(newValue) }
    }

    /// A binding to the preference; see `Preference.binding`.
    public var projectedValue: Binding<Value> { current.binding }
}

/// The groups to which views refer by key paths.
///
/// A view's initializer runs at each evaluation of the view around it, and creating a group of fifty preferences there took
/// 43 µs. So all views share one group: its preferences are of the standard store, which looks for isolated stores at each use.
private final class SharedGroup<Group: PreferenceGroup>: Sendable {
    private let group: Group

    private init(_ group: Group) { self.group = group }

    func preference<Value>(at keyPath: KeyPath<Group, Preference<Value>>) -> Preference<Value> {
        group[keyPath: keyPath]
    }

    static var shared: SharedGroup {
        // While `init(in:)` of a group runs, the groups that it creates belong to its store.
        guard GroupBinding.current == nil else { return SharedGroup(Group()) }
        return SharedGroups.group(ObjectIdentifier(Group.self)) { SharedGroup(Group()) }
    }
}

private enum SharedGroups {
    private static let groups = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns the group of a type; creates it without the lock, as its initializer is foreign code.
    static func group<Group: AnyObject & Sendable>(_ type: ObjectIdentifier, _ create: () -> Group) -> Group {
        if let known = groups.withLock({ $0[type] }) { return unsafeDowncast(known, to: Group.self) }
        let created: any AnyObject & Sendable = create()
        let group = groups.withLock { groups in
            if let known = groups[type] { return known }
            groups[type] = created
            return created
        }
        return unsafeDowncast(group, to: Group.self)
    }
}

// Like Preference+Declaring, with one initializer for each kind of value.

extension PreferenceState {
    /// Creates a view's property of a `PreferenceValue` type: `@PreferenceState("volume", .range(0...10)) var volume = 5`.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: PreferenceValue {
        self.init(Preference(declaring: name, .native, options, store, wrappedValue))
    }

    /// Creates a view's optional property of a `PreferenceValue` type: `@PreferenceState("artist") var artist: String?`.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: PreferenceValue & ExpressibleByNilLiteral {
        self.init(Preference(declaring: name, .native, options, store, wrappedValue))
    }

    /// Creates a view's property of a type with raw values: `@PreferenceState("theme") var theme = Theme.light`.
    public init<Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: RawRepresentable, Value.RawValue == Raw {
        self.init(Preference(declaring: name, .rawValue, options, store, wrappedValue))
    }

    /// Creates a view's optional property of a type with raw values: `@PreferenceState("theme") var theme: Theme?`.
    public init<Wrapped, Raw: PreferenceValue>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped?, Wrapped: RawRepresentable, Wrapped.RawValue == Raw {
        self.init(Preference(declaring: name, .rawValue, options, store, wrappedValue))
    }

    /// Creates a view's property of a `Codable` type: `@PreferenceState("frame") var frame = Frame()`.
    @_disfavoredOverload
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value: Codable {
        self.init(Preference(declaring: name, .propertyList, options, store, wrappedValue))
    }

    /// Creates a view's optional property of a `Codable` type: `@PreferenceState("frame") var frame: Frame?`.
    @_disfavoredOverload
    public init<Wrapped: Codable>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped? {
        self.init(Preference(declaring: name, .propertyList, options, store, wrappedValue))
    }

    /// Creates a view's property with a coding: `@PreferenceState("frame", coding: .json) var frame = Frame()`.
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ name: String,
        coding: PreferenceCoding<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) {
        self.init(Preference(declaring: name, coding, options, store, wrappedValue))
    }

    /// Creates a view's optional property with a coding: `@PreferenceState("frame", coding: .json) var frame: Frame?`.
    public init<Wrapped>(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value = nil,
        _ name: String,
        coding: PreferenceCoding<Value>,
        _ options: PreferenceOption<Value>...,
        in store: PreferenceStore? = nil
    ) where Value == Wrapped? {
        self.init(Preference(declaring: name, coding, options, store, wrappedValue))
    }
}
extension EnvironmentValues {
    /// The store used instead of the ones in which preferences were declared; `nil` for the latter.
    public var preferenceStore: PreferenceStore? {
        get { self[PreferenceStoreKey.self] }
        set { self[PreferenceStoreKey.self] = newValue }
    }
}

private struct PreferenceStoreKey: EnvironmentKey {
    static let defaultValue: PreferenceStore? = nil
}

extension View {
    /// Sets the store that each `PreferenceState` of the view and its subviews uses: for previews, tests and accounts.
    ///
    ///     #Preview { SettingsView().preferenceStore(.inMemory(["theme": "dark"])) }
    public func preferenceStore(_ store: PreferenceStore?) -> some View {
        environment(\.preferenceStore, store)
    }
}
#endif
