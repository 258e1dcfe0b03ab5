import PreferencesMacros

// Errors that depend on types are reported by the compiler in the expansion, which it shows at the property.

struct Window { var x = 0 }
enum Theme { case light, dark }
final class Item { var count = 0 }

@PreferenceGroup
struct Player {
    var window = Window()  // in expansion: requires that 'Window' conform to 'PreferenceValue'
    var theme: Theme?  // in expansion: a preference needs a default, as in '@Preference("volume") var volume = 5'
    @Rule(.range(0...10)) var title = ""  // in expansion: no exact matches in call to static method 'range'
}

@PreferenceGroup
final class Settings {
    var window = Window()  // in expansion: 'init(_:_:default:in:description:isSecret:)' requires that 'Window'
    var theme: Theme?  // in expansion: a preference needs a default
    @Rule(.range(0...10)) var title = ""  // in expansion: no exact matches in call to static method 'range'
    @Transient var item = Item()  // in expansion: type 'Item' does not conform to the 'Sendable' protocol
}
