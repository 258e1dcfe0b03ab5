import Preferences
import PreferencesTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.isolatedStores)
struct ServicesSnippets {
    // snippet: service
    struct Service: PreferenceGroup {
        @Preference("port", .range(1...65535)) var port = 8080
        @Preference("apiToken", .secret) var apiToken: String?
        let starts = Preference("starts", default: 0, in: .state)
    }
    // end

    @Test
    func serviceHasItsLayers() {
        // snippet: layers of a service
        let store = PreferenceStore.layered([.credentials, .environment(prefix: "PLAYER"), .standard])
        let service = Service(in: store)
        // end
        service.starts.value += 1
        #expect(service.port == 8080 && service.apiToken == nil)
        #expect(PreferenceStore.state["starts"] == 1 && PreferenceStore.standard["starts"] == nil)
    }

    @Test
    func generatedFileIsBelowAWritableLayer() {
        // snippet: generated settings
        let generated = URL(filePath: "/home/ada/.config/player/settings.json")
        let user = PreferenceStore.layered([.state, .settingsFile(at: generated)])
        let preferences = GeneralPreferences(in: user)
        // end
        preferences.volume = 7
        same(PreferenceStore.state["volume"], 7)
    }
}
