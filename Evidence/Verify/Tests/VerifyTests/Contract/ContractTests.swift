import DurableFile
import Foundation
import PreferencesTesting
import Testing

@testable import Preferences
@testable import PreferencesCloud

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
            #expect(Set(error.violations.map(\.rule)) == WholeDomain.knownLosses, "\(error)")
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
            #expect(broken.subtracting(WholeDomain.losesInRaces) == WholeDomain.knownLosses, "\(error)")
        }
    }
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
