// swiftc:
// swiftc: -default-isolation MainActor
import Preferences

// No other diagnostics.

nonisolated enum Theme: String { case light, dark }
nonisolated enum Shape { case circle, square }
nonisolated enum Event { case text(String) }
nonisolated struct Window { var x = 0 }
nonisolated final class Box: Sendable {}
struct Player: PreferenceGroup { @Preference("x") var x = 5 }

// A value is of a type that can be stored.

struct Values: PreferenceGroup {
    @Preference("a") var a = Window()  // error: a value that can be stored conforms to
    @Preference("b") var b: Window?  // error: a value that can be stored conforms to
    @Preference("c") var c = Shape.circle  // error: a value that can be stored conforms to
    @Preference("d") var d = Event.text("f")  // error: a value that can be stored conforms to
    @Preference("e") var e = Box()  // error: a value that can be stored conforms to
    @Preference("f") var f = [Theme.light]  // error: a value that can be stored conforms to
    @Preference("g") var g = ["a": Theme.light]  // error: a value that can be stored conforms to
    @Preference("h") var h = [Theme.light: 1]  // error: a value that can be stored conforms to
    @Preference("i") var i = [Window()]  // error: a value that can be stored conforms to
    @Preference("j") var j = (1, 2)  // error: a value that can be stored conforms to
    @Preference("k") var k: any Equatable & Sendable = 5  // error: a value that can be stored conforms to
    // error: a value that can be stored conforms to
    @Preference("l", .secret, .title("Q"), in: .standard) var l: Shape?
}

struct PlainValues: PreferenceGroup {
    let a = Preference("a", default: Window())  // error: a value that can be stored conforms to
    let b = Preference("b", default: Box())  // error: a value that can be stored conforms to
    let c = Preference<Window?>("c")  // error: a value that can be stored conforms to
}

// A coding doesn't help if it needs a conformance, too.

struct Codings: PreferenceGroup {
    // error: requires that 'Window' conform to 'Encodable' | requires that 'Window' conform to 'Decodable'
    @Preference("a", coding: .json) var a = Window()
    @Preference("b", coding: .native) var b = Window()  // error: requires that 'Window' conform to 'PreferenceValue'
    @Preference("c", coding: .rawValue) var c = Shape.circle  // error: '.rawValue' is for types with raw values
    // error: requires that 'Window' conform to 'Encodable' | requires that 'Window' conform to 'Decodable'
    let d = Preference("d", default: Window(), coding: .json)
}

// A group isn't a value.

struct Groups: PreferenceGroup {
    @Preference("a") var a = Player()  // error: a group isn't the value of a preference
    let b = Preference("b", default: Player())  // error: a group isn't the value of a preference
}

// A value is Sendable.

nonisolated final class Counter: Codable { var count = 0 }
nonisolated struct Account: Codable { var counter = Counter() }

struct NotSendable {
    @Preference("a") var a = Counter()  // error: type 'Counter' does not conform to the 'Sendable' protocol
    @Preference("b") var b: Account?  // error: type 'Account' does not conform to the 'Sendable' protocol
    let c = Preference("c", default: Counter())  // error: type 'Counter' does not conform to the 'Sendable' protocol
    // error: a value that can be stored conforms to | type '() -> Int' does not conform to the 'Sendable' protocol
    let d = Preference("d", default: { 1 })
}
