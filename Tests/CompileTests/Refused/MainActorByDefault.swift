// swiftc: -default-isolation MainActor
import Preferences

// A type that isn't declared nonisolated is isolated to the main actor, and other threads can't use it.

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
