internal import DurableFile

/// A type whose properties are preferences.
///
/// A group is a struct (or an actor). `init()` puts its preferences in the standard store, `init(in:)` in another. The
/// compiler makes `init()` unless the group is `public`.
///
///     struct GeneralPreferences: PreferenceGroup {
///         @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
///     }
///     let preview = GeneralPreferences(in: .inMemory())
public protocol PreferenceGroup: Sendable {
    /// Makes the group over the store bound just now: the standard one, unless `init(in:)` binds another.
    init()
}

extension PreferenceGroup {
    /// Makes the same group over another store.
    ///
    /// Binds the stored properties that are initialised while `init()` runs, nested groups included; not lazy, static
    /// or computed ones, nor those with an explicit `in:`. In debug builds a static property that is bound by accident,
    /// because `init()` is the first to touch it, is reported to the store's issue handler.
    public init(in store: PreferenceStore) {
        let binding = GroupBinding(to: store)
        self = GroupBinding.$current.withValue(binding) { Self() }
        assert(binding.reportStrays(outside: self))
    }
}

extension PreferenceGroup {
    /// The preferences of the group, nested groups included, in the order of their declaration.
    ///
    /// For a page of settings, a report, or a test. A property of the group with this name wins over this one.
    public var preferences: [AnyPreference] {
        DeclaredPreferences.all(in: self).map(AnyPreference.init)
    }

    /// Removes what is stored for the group's preferences, in one step for each store, so that the defaults are read.
    ///
    /// A managed preference is left as it is. An error is reported to the store's issue handler; nothing of that store is
    /// changed then.
    public func reset() {
        let set = preferences.filter { $0.isSet && !$0.isManaged }
        for member in set where member.isMember { member.reset() }
        for preferences in Dictionary(grouping: set.filter { !$0.isMember }, by: { ObjectIdentifier($0.store) }).values
        {
            let removals = preferences.map { ($0.name, PropertyListValue?.none) }
            preferences[0].store.resolved.core.commitOrReport(.several(Dictionary(removals) { first, _ in first }))
        }
    }
}

/// The store that `PreferenceGroup.init(in:)` gives to the preferences initialised while it runs.
final class GroupBinding: Sendable {
    @TaskLocal static var current: GroupBinding?

    private let store: PreferenceStore
    private let bound = Lock<[Bound]>([])

    private struct Bound {
        weak var declaration: (any AnyObject & Sendable)?
        let name: String
    }

    init(to store: PreferenceStore) {
        self.store = store
    }

    /// The store for a declaration that names none.
    static var store: PreferenceStore { current?.store ?? .standard }

    /// Remembers a declaration that took the bound store, for `reportStrays`.
    static func note(_ declaration: any AnyObject & Sendable, name: String) {
        guard let current else { return }
        // The argument of `assert` is not evaluated in release builds.
        assert(current.remember(declaration, name: name))
    }

    private func remember(_ declaration: any AnyObject & Sendable, name: String) -> Bool {
        bound.withLock { $0.append(Bound(declaration: declaration, name: name)) }
        return true
    }

    /// Reports the bound preferences that live on but are no part of `group`; always true, for use in `assert`.
    func reportStrays(outside group: Any) -> Bool {
        let own = Set(DeclaredPreferences.all(in: group).flatMap(\.declarationIdentities))
        let strays = bound.withLock { $0 }.filter {
            $0.declaration.map { !own.contains(ObjectIdentifier($0)) } ?? false
        }
        for name in strays.map(\.name) {
            store.report(
                PreferencesError(
                    .misuse,
                    name: name,
                    "a static or global preference was first touched inside \(type(of: group)).init(in:) "
                        + "and is bound to that group's store for good; "
                        + "give it an explicit in:, or don't use it in init()"
                )
            )
        }
        return true
    }
}

/// The preferences that a group holds, nested groups included.
enum DeclaredPreferences {
    /// In the order of declaration.
    static func all(in group: Any) -> [any DeclaredPreference] {
        var found: [any DeclaredPreference] = []
        var seen: Set<ObjectIdentifier> = []
        collect(from: group, into: &found, seen: &seen, depth: 0)
        return found
    }

    private static func collect(
        from value: Any,
        into found: inout [any DeclaredPreference],
        seen: inout Set<ObjectIdentifier>,
        depth: Int
    ) {
        if let preference = value as? any DeclaredPreference {
            found.append(preference)
            return
        }
        // Objects may know each other in circles.
        if type(of: value) is AnyClass, !seen.insert(ObjectIdentifier(value as AnyObject)).inserted { return }
        guard depth < 16 else { return }
        for child in Mirror(reflecting: value).children {
            collect(from: child.value, into: &found, seen: &seen, depth: depth + 1)
        }
    }
}
