import Preferences
import PreferencesTesting
import Testing

struct TestingSnippets {
    // snippet: testing
    @Test
    func volumeIsKeptInItsRange() {
        let preferences = GeneralPreferences(in: .inMemory(["volume": 11]))
        #expect(preferences.volume == 5)
    }

    @Test(.isolatedStores(["launches": 41]))
    func launchIsCounted() throws {
        try Defaults.general.launches.update { $0 += 1 }
        #expect(Defaults.general.launches.value == 42)
    }
    // end
}
