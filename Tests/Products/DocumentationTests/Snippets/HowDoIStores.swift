import Preferences
import PreferencesTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The answers of the page *How do I …* about stores and migrations.

struct HowToStore {
    @Test(.isolatedStores)
    func programsChooseTheirIdentifier() {
        let output = Output()
        let print = output.print
        // snippet: how identifier
        PreferenceStore.applicationIdentifier = "com.example.app"  // before the first read or set
        print(PreferenceStore.standard.location?.path ?? "in memory")
        // end
        same(output.lines, ["in memory"])
    }

    @Test
    func filesHoldPreferences() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        // snippet: how file
        let store = try PreferenceStore.file(at: folder.appending(path: "project.jsonl"))
        let project = GeneralPreferences(in: store)
        // end
        project.volume = 7
        same(store.contents, ["volume": 7])
    }

    @Test(.isolatedStores)
    func suitesAreShared() {
        // snippet: how suite
        let shared = PreferenceStore.suite("com.example.shared")
        let preferences = GeneralPreferences(in: shared)
        // end
        preferences.volume = 7
        same(PreferenceStore.suite("com.example.shared").contents, ["volume": 7])
    }

    @Test(.isolatedStores)
    func onePreferenceIsInAnotherStore() {
        // snippet: how one elsewhere
        struct PlayerPreferences: PreferenceGroup {
            @Preference("volume") var volume = 5
            @Preference("licence", in: .suite("com.example.shared")) var licence: String?
        }
        // end
        PlayerPreferences().licence = "free"
        same(PreferenceStore.suite("com.example.shared").contents, ["licence": "free"])
    }

    @Test(.isolatedStores)
    func accountsHavePrefixes() {
        // snippet: how scope
        let ada = GeneralPreferences(in: .standard.scoped("account", id: "1"))
        let pitt = GeneralPreferences(in: .standard.scoped("account", id: "2"))
        // end
        ada.volume = 1
        pitt.volume = 2
        same(PreferenceStore.standard.contents, ["account.1.volume": 1, "account.2.volume": 2])
    }

    @Test
    func valuesAreCopied() throws {
        let store = PreferenceStore.inMemory(["volume": 3])
        let other = PreferenceStore.inMemory()
        // snippet: how copy
        try other.transaction { transaction in
            for (name, value) in store.contents { transaction[name] = value }
        }
        // end
        same(other.contents, ["volume": 3])
    }

    @Test
    func renamedPreferencesAreRead() {
        let store = PreferenceStore.inMemory(["userName": "Pitt"])
        let preferences = RenamedPreferences(in: store)
        same(preferences.nickname, "Pitt")
        preferences.nickname = "Ella"
        same(store.contents, ["nickname": "Ella"])
    }

    // snippet: how rename
    struct RenamedPreferences: PreferenceGroup {
        @Preference("nickname", .formerly("userName")) var nickname = ""
    }
    // end

    @Test
    func migrationsRunOnce() throws {
        let store = PreferenceStore.inMemory(["volume": 1, "colour": "red"])
        let preferences = GeneralPreferences(in: store)
        // snippet: how migrate
        try store.migrate(
            to: 2,
            steps: [
                .init(1) { $0[preferences.$volume]? *= 10 },
                .init(2) { $0["colour"] = nil },
            ]
        )
        // end
        same(preferences.volume, 10)
        same(store.names, ["preferences.version", "volume"])
    }
}
