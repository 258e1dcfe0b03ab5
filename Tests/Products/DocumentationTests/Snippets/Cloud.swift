#if canImport(Darwin)
import Preferences
import PreferencesCloud
import PreferencesTesting
import TestSupport
import Testing

// On Linux this is only compared with the guide, and type-checked by `make apple-check`.
struct CloudSnippets {
    // snippet: icloud
    struct ReaderPreferences: PreferenceGroup {
        @Preference("fontSize", in: .ubiquitous()) var fontSize = 14
    }
    // end

    @Test(.isolatedStores)
    func preferenceIsInTheCloudAlone() {
        ReaderPreferences().fontSize = 18
        same(ReaderPreferences().fontSize, 18)
        #expect(PreferenceStore.standard.names.isEmpty)
    }
}
#endif
