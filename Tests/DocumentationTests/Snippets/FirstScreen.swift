// snippet: player
import Preferences

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("artist") var artist: String?
}
let player = PlayerPreferences()
// end
