import PreferencesMacros

// The declarations to which the attribute can't be attached.

@PreferenceGroup
class Open {  // error: a class with '@PreferenceGroup' must be final
    var volume = 5
}

@PreferenceGroup
actor Counter {  // error: '@PreferenceGroup' is for a struct or a final class
    var count = 0
}

@PreferenceGroup
protocol Requirements {  // error: '@PreferenceGroup' is for a struct or a final class
    var count: Int { get }
}

@PreferenceGroup
struct Pair<Element> {  // error: a type with '@PreferenceGroup' can't be generic
    var count = 0
}

@PreferenceGroup
nonisolated struct Free {  // error: a struct with '@PreferenceGroup' is never on the main actor
    var count = 0
}

let player = "player."

@PreferenceGroup(prefix: player)  // error: the prefix must be a plain string literal
struct Prefixed {
    var volume = 5
}

class Base {}

@PreferenceGroup
final class Derived: Base {  // error: 'Sendable' class 'Derived' cannot inherit from another class
    var volume = 5
}

@PreferenceGroup
@Observable  // error: '@PreferenceGroup' already makes a class observable
final class Observed {
    var volume = 5
}

struct Generic<Element> {
    @PreferenceGroup
    struct Inner {  // error: can't be generic, nor inside a generic type
        var count = 0
    }
}

struct Plain {
    @Key("a") var a = 0  // error: '@Key' is for the instance properties of a type with '@PreferenceGroup'
    @Transient func b() {}  // error: '@Transient' is for the instance properties of a type with '@PreferenceGroup'
}

enum Outer {
    @PreferenceGroup
    private struct Hidden {  // error: inside another type a type with '@PreferenceGroup' can't be private
        var count = 0
    }

    @PreferenceGroup
    private struct HashableOnly: Hashable {  // error: '@PreferenceGroup' can't be private
        var count = 0
    }
}
