import Foundation
import PreferencesTesting
import Testing

@testable import Preferences

struct ContractTests {
    /// The rules that Foundation's user defaults break on Linux, and Apple's might break.
    private static let knownLosses: Set = [
        "Every value is read back with its type and bits", "Names that are equal as Swift strings are one name",
    ]

    @Test
    func userDefaultsKeepTheContractButForKnownLosses() async throws {
        do {
            try await PreferenceBackendContract.verify {
                let defaults = TemporaryDefaults()
                return PreferenceBackendPlace {
                    UserDefaultsBackend(
                        defaults.reopened(),
                        sizeLimit: UserDefaultsSizeLimit(limit: .max),
                        observer: KeyValueObserver.make
                    )
                }
            }
        } catch {
            #expect(Set(error.violations.map(\.rule)).isSubset(of: Self.knownLosses), "\(error)")
        }
    }
}
