// swiftc: -default-isolation MainActor
import Preferences

// What doesn't say that it is nonisolated is on the main actor, where other threads can't reach it.

struct WindowFrame: Codable { var x = 0 }

struct GeneralPreferences: PreferenceGroup {
    @Preference("window") var window = WindowFrame()  // error: main actor-isolated conformance of 'WindowFrame'
    @Preference("count") var count = 0
}

enum Defaults {
    static let general = GeneralPreferences()
}

nonisolated func anywhere() {
    Defaults.general.count = 1  // error: main actor-isolated static property 'general'
}
