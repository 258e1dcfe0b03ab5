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
            #expect(broken.isSubset(of: WholeDomain.knownLosses), "\(error)")
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
            #expect(broken.isSubset(of: WholeDomain.knownLosses.union(WholeDomain.losesInRaces)), "\(error)")
        }
    }
}

extension WholeDomain {
    /// Creates a backend over the suite, which exists until the backend is released.
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
