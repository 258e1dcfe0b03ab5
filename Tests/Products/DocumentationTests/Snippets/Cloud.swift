#if canImport(Darwin)
import PreferencesTesting
import TestSupport
import Testing

// On Linux this is only compared with the guide, and type-checked by `make apple-check`.
// snippet: icloud
import Preferences
import PreferencesCloud

struct ReaderPreferences: PreferenceGroup {
    @Preference("fontSize", in: .ubiquitous()) var fontSize = 14
}
// end

struct CloudSnippets {
    @Test(.isolatedStores)
    func preferenceIsInTheCloudAlone() {
        ReaderPreferences().fontSize = 18
        same(ReaderPreferences().fontSize, 18)
        #expect(PreferenceStore.standard.names.isEmpty)
    }
}
#endif
