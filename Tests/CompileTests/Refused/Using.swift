import Preferences

enum Item: String { case templates, projects }

protocol DashboardPreferences: Sendable {
    var selected: Preference<Item> { get }
    var isHidden: Bool { get }
}

struct AppPreferences: PreferenceGroup, DashboardPreferences {
    let selected = Preference("selected", default: Item.templates)
    @Preference("isHidden") var isHidden = false
}

func write(_ preferences: AppPreferences, _ feature: some DashboardPreferences) {
    feature.isHidden = true  // error: 'isHidden' is a get-only property
    feature.selected = preferences.selected  // error: 'selected' is a get-only property
    preferences.selected = .projects  // error: type 'Preference<Item>' has no member 'projects'
    preferences.isHidden = "yes"  // error: cannot assign value of type 'String' to type 'Bool'
    preferences.$isHidden.name = "hidden"  // error: 'name' is a get-only property
    preferences.$isHidden.isSet = true  // error: 'isSet' is a get-only property
}

func writeTogether(_ preferences: AppPreferences) throws {
    try preferences.selected.store.transaction { transaction in
        transaction[preferences.$isHidden] = "yes"  // error: cannot assign value of type 'String'
    }
}

func observe(_ preferences: AppPreferences) {
    preferences.$isHidden.observe { _ in }  // warning: result of call to 'observe(at:includingCurrent:_:)' is unused

    var count = 0
    let observation = preferences.$isHidden.observe { _ in count += 1 }  // error: mutation of captured var 'count'
    observation.cancel()
}

// A member must be a property of the value's type, and an optional value has none.

struct Frame: Codable { var width = 0 }

func members(_ frame: Preference<Frame>, _ optional: Preference<Frame?>) {
    frame[\.height].value = 1  // error: has no member 'height'
    optional[\.width].value = 1  // error: key path root inferred as optional type
}
