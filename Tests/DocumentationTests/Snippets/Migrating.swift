import Preferences
import Testing

struct MigratingSnippets {
    @Test
    func dataMovesOnce() async throws {
        let store = PreferenceStore.inMemory(["userName": "Pitt", "volume": 1, "colour": "red"])
        let preferences = GeneralPreferences(in: store)
        // snippet: migrating
        preferences.$nickname.migrate(from: Preference("userName", in: store))  // under another name before

        try await store.migrate(
            to: 2,
            steps: [
                .init(1) { $0[preferences.$volume] *= 10 },
                .init(2) { $0["colour"] = nil },
            ]
        )
        // end
        #expect(preferences.nickname == "Pitt")
        #expect(preferences.volume == 10)
        #expect(store.names == ["nickname", "preferences.version", "volume"])
    }
}
