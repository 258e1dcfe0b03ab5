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
        // snippet: testing an error
        let backend = FaultInjectingBackend()
        let preferences = GeneralPreferences(in: PreferenceStore(backend: backend))
        let rejected = #expect(throws: PreferenceError.self) { try preferences.$volume.write(11) }
        #expect(rejected?.code == .invalid)

        backend.failNext(.apply)
        let failed = #expect(throws: PreferenceError.self) { try preferences.$volume.write(7) }
        #expect(failed?.code == .unavailable)
        // end
    }
}
