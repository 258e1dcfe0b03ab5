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

extension WholeDomain {
    fileprivate convenience init(_ defaults: ObservableDefaults) {
        let backend = UserDefaultsBackend(
            SharedUserDefaults(object: defaults),
            sizeLimit: UserDefaultsSizeLimit(limit: .max)
        ) { [watch = defaults.watch] _, deliver in watch.observer(deliver) }
        self.init(
            backend,
            names: { [watch = defaults.watch] in Set(watch.writes) },
            onChange: { [watch = defaults.watch] in watch.onChange($0) }
        )
    }
}
