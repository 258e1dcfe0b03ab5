// swiftc: -default-isolation MainActor
import Preferences

// In a module that is isolated to the main actor by default, groups are nonisolated, as PreferenceGroup is Sendable. The
// namespace and a struct of values are declared nonisolated.

nonisolated struct WindowFrame: Codable { var x = 0 }
nonisolated enum Theme: String { case light, dark }

struct GeneralPreferences: PreferenceGroup {
    @Preference("theme") var theme = Theme.light
    @Preference("window") var window = WindowFrame()
    @Preference("nickname") var nickname: String?
    let count = Preference("count", default: 0)
}

nonisolated enum Defaults {
    static let general = GeneralPreferences()
}

nonisolated func anywhere() { Defaults.general.theme = .dark }
@concurrent func elsewhere() async { Defaults.general.window.x += 1 }

actor Worker {
    func work() async {
        Defaults.general.count.value += 1
        for await theme in Defaults.general.$theme.updates where theme == .dark { break }
    }
}

final class Model {
    let preferences = GeneralPreferences(in: .inMemory())
    var title = ""

    private var observation: PreferenceObservation?

    func observe() {
        observation = preferences.$nickname.observe(includingCurrent: true) { [weak self] change in
            self?.title = change.new ?? "nobody"
        }
    }

    func follow() async {
        for await nickname in preferences.$nickname.updates { title = nickname ?? "nobody" }
    }
}
