// snippet: declaring
import Preferences

enum Theme: String, CaseIterable {
    case system, light, dark
}

nonisolated struct WindowFrame: Codable {
    var x = 0, y = 0, width = 800, height = 600
}

struct GeneralPreferences: PreferenceGroup {
    @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
    @Preference("theme") var theme = Theme.system  // stored by its raw value
    @Preference("window") var window = WindowFrame()  // any Codable
    @Preference("nickname") var nickname: String?  // nil means: not set
    @Preference("volume", .range(0...10)) var volume = 5
    let launches = Preference("launches", default: 0)  // without a wrapper: launches.value
}
// end

// snippet: constant
let preferences = GeneralPreferences()
// end
