import Preferences

// A feature uses its own protocol; a group that declares the preference conforms to it without further code.

enum Item: String { case templates, projects }

protocol DashboardPreferences: Sendable {
    var selected: Preference<Item> { get }
    var isHidden: Bool { get nonmutating set }
}

struct AppPreferences: PreferenceGroup, DashboardPreferences {
    let selected = Preference("selected", default: Item.templates)
    @Preference("isHidden") var isHidden = false
}

func use(_ preferences: some DashboardPreferences) {
    preferences.selected.value = .projects
    preferences.isHidden = true
}
