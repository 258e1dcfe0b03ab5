import Preferences

// A group must be Sendable: a struct, an actor, or a final class without a `var`.

class OpenGroup: PreferenceGroup {  // error: non-final class 'OpenGroup' cannot conform to the 'Sendable' protocol
    required init() {}
}

final class ClassGroup: PreferenceGroup {
    @Preference("a") var a = 0  // error: stored property '_a' of 'Sendable'-conforming class 'ClassGroup' is mutable
}

final class Buffer { var count = 0 }

struct GroupWithBuffer: PreferenceGroup {
    let buffer = Buffer()  // error: stored property 'buffer' of 'Sendable'-conforming struct 'GroupWithBuffer'
}

// A namespace must use groups or `static let x = Preference(…)`, since a wrapped property is a variable.

enum Prefs {
    @Preference("a") static var a = 0  // error: static property 'a' is not concurrency-safe
}
