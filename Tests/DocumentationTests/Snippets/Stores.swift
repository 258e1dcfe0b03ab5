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
            PreferenceStore.applicationIdentifier = "com.example.app"  // first thing; else the executable's name
            let standard = PreferenceStore.standard  // ~/.config/com.example.app/preferences.jsonl

            let shared = PreferenceStore.suite("com.example.shared")  // a name that several programs agree on
            let project = try PreferenceStore.file(at: folder.appending(path: "project.jsonl"))
            let trial = PreferenceStore.inMemory(["theme": "dark"])

            // The first that has a name answers: `-volume 3`, `EXAMPLE_VOLUME=3`, what is tried, the project, the user.
            let layers = [.arguments, .environment(prefix: "EXAMPLE"), trial, project, standard]
            let preferences = GeneralPreferences(in: .layered(layers))

            let nickname = preferences.$nickname.bound(to: shared)  // the same preference elsewhere
            // end
            project.set(7, for: "volume")
            nickname.value = "Pitt"
            #expect(preferences.theme == .dark)
            #expect(preferences.volume == 7)
            #expect(shared["nickname"] == "Pitt")
            #expect(standard.contents.isEmpty)
        }
    }
}
