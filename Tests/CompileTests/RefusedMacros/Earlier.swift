import PreferencesMacros

// The attributes of an earlier version.

enum Theme: String { case light, dark }

@PreferenceGroup
struct Player {
    @Rule(.range(0...10)) var volume = 5  // error: '@Rule' is an option now: write '@Options(.range(0...10))'
    @Rule(.check { $0 != 80 }) var port = 1  // error: write '@Options(.check { $0 != 80 })'
    @Secret var token: String?  // error: '@Secret' is an option now: write '@Options(.secret)'
    @Secret @Rule(.length(1...8)) var code = ""  // error: write '@Options(.secret, .length(1...8))'
    @Key("b", migratingFrom: "a") var renamed = 1  // error: write '@Options(.formerly("a"))'
}

@PreferenceGroup
final class Settings {
    @Rule(.choices([Theme.light])) var theme = Theme.light  // error: write '@Options(.choices([Theme.light]))'
    @Secret var token: String?  // error: '@Secret' is an option now: write '@Options(.secret)'
    @Key("b", migratingFrom: "a", "c") var renamed = 1  // error: write '@Options(.formerly("a", "c"))'
}
