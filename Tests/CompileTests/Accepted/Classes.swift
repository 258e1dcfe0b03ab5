import Observation
import Preferences

@Observable
final class Model {
    @ObservationIgnored @Preference("theme") var theme = "light"
    let count = Preference("count", default: 0)
    var selection = 0
}

@MainActor @Observable
final class Screen {
    @ObservationIgnored @Preference("theme") var theme = "light"
    let nickname = Preference<String?>("nickname")
}

// A final Sendable class, or a static property, uses a constant of type Preference in place of the wrapper.
final class Session: Sendable {
    let isFirstLaunch = Preference("isFirstLaunch", default: true)
    static let count = Preference("count", default: 0)
}

@MainActor
func use(_ model: Model, _ screen: Screen, _ session: Session) {
    model.theme = "dark"
    model.count.value += 1
    screen.theme = model.theme
    screen.nickname.value = "Pitt"
    session.isFirstLaunch.value = false
    Session.count.value = 1
}
