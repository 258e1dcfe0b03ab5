// The README's first example, as it stands there.

import Preferences

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("artist") var artist: String?
}
let player = PlayerPreferences()  // a handle, so `let` is enough
let observation = player.$volume.observe { print("volume: \($0.old) → \($0.new)") }
player.volume = player.volume == 7 ? 3 : 7  // is stored when it returns
