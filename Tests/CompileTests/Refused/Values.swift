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
    @Preference("c") var c: Window? = Window()  // error: a value that can be stored conforms to
    @Preference("d") var d = Shape.circle  // error: a value that can be stored conforms to
    @Preference("e") var e: Shape?  // error: a value that can be stored conforms to
    @Preference("f") var f = Event.text("f")  // error: a value that can be stored conforms to
    @Preference("g") var g = Box()  // error: a value that can be stored conforms to
    @Preference("h") var h = [Theme.light]  // error: a value that can be stored conforms to
    @Preference("i") var i: [Theme]?  // error: a value that can be stored conforms to
    @Preference("j") var j: Set<Theme> = []  // error: a value that can be stored conforms to
    @Preference("k") var k = ["a": Theme.light]  // error: a value that can be stored conforms to
    @Preference("l") var l = [Theme.light: 1]  // error: a value that can be stored conforms to
    @Preference("m") var m = [Window()]  // error: a value that can be stored conforms to
    @Preference("n") var n = (1, 2)  // error: a value that can be stored conforms to
    @Preference("o") var o: any Equatable & Sendable = 5  // error: a value that can be stored conforms to
    @Preference("p", .secret) var p = Window()  // error: a value that can be stored conforms to
    // error: a value that can be stored conforms to
    @Preference("q", .secret, .title("Q"), in: .standard) var q: Shape?
    @Preference("r", in: .standard) var r = [Theme.light]  // error: a value that can be stored conforms to
    @Preference("s") var s: @Sendable () -> Void = {}  // error: a value that can be stored conforms to
}

struct PlainValues: PreferenceGroup {
    let a = Preference("a", default: Window())  // error: a value that can be stored conforms to
    let b = Preference("b", default: Shape.circle, .secret)  // error: a value that can be stored conforms to
    let c = Preference("c", default: [Theme.light], in: .standard)  // error: a value that can be stored conforms to
    let d = Preference("d", default: ["a": Theme.light])  // error: a value that can be stored conforms to
    // error: a value that can be stored conforms to
    let e = Preference("e", default: [Theme.light: 1], .title("E"), in: .standard)
    let f = Preference("f", default: Box())  // error: a value that can be stored conforms to
    let g = Preference<Window?>("g")  // error: a value that can be stored conforms to
    let h = Preference<Shape?>("h", .secret, in: .standard)  // error: a value that can be stored conforms to
    let i = Preference<[Theme]?>("i")  // error: a value that can be stored conforms to
    let j = Preference<Window?>("j", default: Window())  // error: a value that can be stored conforms to
}

// A coding doesn't help if it needs a conformance, too.

struct Codings: PreferenceGroup {
    // error: requires that 'Window' conform to 'Encodable' | requires that 'Window' conform to 'Decodable'
    @Preference("a", coding: .json) var a = Window()
    // error: requires that 'Window' conform to 'Encodable' | requires that 'Window' conform to 'Decodable'
    @Preference("b", coding: .propertyList) var b: Window?
    @Preference("c", coding: .native) var c = Window()  // error: requires that 'Window' conform to 'PreferenceValue'
    @Preference("d", coding: .rawValue) var d = Shape.circle  // error: '.rawValue' is for types with raw values
    @Preference("e", coding: .rawValue) var e: Shape?  // error: '.rawValue' is for types with raw values
    // error: requires that 'Window' conform to 'Encodable' | requires that 'Window' conform to 'Decodable'
    let f = Preference("f", default: Window(), coding: .json)
    // error: '.rawValue' is for types with raw values
    let g = Preference("g", default: Shape.circle, coding: .rawValue)
}

// A group isn't a value.

struct Groups: PreferenceGroup {
    @Preference("a") var a = Player()  // error: a group isn't the value of a preference
    @Preference("b", .secret, in: .standard) var b = Player()  // error: a group isn't the value of a preference
    let c = Preference("c", default: Player())  // error: a group isn't the value of a preference
}

// A value is Sendable.

nonisolated final class Counter: Codable { var count = 0 }
nonisolated struct Account: Codable { var counter = Counter() }

struct NotSendable {
    @Preference("a") var a = Counter()  // error: type 'Counter' does not conform to the 'Sendable' protocol
    @Preference("b") var b: Account?  // error: type 'Account' does not conform to the 'Sendable' protocol
    let c = Preference("c", default: Counter())  // error: type 'Counter' does not conform to the 'Sendable' protocol
    let d = Preference<Account?>("d", .secret)  // error: type 'Account' does not conform to the 'Sendable' protocol
    // error: a value that can be stored conforms to | type '() -> Int' does not conform to the 'Sendable' protocol
    let e = Preference("e", default: { 1 })
}
