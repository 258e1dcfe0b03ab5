import Preferences

final class Counter: Codable { var count = 0 }
struct Account: Codable { var counter = Counter() }
struct Window { var x = 0 }
enum Shape { case circle, square }
enum Color: String { case red, green }

// A value must be Sendable, and of a type that can be stored.

let counter = Preference("counter", default: Counter())  // error: 'Counter' does not conform to the 'Sendable'
let account = Preference<Account?>("account")  // error: type 'Account' does not conform to the 'Sendable'
let window = Preference("window", default: Window())  // error: requires that 'Window' conform to 'PreferenceValue'
let shape = Preference<Shape?>("shape")  // error: unless it is an optional of a type that can be stored
let square = Preference("square", default: Shape.square)  // error: no exact matches in call to initializer
let windows = Preference("windows", default: [Window()])  // error: the elements of a collection must conform to
let reds = Preference("reds", default: [Color.red])  // error: for an enum write 'enum Theme: String, PreferenceValue'
let named = Preference("named", default: ["a": Color.red])  // error: the elements of a collection must conform to
let body = Preference("body", default: { 1 })  // error: cannot conform to 'PreferenceValue'
