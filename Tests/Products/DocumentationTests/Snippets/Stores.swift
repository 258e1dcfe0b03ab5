import Preferences
import PreferencesTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct StoresSnippets {
    @Test(.isolatedStores)
    func suiteIsShared() {
        // snippet: sharing
        let shared = PreferenceStore.suite("com.example.shared")  // on Apple's platforms an app group
        let player = PlayerPreferences(in: .layered([.arguments, .environment(prefix: "PLAYER"), shared]))
        // end
        player.volume = 3
        same(shared["volume"], 3)
    }

    @Test
    func preferencesNameTheirStore() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try PreferenceStore.withIsolatedStores {
            // snippet: choosing
            let volume = Preference("volume", default: 5)  // in .standard: the user's settings of this program
            let licence = Preference<String?>("licence", in: .suite("com.example.shared"))  // several programs share it

            func indent(in folder: URL) throws -> Preference<Int> {
                let project = try PreferenceStore.file(at: folder.appending(path: "project.jsonl"))
                return Preference("indent", default: 4, in: project)  // in a file that goes with the user's documents
            }
            // end
            volume.value = 7
            licence.value = "free"
            try indent(in: folder).value = 2
            same(PreferenceStore.standard["volume"], 7)
            same(PreferenceStore.suite("com.example.shared")["licence"], "free")
            try same(indent(in: folder).value, 2)
        }
    }
}
