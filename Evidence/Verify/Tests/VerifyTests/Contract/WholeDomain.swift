
@testable import Preferences
@testable import PreferencesCloud

/// A backend over user defaults, used as by a store that uses every name of the domain: it reads before it compares,
/// and writes after the lock is released.
final class WholeDomain: PreferenceBackend {
    private let backend: UserDefaultsBackend
    private let written: @Sendable () -> Set<String>
    private let onChange: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let names = Lock<Set<String>>([])
    private let host = Lock<PreferenceBackendHost?>(nil)

    /// Creates a backend over defaults that list their names; `onChange` gets a closure to call after each change.
    init(
        _ backend: UserDefaultsBackend,
        names: @escaping @Sendable () -> Set<String>,
        onChange: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.backend = backend
        written = names
        self.onChange = onChange
    }

    /// Reads all names; returns the values of those that were written since, and passes them on.
    private func discover(_ others: some Sequence<String>) -> [String: PropertyListValue] {
        let written = written()
        let (all, new) = names.withLock { names in
            let new = written.union(others).subtracting(names)
            names.formUnion(new)
            return (names, new)
        }
        backend.revalidate(all)
        let discovered = backend.values(for: new)
        host.withLock { $0 }?.collect(discovered.mapValues { $0 })
        return discovered
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        onChange { host.changed() }
        let loaded = try backend.load(host: host)
        defer { self.host.withLock { $0 = host } }
        return loaded.merging(discover([])) { $1 }
    }

    func catchUp() { _ = discover([]) }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        _ = discover(Array(changes.keys) + Array(condition.values.keys))
        let commit = try backend.apply(changes, if: condition)
        backend.writeApplied()
        return commit
    }

    func isManaged(_ name: String) -> Bool { backend.isManaged(name) }
}

extension WholeDomain {
    /// The rules that Foundation's user defaults break on Linux, and Apple's may break.
    static let knownLosses: Set = [
        // They keep the old value if the new one equals it: 2 and 2.0, and strings that differ only in how accents are
        // written.
        "Values are equal only if their types and bits are", "Every value is read back with its type and bits",
        // They treat such names as different.
        "Names that are equal as Swift strings are one name",
    ]

    /// The rules that only a store with transactions keeps, and user defaults break if other code writes in between.
    static let losesInRaces: Set = [
        "A set of changes is read whole or not at all", "Of racing changes with one condition, one is stored",
        "An instance's own and external changes add up to the stored values",
    ]
}

extension CloudLimits {
    /// The backend for the contract's names and values, some of which exceed the cloud's limits.
    static let none = CloudLimits(nameSize: .max, nameCount: .max, size: .max)
}
