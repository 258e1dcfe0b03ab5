import Preferences
import PreferencesTesting
import Testing

struct TestingSnippets {
    // snippet: testing
    @Test
    func invalidVolumeReadsAsTheDefault() {
        let preferences = GeneralPreferences(in: .inMemory(["volume": 11]))
        #expect(preferences.volume == 5)
    }

    @Test(.isolatedStores(["launches": 41]))
    func launchIsCounted() throws {
        try preferences.launches.update { $0 += 1 }
        #expect(preferences.launches.value == 42)
    }
    // end

    @Test
    func errorsAreComparedByTheirCodes() {
        let volume = Preference("volume", default: 5, .range(0...10), in: .inMemory())
        // snippet: testing an error
        let error = #expect(throws: PreferenceError.self) { try volume.write(11) }
        #expect(error?.code == .invalid)
        // end
    }
}
