import Preferences
import PreferencesArgumentParser

enum Order: String, PreferenceValue, CaseIterable {
    case newest, oldest
}

struct Notes: ConfigurablePreferences {
    @Preference("limit", .range(1...500), .description("How many notes to show."), .short("n")) var limit = 20
    @Preference("order", .description("Which notes come first.")) var order = Order.newest
    @Preference("showDates", .description("Show when a note was written.")) var showDates = false
    @Preference("hidden", .description("Words whose notes aren't shown.")) var hidden: [String] = []

    static var store: PreferenceStore { .layered([.environment(prefix: "NOTES"), .standard]) }
}
