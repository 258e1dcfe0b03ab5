// swiftc: -default-isolation MainActor -parse-as-library
import PreferencesMacros

// In a module that is isolated to the main actor by default, groups are nonisolated, like those without the macro.

nonisolated enum Theme: String { case light, dark }

@PreferenceGroup
struct Player {
    @Options(.range(0...10), .title("Volume")) var volume = 5
    var theme = Theme.light
    @Key("nick") @Options(.formerly("nickname"), .length(1...)) var nickname = ""
    @Transient var selection = 0
}

@PreferenceGroup
final class BrowserSettings {
    var theme = Theme.light
    @Key("nick") @Options(.formerly("nickname"), .length(1...)) var nickname = ""
    @Transient var selection = 0
}

@PreferenceGroup
nonisolated final class Explicit {
    var theme = Theme.light
    @Transient var selection = 0
}

nonisolated let player = Player()
nonisolated enum Prefs { static let settings = BrowserSettings() }

nonisolated func anywhere() {
    player.volume = 7
    player.$theme.reset()
    Prefs.settings.theme = .dark
    Prefs.settings.selection += 1
    Prefs.settings._nickname.reset()
    Explicit(in: .inMemory()).selection = Player(in: .inMemory()).selection
}

nonisolated func take(_ group: some Observable & PreferenceGroup) {}

nonisolated func pass(_ settings: BrowserSettings, _ player: Player) {
    take(settings)
    let _: any Observable & Sendable = settings
    let _: any PreferenceGroup = player
}

@concurrent func elsewhere() async { BrowserSettings(in: .inMemory()).theme = .dark }

final class Model {
    let settings = BrowserSettings(in: .inMemory())
    func select() { settings.selection = 1 }
}
