import Preferences
import PreferencesInspection
import PreferencesSchema
import TestSupport
import Testing

struct DescribingSnippets {
    // snippet: describing-group
    enum PlayerTheme: String, CaseIterable { case system, dark }

    struct PlayerPreferences: PreferenceGroup {
        @Preference("volume", .range(0...10), .description("How loud it is.")) var volume = 5
        @Preference("theme") var theme = PlayerTheme.system
    }
    // end

    @Test
    func schemaSaysWhatTheGroupDeclares() throws {
        let schema = try PlayerPreferences(in: .inMemory()).jsonSchema()
        same(
            schema,
            """
            {"properties":{"theme":{"default":"system","enum":["system","dark"],"type":"string"},\
            "volume":{"default":5,"description":"How loud it is.","maximum":10,"minimum":0,"type":"integer"}},\
            "type":"object"}
            """
        )
    }

    @Test
    func schemaIsInstalledByTheProgram() throws {
        // snippet: describing-install
        try PlayerPreferences().installSchema()
        // end
        // The standard store of a test is in memory, so nothing was written.
        same(PlayerPreferences().$volume.store.location, nil)
    }

    // Only compiled: a test must not read the user's own suites.
    private func inspected() throws {
        // snippet: inspection
        let suite = try PreferencesFile.store(ofSuite: "com.example.player")
        print(suite.contents)
        // end
    }

    private func printed() throws {
        // snippet: describing-print
        print(try PlayerPreferences().jsonSchema())
        // end
    }
}
