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
}
