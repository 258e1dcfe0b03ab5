import Preferences
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct StoresSnippets {
    @Test
    func preferencesAreKeptInStores() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try PreferenceStore.withIsolatedStores {
            // snippet: stores
            PreferenceStore.applicationIdentifier = "com.example.app"  // before the first read or set; later it traps
            let standard = PreferenceStore.standard  // ~/.config/com.example.app/preferences.jsonl

            let shared = PreferenceStore.suite("com.example.shared")  // ~/.config/com.example.shared/preferences.jsonl
            let project = try PreferenceStore.file(at: folder.appending(path: "project.jsonl"))
            let trial = PreferenceStore.inMemory(["theme": "dark"])  // gone when the process ends

            // The first layer with a value wins: `-volume 3`, `EXAMPLE_VOLUME=3`, the project, the user. A set goes to the project.
            let layers = [.arguments, .environment(prefix: "EXAMPLE"), project, standard]
            let preferences = GeneralPreferences(in: .layered(layers))

            let nickname = preferences.$nickname.bound(to: shared)  // the same preference in another store
            // end
            project["volume"] = 7
            nickname.value = "Pitt"
            #expect(GeneralPreferences(in: trial).theme == .dark)
            #expect(preferences.volume == 7)
            preferences.volume = 3
            #expect(project["volume"] == 3)
            #expect(shared["nickname"] == "Pitt")
            #expect(standard.contents.isEmpty)
        }
    }

    @Test
    func preferencesNameTheirStore() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try PreferenceStore.withIsolatedStores {
            // snippet: choosing
            let volume = Preference("volume", default: 5)  // in .standard: the user's settings of this program
            let licence = Preference<String?>("licence", in: .suite("com.example.shared"))  // several programs share it
            let project = try PreferenceStore.file(at: folder.appending(path: "project.jsonl"))
            let indent = Preference("indent", default: 4, in: project)  // in a file of the user's choice
            // end
            volume.value = 7
            licence.value = "free"
            indent.value = 2
            #expect(PreferenceStore.standard["volume"] == 7)
            #expect(PreferenceStore.suite("com.example.shared")["licence"] == "free")
            #expect(project["indent"] == 2)
        }
    }
}
