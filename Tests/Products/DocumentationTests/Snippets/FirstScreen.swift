import Preferences

/// The README's first example, which `Examples` compiles as it stands there, for its other snippets.
struct PlayerPreferences: PreferenceGroup {
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("artist") var artist: String?
}
let player = PlayerPreferences()

// snippet: options
struct AppearancePreferences: PreferenceGroup {
    @Preference("theme") var theme = Theme.system  // an enum, stored by its raw value
    @Preference("window") var window = WindowFrame()  // any Codable
    @Preference("fontSize", .range(8...72), .formerly("size")) var fontSize = 12
}
// end
