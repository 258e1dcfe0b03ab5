import DurableFile

@testable import Preferences

/// A backend over user defaults used as by a store that uses every name of the domain: it reads before it compares,
/// and writes once the lock is released.
final class WholeDomain: PreferenceBackend {
    private let backend: UserDefaultsBackend
    private let written: @Sendable () -> Set<String>
    private let onChange: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let names = Lock<Set<String>>([])

    /// Creates a backend over defaults that list their names, and call what is given to `onChange` after each change.
    init(
        _ backend: UserDefaultsBackend,
        names: @escaping @Sendable () -> Set<String>,
        onChange: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.backend = backend
        written = names
        self.onChange = onChange
    }

    /// Reads all names, and returns the values of those that were written since.
    private func discover(_ others: some Sequence<String>) -> [String: PropertyListValue?] {
        let written = written()
        let (all, new) = names.withLock { names in
            let new = written.union(others).subtracting(names)
            names.formUnion(new)
            return (names, new)
        }
        _ = backend.revalidate(all)
        return backend.values(for: new).mapValues { $0 }
    }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        onChange { host.changed() }
        return try backend.load(host: host).merging(discover([]).compactMapValues { $0 }) { $1 }
    }

    func refresh() -> [String: PropertyListValue?] {
        let discovered = discover([])
        return backend.refresh().merging(discovered) { old, _ in old }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        let discovered = discover(Array(changes.keys) + Array(condition.values.keys))
        var commit = try backend.apply(changes, if: condition)
        commit.outside.merge(discovered) { told, _ in told }
        backend.write()
        return commit
    }

    func sync() {}
    func isManaged(_ name: String) -> Bool { backend.isManaged(name) }
}

extension WholeDomain {
    /// What Foundation's user defaults lose on Linux, and Apple's may lose.
    static let knownLosses: Set = [
        // They keep the old value where the new one equals it: 2 and 2.0, and texts that only differ in how accents are
        // written.
        "Values are equal only where kind and bits are", "Every value comes back with its kind and bits",
        // Such names are two for them.
        "Names that are equal as Swift strings are one name",
    ]

    /// What only a store with transactions keeps, and user defaults break where others come in between.
    static let losesInRaces: Set = [
        "Nobody sees half of a set of changes", "Of changes on one condition that race, one is stored",
        "What an instance sets and is told adds up to what is stored",
    ]
}

extension CloudLimits {
    /// For the contract's own names and values, some of which are longer than the cloud takes.
    static let none = CloudLimits(nameSize: .max, nameCount: .max, size: .max)
}
