import DurableFile
import Foundation
import PreferencesTesting
import Testing

@testable import Preferences

struct ContractTests {
    @Test
    func userDefaultsKeepTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify { WholeDomain(TemporaryDefaults()) }
        } catch {
            let broken = Set(error.violations.map(\.rule))
            #expect(broken.isSubset(of: Self.knownLosses), "\(error)")
        }
    }

    @Test
    func twoBackendsOverOneSuiteKeepTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify {
                let defaults = TemporaryDefaults()
                return PreferenceBackendPlace { WholeDomain(defaults) }
            }
        } catch {
            let broken = Set(error.violations.map(\.rule))
            #expect(broken.isSubset(of: Self.knownLosses.union(Self.losesInRaces)), "\(error)")
        }
    }

    /// What user defaults lose on Linux, and may lose here: a number that only changes its kind, and one of two names that
    /// only differ in how accents are written.
    private static let knownLosses: Set = [
        "Values are equal only where kind and bits are", "Every value comes back with its kind and bits",
        "Names that are equal as Swift strings are one name",
    ]

    /// What only a store with transactions keeps.
    private static let losesInRaces: Set = [
        "Nobody sees half of a set of changes", "Of changes on one condition that race, one is stored",
        "What an instance sets and is told adds up to what is stored",
    ]
}

extension WholeDomain {
    /// Creates a backend over the suite, which exists as long as the backend.
    fileprivate convenience init(_ defaults: TemporaryDefaults) {
        let observers = Log<NotificationObserver>()
        self.init(
            UserDefaultsBackend(
                defaults.reopened(),
                sizeLimit: UserDefaultsSizeLimit(limit: .max),
                observer: KeyValueObserver.make
            ),
            names: { Set(defaults.object.persistentDomain(forName: defaults.suite)?.keys.map { $0 } ?? []) },
            onChange: { body in
                observers.append(NotificationObserver(of: UserDefaults.didChangeNotification) { _ in body() })
            }
        )
    }
}
