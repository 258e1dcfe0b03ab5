// swiftc: -default-isolation MainActor -parse-as-library
import Preferences

// In a module that is isolated to the main actor by default, groups are nonisolated, as PreferenceGroup is Sendable, and so are
// their static constants. Other constants, a namespace and a struct of values are declared nonisolated.

nonisolated struct WindowFrame: Codable { var x = 0 }
nonisolated enum Theme: String { case light, dark }

struct GeneralPreferences: PreferenceGroup {
    @Preference("theme") var theme = Theme.light
    @Preference("window") var window = WindowFrame()
    @Preference("nickname") var nickname: String?
    let count = Preference("count", default: 0)

    static let shared = GeneralPreferences()
}

nonisolated let preferences = GeneralPreferences()

nonisolated enum Prefs {
    static let general = GeneralPreferences()
}

// Code on the main actor needs no such constant.
let isolated = GeneralPreferences()
func onTheMainActor() { isolated.theme = .dark }

nonisolated func anywhere() {
    preferences.theme = .dark
    Prefs.general.theme = .dark
    GeneralPreferences.shared.theme = .dark
}
@concurrent func elsewhere() async { preferences.window.x += 1 }

actor Worker {
    func work() async {
        preferences.count.value += 1
        for await theme in preferences.$theme.updates where theme == .dark { break }
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
