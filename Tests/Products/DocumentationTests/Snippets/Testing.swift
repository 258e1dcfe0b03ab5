import Preferences
import PreferencesTesting
import Testing

struct TestingSnippets {
    // snippet: testing
    @Test(.isolatedStores(["volume": 9]))
    func playerIsLoud() {
        #expect(player.volume == 9)
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
