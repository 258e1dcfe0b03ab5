import DurableFile
import Foundation
import PreferencesTesting
import Testing

@testable import Preferences
@testable import PreferencesCloud

struct ContractTests {
    /// The rules that Foundation's user defaults break on Linux: they keep the old value if the new one equals it, as 2 and 2.0, and treat
    /// names as different that are equal as Swift strings.
    private static let knownLosses: Set = [
        "Every value is read back with its type and bits", "Names that are equal as Swift strings are one name",
    ]

    @Test
    func cloudBackendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            CloudBackend(FakeCloud(), limits: CloudLimits(nameSize: .max, nameCount: .max, size: .max))
        }
    }

    @Test
    func userDefaultsBackendsKeepTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify {
                let domain = SharedDomain(ObservableDefaults())
                return PreferenceBackendPlace {
                    UserDefaultsBackend(
                        domain.defaults.shared,
                        sizeLimit: UserDefaultsSizeLimit(limit: .max),
                        runLater: { $1() }
                    ) { [watch = domain.defaults.watch] _, deliver in watch.observer(deliver) }
                }
            }
            Issue.record("user defaults keep more than was known")
        } catch {
            #expect(Set(error.violations.map(\.rule)) == Self.knownLosses, "\(error)")
        }
    }
}
