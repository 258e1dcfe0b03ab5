import Preferences
import Testing

struct TestingSnippets {
    // snippet: testing
    @Test
    func volumeIsKeptInItsRange() {
        let preferences = GeneralPreferences(in: .inMemory(["volume": 11]))
        #expect(preferences.volume == 5)
    }

    @Test
    func launchIsCounted() throws {
        try PreferenceStore.withIsolatedStores(["launches": 41]) {
            try Defaults.general.launches.update { $0 += 1 }
            #expect(Defaults.general.launches.value == 42)
        }
    }
    // end
}
