#if canImport(Darwin)
import Preferences

// The snippet about iCloud, which has no mock of its store; on Linux it is only compared with the guide.

// snippet: icloud
struct ReaderPreferences: PreferenceGroup {
    @Preference("fontSize", in: .ubiquitous()) var fontSize = 14
}
// end
#endif
