import PreferencesMacros

// Options are also checked without their property.

enum Theme: String { case light, dark }

@PreferenceGroup
struct Player {
    @Options(.choices([.light])) var theme = Theme.light  // error: reference to member 'light'
    @Options(.check { $0.isMultiple(of: 2) }) var volume = 4  // error: cannot infer type of closure parameter
}
