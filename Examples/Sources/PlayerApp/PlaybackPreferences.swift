import Preferences

/// The preferences that the app shares with its intents and widgets.
struct PlaybackPreferences: PreferenceGroup {
    @Preference("volume", .range(0...10), .description("How loud the music is.")) var volume = 5
    @Preference("crossfades") var crossfades = false

    /// The preferences of the app group.
    static let shared = PlaybackPreferences(in: .suite("group.com.example.player"))
}

/// The app's appearance, which it doesn't share, so it is in a separate store.
struct AppearancePreferences: PreferenceGroup {
    @Preference("theme") var theme = Theme.system
    @Preference("showsArtist") var showsArtist = true
    @Preference("showsStars") var showsStars = false
}

enum Theme: String, CaseIterable, Sendable {
    case system, light, dark
}
