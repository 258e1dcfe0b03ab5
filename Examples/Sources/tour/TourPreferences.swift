import Foundation
import Preferences

/// All preferences of the tour, each with its name, type and default.
struct TourPreferences: PreferenceGroup {
    @Preference("launches") var launches = 0
    @Preference("lastLaunch") var lastLaunch: Date?
    @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
    @Preference("theme") var theme = Theme.system
    @Preference("window") var window = WindowFrame()
    @Preference("nickname", .length(1...20)) var nickname: String?
    @Preference("volume", .range(0...10), .description("From 0, silent, to 10")) var volume = 5
}

enum Theme: String, CaseIterable {
    case system, light, dark
}

struct WindowFrame: Codable {
    var x = 40
    var y = 40
    var width = 800
    var height = 600
}
