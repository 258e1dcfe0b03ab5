/// A type whose properties are preferences.
///
/// A group is a struct, an actor, or a final class whose preferences are plain values. `init()` declares its preferences in the
/// standard store, `init(in:)` in another one. The compiler writes `init()` unless the group is `public`.
///
///     struct GeneralPreferences: PreferenceGroup {
///         @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
///     }
///     let preview = GeneralPreferences(in: .inMemory())
public protocol PreferenceGroup: Sendable {
    /// Creates the group in the standard store, or in the store that `init(in:)` was called with.
    init()
}

extension PreferenceGroup {
    /// Creates the group in another store.
    ///
    ///     let preview = GeneralPreferences(in: .inMemory())
    ///
    /// Binds the preferences that are created while `init()` runs, including those of nested groups, but not lazy or computed properties,
    /// nor those with an explicit `in:`. Over a store that stands for another, in memory or of a draft, these, and nested groups with a
    /// store of their own, get a stand-in of it, the same in all groups over that store. A static or global preference whose first use is in
    /// `init()` is bound by accident, too; debug builds report that to the store's issue handler as `misuse`, and two properties that have
    /// one name.
    ///
    /// - Parameter store: The store of the group's preferences.
    public init(in store: PreferenceStore) {
        let binding = GroupBinding(to: GroupBinding.store(for: store))
        self = GroupBinding.$current.withValue(binding) { Self() }
        assert(binding.reportAccidentallyBound(outside: self))
        assert(DeclaredPreferences.reportEqualNames(in: self))
    }
}

extension PreferenceGroup {
    /// The preferences of the group and its nested groups, in the order of their declaration.
    ///
    /// For a page of settings, a report, or a test. A property of the group with this name hides it. If two properties have one name
    /// in one store, that is reported once as `misuse`.
    public var preferences: [AnyPreference] {
        let properties = DeclaredPreferences.properties(of: self)
        DeclaredPreferences.reportEqualNames(among: properties, of: Self.self)
        return properties.map { AnyPreference(base: $0.preference) }
    }

    /// Removes the stored values of the group's preferences, in one step for each store, so that the defaults are read.
    ///
    /// A managed preference is left as it is. A preference of a member of a value is set to that member of the default, in a step
    /// for itself. An error is reported to the store's issue handler; nothing of that store is changed then. So it is if a secret of
    /// the group is locked.
    public func reset() {
        let set = preferences.filter { preference in
            let isStored = preference.isSet || preference.store.resolved.core.isLocked(preference.name)
            return isStored && !preference.isManaged
        }
        for member in set where member.isMember { member.reset() }
        let whole = Dictionary(grouping: set.filter { !$0.isMember }) { ObjectIdentifier($0.store) }
        for preferences in whole.values {
            let core = preferences[0].store.resolved.core
            let changes = preferences.flatMap { core.changes(of: core.node($0.name), to: nil) }
            if let error = core.set(changes) { core.report(error) }
        }
    }
}

/// The store that `PreferenceGroup.init(in:)` gives to the preferences that are created while it runs.
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

    /// The store of a declaration without an explicit one.
    static var store: PreferenceStore { current?.store ?? .standard }

    /// The store of a member, or a nested group, that has one of its own: in a group over a store that stands for another, a stand-in of it.
    static func store(for own: PreferenceStore) -> PreferenceStore {
        guard let store = current?.store, store !== own, let standIns = store.resolved.standIns else { return own }
        return standIns.standIn(for: own)
    }

    /// Records a declaration that got the bound store, for `reportAccidentallyBound`.
    static func record(_ declaration: any AnyObject & Sendable, name: String) {
        guard let current else { return }
        // The argument of `assert` is not evaluated in release builds.
        assert(current.append(declaration, name: name))
    }

    private func append(_ declaration: any AnyObject & Sendable, name: String) -> Bool {
        bound.withLock { $0.append(Bound(declaration: declaration, name: name)) }
        return true
    }

    /// Reports the bound preferences that still exist but don't belong to `group`; always returns true, for use in `assert`.
    func reportAccidentallyBound(outside group: Any) -> Bool {
        let own = Set(DeclaredPreferences.all(in: group).flatMap(\.declarationIdentities))
        let foreign = bound.withLock { $0 }.filter {
            $0.declaration.map { !own.contains(ObjectIdentifier($0)) } ?? false
        }
        for name in foreign.map(\.name) {
            store.report(
                PreferenceError(
                    .misuse,
                    name: name,
                    "a static or global preference was first used inside \(type(of: group)).init(in:) "
                        + "and stays bound to that group's store; "
                        + "give it an explicit in:, or don't use it in init()"
                )
            )
        }
        return true
    }
}

/// The preferences of a group and its nested groups.
package enum DeclaredPreferences {
    /// A preference, and the property that has it.
    struct Property {
        let preference: any DeclaredPreference
        /// The names of the properties that lead to it, joined by dots.
        let path: String
        /// The type that has the property.
        let owner: ObjectIdentifier

        /// Returns whether both are one property of a type, of which the group may have several values.
        func isSame(as other: Property) -> Bool {
            owner == other.owner && path.split(separator: ".").last == other.path.split(separator: ".").last
        }
    }

    /// Returns the preferences of a group in the order of declaration.
    package static func all(in group: Any) -> [any DeclaredPreference] { properties(of: group).map(\.preference) }

    /// Returns the preferences of a group with their properties, in the order of declaration.
    static func properties(of group: Any) -> [Property] {
        var found: [Property] = []
        var seen: Set<ObjectIdentifier> = []
        collect(from: group, at: "", of: type(of: group), into: &found, seen: &seen, depth: 0)
        return found
    }

    private static func collect(
        from value: Any,
        at path: String,
        of owner: Any.Type,
        into found: inout [Property],
        seen: inout Set<ObjectIdentifier>,
        depth: Int
    ) {
        if let preference = value as? any DeclaredPreference {
            found.append(Property(preference: preference, path: path, owner: ObjectIdentifier(owner)))
            return
        }
        // Objects may refer to each other in cycles.
        if type(of: value) is AnyClass, !seen.insert(ObjectIdentifier(value as AnyObject)).inserted { return }
        guard depth < 16 else { return }
        let mirror = Mirror(reflecting: value)
        for child in mirror.children {
            let label = mirror.displayStyle == .optional ? "" : child.label ?? ""
            // A wrapped property is stored with an underscore before its name.
            let property =
                child.value is any DeclaredPreference && label.hasPrefix("_") ? label.dropFirst() : label[...]
            collect(
                from: child.value,
                at: [path, String(property)].filter { !$0.isEmpty }.joined(separator: "."),
                of: mirror.subjectType,
                into: &found,
                seen: &seen,
                depth: depth + 1
            )
        }
    }

    /// Reports properties of a group that have one name in one store, once; always returns true, for use in `assert`.
    @discardableResult
    static func reportEqualNames(in group: some PreferenceGroup) -> Bool {
        reportEqualNames(among: properties(of: group), of: type(of: group))
        return true
    }

    static func reportEqualNames(among properties: [Property], of group: Any.Type) {
        var first: [String: [Property]] = [:]
        for property in properties where !property.preference.isMember {
            let preference = property.preference
            let same = first[preference.name, default: []].first { $0.preference.store === preference.store }
            guard let same else {
                first[preference.name, default: []].append(property)
                continue
            }
            // A property may show the preference of another one.
            guard same.preference.declarationIdentities != preference.declarationIdentities,
                !same.isSame(as: property)
            else { continue }
            preference.store.resolved.core.reportOnce(
                PreferenceError(
                    .misuse,
                    name: preference.name,
                    "the properties \"\(same.path)\" and \"\(property.path)\" of \(group) have this name, so each shows "
                        + "what is set in the other; give each its own name"
                )
            )
        }
    }
}
