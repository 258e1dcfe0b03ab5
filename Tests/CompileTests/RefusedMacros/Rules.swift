import PreferencesMacros

// A rule is also checked without its property.

enum Theme: String { case light, dark }

@PreferenceGroup
struct Player {
    @Rule(.choices([.light])) var theme = Theme.light  // error: has no member 'light'
    @Rule(.check { $0.isMultiple(of: 2) }) var volume = 4  // error: cannot infer type of closure parameter
}
