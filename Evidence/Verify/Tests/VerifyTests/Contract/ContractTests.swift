import Foundation
import PreferencesTesting
import Testing

@testable import Preferences
@testable import PreferencesCloud

struct ContractTests {
    @Test
    func cloudBackendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            CloudBackend(FakeCloud(), limits: CloudLimits(nameSize: .max, nameCount: .max, size: .max))
        }
    }

    /// The rules that Foundation's user defaults break on Linux, and Apple's might break.
    private static let knownLosses: Set = [
        // They keep the old value if the new one equals it: 2 and 2.0, and strings that differ only in how accents are written.
        "Every value is read back with its type and bits",
        // They treat such names as different.
        "Names that are equal as Swift strings are one name",
    ]

    @Test
    func userDefaultsBackendsOverOneDomainKeepTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify {
                let domain = SharedDomain(ObservableDefaults())
                return PreferenceBackendPlace {
                    UserDefaultsBackend(
                        // Of a domain whose name isn't known: Foundation copies all of its values for each read of it alone.
                        SharedUserDefaults(object: domain.defaults),
                        sizeLimit: UserDefaultsSizeLimit(limit: .max)
                    ) { [watch = domain.defaults.watch] _, deliver in watch.observer(deliver) }
                }
            }
            Issue.record("user defaults keep more than was known")
        } catch {
            #expect(Set(error.violations.map(\.rule)) == Self.knownLosses, "\(error)")
        }
    }
}
