import PreferencesMacros

// Errors that depend on types are reported by the compiler in the expansion, which it shows at the property.

struct Window { var x = 0 }
enum Theme { case light, dark }
final class Item { var count = 0 }

@PreferenceGroup
struct Player {
    var window = Window()  // in expansion: a value that can be stored conforms to 'PreferenceValue' or 'Codable'
    var theme: Theme?  // in expansion: a value that can be stored conforms to
    @Options(.range(0...10)) var title = ""  // in expansion: '.range' takes a range of the preference's own type
}

@PreferenceGroup
final class Settings {
    var window = Window()  // in expansion: a value that can be stored conforms to
    var theme: Theme?  // in expansion: a value that can be stored conforms to
    @Options(.range(0...10)) var title = ""  // in expansion: '.range' takes a range of the preference's own type
    @Transient var item = Item()  // in expansion: type 'Item' does not conform to the 'Sendable' protocol
}
