import Preferences
import PreferencesTesting
import Testing

@testable import PlayerApp

// The test in the guide *Getting started with SwiftUI*.

struct PlayerAppSnippets {
    // snippet: test of the app
    @Test(.isolatedStores(["theme": "dark"]))
    func storedThemeIsRead() {
        #expect(AppearancePreferences().theme == .dark)
    }
    // end
}
