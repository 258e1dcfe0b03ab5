// swiftc: -default-isolation MainActor
import PreferencesMacros

// In a module that is isolated to the main actor by default, groups are nonisolated, like those without the macro.

nonisolated enum Theme: String { case light, dark }

@PreferenceGroup
struct Player {
    @Rule(.range(0...10)) var volume = 5
    var theme = Theme.light
    @Key("nick", migratingFrom: "nickname") var nickname = ""
    @Transient var selection = 0
}

@PreferenceGroup
final class Settings {
    var theme = Theme.light
    @Key("nick", migratingFrom: "nickname") var nickname = ""
    @Transient var selection = 0
}

@PreferenceGroup
nonisolated final class Explicit {
    var theme = Theme.light
    @Transient var selection = 0
}

nonisolated enum Defaults {
    static let player = Player()
    static let settings = Settings()
}

nonisolated func anywhere() {
    Defaults.player.volume = 7
    Defaults.player.$theme.reset()
    Defaults.player.migrate()
    Defaults.settings.theme = .dark
    Defaults.settings.selection += 1
    Defaults.settings._nickname.reset()
    Defaults.settings.migrate()
    Explicit(in: .inMemory()).selection = Player(in: .inMemory()).selection
}

nonisolated func take(_ group: some Observable & PreferenceGroup) {}

nonisolated func pass(_ settings: Settings, _ player: Player) {
    take(settings)
    let _: any Observable & Sendable = settings
    let _: any PreferenceGroup = player
}

@concurrent func elsewhere() async { Settings(in: .inMemory()).theme = .dark }

final class Model {
    let settings = Settings(in: .inMemory())
    func select() { settings.selection = 1 }
}
