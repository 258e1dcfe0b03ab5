// swiftc:
// swiftc: -default-isolation MainActor
import Preferences
import SwiftUI

// No other diagnostics.

nonisolated enum Theme: String { case light, dark }
nonisolated enum Shape { case circle, square }
nonisolated struct Frame: Codable { var x = 0 }
nonisolated struct Color: Sendable {}

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume") var volume = 0.5
}

nonisolated let player = PlayerPreferences()

struct Names: View {
    @PreferenceState var a = 5  // error: a preference needs a name
    @PreferenceState() var b = Theme.light  // error: a preference needs a name
    @PreferenceState(.range(0...10)) var c = 5  // error: a preference needs a name
    @PreferenceState(.range(0...10), .secret) var d: Int?  // error: a preference needs a name
    @PreferenceState(coding: .json, .secret, in: .standard) var e = Frame()  // error: a preference needs a name
    @PreferenceState(coding: .json) var f: Frame?  // error: a preference needs a name
    var body: some View { EmptyView() }
}

struct Defaults: View {
    @PreferenceState("a") var a: Int  // error: a preference needs a default
    @PreferenceState("b", .range(0...10), in: .standard) var b: Int  // error: a preference needs a default
    @PreferenceState("c", coding: .json) var c: Frame  // error: a preference needs a default
    @PreferenceState("d") var d  // error: or the type of an optional
    @PreferenceState("e", .secret, in: .standard) var e  // error: or the type of an optional
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    @PreferenceState("f") var f: Int = "loud"
    var body: some View { EmptyView() }
}

struct Values: View {
    @PreferenceState("a") var a = Color()  // error: a value that can be stored conforms to
    @PreferenceState("b") var b: Color?  // error: a value that can be stored conforms to
    @PreferenceState("c") var c = [Theme.light]  // error: a value that can be stored conforms to
    // error: a value that can be stored conforms to
    @PreferenceState("d", .secret, in: .standard) var d = Shape.circle
    @PreferenceState("e", .title("E")) var e: [Theme]?  // error: a value that can be stored conforms to
    @PreferenceState("f") var f = PlayerPreferences()  // error: a group isn't the value of a preference
    // error: requires that 'Color' conform to 'Encodable' | requires that 'Color' conform to 'Decodable'
    @PreferenceState("g", coding: .json) var g = Color()
    @PreferenceState("h", coding: .rawValue) var h = 5  // error: '.rawValue' is for types with raw values
    var body: some View { EmptyView() }
}

struct Options: View {
    @PreferenceState("a", .range("a"..."z")) var a = 5  // error: '.range' takes a range of the preference's own type
    @PreferenceState("b", .range(0..<10)) var b: Int?  // error: '.range' takes a range that includes its bounds
    @PreferenceState("c", .length(1...8)) var c = 5  // error: '.length' is for strings, data and collections
    @PreferenceState("d", .length(8)) var d: String?  // error: '.length' takes a range of integers
    @PreferenceState("e", .choices(["a"])) var e = 5  // error: '.choices' takes an array of the preference's own type
    // error: the closure of '.check' takes a value of the preference's own type
    @PreferenceState("f", .check { $0.isEmpty }) var f = 5
    // error: the closure of '.check' takes a value of the preference's own type
    @PreferenceState("g", .check { $0 > 5 }) var g: String?
    @PreferenceState("h", .required) var h = 5  // warning: a required preference has no default
    @PreferenceState("i", .unknown) var i = 5  // error: type 'PreferenceOption<Int>' has no member 'unknown'
    var body: some View { EmptyView() }
}

@MainActor func types(_ options: Options) { let _: Binding<Int> = options.$h }

struct Declared: View {
    @PreferenceState(PlayerPreferences()) var a  // error: a property of a view shows one preference
    @PreferenceState(player) var b  // error: a property of a view shows one preference
    // error: type 'PlayerPreferences.Type' cannot conform to 'PreferenceGroup'
    @PreferenceState(PlayerPreferences.self) var c
    // error: cannot convert value 'volume' of type 'Double' to expected type 'Preference<Double>', use wrapper instead
    @PreferenceState(player.volume) var d
    // error: cannot convert value of type 'Preference<Double>' to expected argument type 'Preference<Int>'
    @PreferenceState(player.$volume) var e: Int
    // error: cannot infer key path type from context; consider explicitly specifying a root type | generic parameter 'Value' could not be inferred
    @PreferenceState(\.$volume) var h
    var body: some View { EmptyView() }
}
