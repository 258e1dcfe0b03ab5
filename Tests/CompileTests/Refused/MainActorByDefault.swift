// swiftc: -default-isolation MainActor -parse-as-library
import Preferences

// A type that isn't declared nonisolated is isolated to the main actor, and other threads can't use it.

struct WindowFrame: Codable { var x = 0 }

struct GeneralPreferences: PreferenceGroup {
    @Preference("window") var window = WindowFrame()  // error: main actor-isolated conformance of 'WindowFrame'
    @Preference("count") var count = 0
}

let preferences = GeneralPreferences()

enum Prefs {
    static let general = GeneralPreferences()
}

nonisolated func anywhere() {
    preferences.count = 1  // error: main actor-isolated let 'preferences' can not be referenced from a nonisolated
    Prefs.general.count = 1  // error: main actor-isolated static property 'general'
}

// A group is nonisolated already, and must not be declared so.

nonisolated struct MarkedPreferences: PreferenceGroup {
    @Preference("count") var count = 0  // error: 'nonisolated' cannot be applied to mutable stored properties
}
