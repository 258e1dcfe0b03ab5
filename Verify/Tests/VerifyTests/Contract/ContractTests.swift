import DurableFile
import Foundation
import PreferencesTesting
import Testing

@testable import Preferences

struct ContractTests {
    @Test
    func cloudBackendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify { CloudBackend(FakeCloud(), limits: .none) }
    }

    @Test
    func userDefaultsBackendKeepsTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify { WholeDomain(ObservableDefaults()) }
            Issue.record("user defaults keep more than was known")
        } catch {
            #expect(Set(error.violations.map(\.rule)) == Self.knownLosses, "\(error)")
        }
    }

    @Test
    func userDefaultsBackendsOverOneDomainKeepTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify {
                let domain = SharedDomain(ObservableDefaults())
                return PreferenceBackendPlace { WholeDomain(domain.defaults) }
            }
            Issue.record("user defaults keep more than was known")
        } catch {
            let broken = Set(error.violations.map(\.rule))
            #expect(broken.subtracting(Self.losesInRaces) == Self.knownLosses, "\(error)")
        }
    }

    /// What Foundation's user defaults lose on Linux.
    private static let knownLosses: Set = [
        // They keep the old value where the new one equals it: 2 and 2.0, and texts that only differ in how accents are
        // written.
        "Values are equal only where kind and bits are", "Every value comes back with its kind and bits",
        // Such names are two for them.
        "Names that are equal as Swift strings are one name",
    ]

    /// What only a store with transactions keeps, and user defaults break where others come in between.
    private static let losesInRaces: Set = [
        "Nobody sees half of a set of changes", "Of changes on one condition that race, one is stored",
        "What an instance sets and is told adds up to what is stored",
    ]
}

extension CloudLimits {
    /// For the contract's own names and values, some of which are longer than the cloud takes.
    fileprivate static let none = CloudLimits(nameSize: .max, nameCount: .max, size: .max)
}

/// A backend over user defaults used as a store does that uses every name of the domain: it reads before it compares, and
/// writes once the lock is released.
private final class WholeDomain: PreferenceBackend {
    private let backend: UserDefaultsBackend
    private let watch: DefaultsWatch
    private let names = Lock<Set<String>>([])

    init(_ defaults: ObservableDefaults) {
        watch = defaults.watch
        backend = UserDefaultsBackend(
            SharedUserDefaults(object: defaults),
            sizeLimit: UserDefaultsSizeLimit(limit: .max)
        ) { [watch] _, deliver in watch.observer(deliver) }
    }

    /// Reads the names that somebody wrote, and tells what new ones hold.
    private func discover(_ others: some Sequence<String>) -> [String: PropertyListValue?] {
        let (all, new) = names.withLock { names in
            let new = Set(watch.writes).union(others).subtracting(names)
            names.formUnion(new)
            return (names, new)
        }
        _ = backend.revalidate(all)
        return backend.values(for: new).mapValues { $0 }
    }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        watch.onChange { host.changed() }
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
        backend.didApply()
        return commit
    }

    func sync() {}
    func isManaged(_ name: String) -> Bool { backend.isManaged(name) }
}
