import PreferencesMacros

// Each case, in a struct; those that a class has alone follow.

@PreferenceGroup
struct Player {
    let volume = 5  // error: a preference must be a 'var'
    let limit: Int  // error: a preference must be a 'var'
    @Key("x") var computed: Int { 3 }  // error: '@Key' can't be on a computed property
    var missing: Int  // error: 'missing' needs a default
    var action: () -> Void = {}  // error: '() -> Void' can't be stored
    var pair = (1, 2)  // error: a tuple can't be stored
    var anything: [String: Any] = [:]  // error: 'Any' can't be stored
    lazy var late = 5  // error: a preference can't be lazy
    weak var object: Item?  // error: can't be 'weak'
    var first = 1, second = 2  // error: each preference needs a separate 'var'
    var (left, right) = (1, 2)  // error: a preference can't be a tuple of names
    var watched = 1 { didSet {} }  // error: 'didSet' would not notice
    @Key("") var empty = 1  // error: a stored name can't be empty
    @Key("\(1)") var interpolated = 1  // error: a stored name must be a plain string literal
    @Key("artist") var nickname = 1
    var artist = 1  // error: stored as "artist", too
    @Transient @Key("t") var transient = 1  // error: is not stored, so it can't have a key
    @Options(.secret) @Transient var unstored = 1  // error: or options
    @Options(.secret) var sum: Int { 3 }  // error: '@Options' can't be on a computed property
    @Options(.range(0...1)) @Preference("written") var written = 1  // error: '@Options' can't be on a property
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var text: String! = ""  // error: can't be unwrapped implicitly
    @Options(.check { (list: [Int]) in list.isEmpty }) var list = [1]  // error: can't name its parameters
    @Options(.check("few") { (list: [Int]) in list.isEmpty }) var few = [1]  // error: can't name its parameters
    @Options(.secret) @Options(.title("Twice")) var twice = 1  // error: a preference has one '@Options': write
    #if true  // error: the attributes of a property in a type with '@PreferenceGroup' can't stand in '#if'
    @Transient
    #endif
    var hidden = 1
    @Key("static") static var shared: Int { 1 }  // error: is for the instance properties
    @Key("k") @Options(.formerly("current")) var moved = 1  // error: is therefore not read as a former name
    var current = 2
    @Preference("explicit") var written2 = 1
    var explicit = 2  // error: stored as "explicit", too
    @Transient let constant: Int  // error: 'constant' needs a value
}

final class Item: Sendable {}

@PreferenceGroup
final class Settings {
    var pair = (1, 2)  // error: a tuple can't be stored
    weak var object: Item?  // error: can't be 'weak'
    var first = 1, second = 2  // error: each preference needs a separate 'var'
    var watched = 1 { didSet {} }  // error: 'didSet' would not notice
    @Transient var seen = 1 { didSet {} }  // error: 'didSet' can't be on a '@Transient' property of a class
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    @Transient var unwrapped: String!  // error: can't be unwrapped implicitly
    @Preference("written", .range(0...10), .description("How loud")) var written = 1  // error: in a final class
    @Preference("other", in: .standard) var other = 1  // error: '@Preference' can't be in a final class
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    var text: String! = ""  // error: can't be unwrapped implicitly
}
