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
    @PreferenceState(.range(0...10), .secret) var c: Int?  // error: a preference needs a name
    @PreferenceState(coding: .json, .secret, in: .standard) var d = Frame()  // error: a preference needs a name
    var body: some View { EmptyView() }
}

struct Defaults: View {
    @PreferenceState("a") var a: Int  // error: a preference needs a default
    @PreferenceState("b", .range(0...10), in: .standard) var b: Int  // error: a preference needs a default
    @PreferenceState("c", coding: .json) var c: Frame  // error: a preference needs a default
    @PreferenceState("d") var d  // error: or the type of an optional
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    @PreferenceState("e") var e: Int = "loud"
    var body: some View { EmptyView() }
}

struct Values: View {
    @PreferenceState("a") var a = Color()  // error: a value that can be stored conforms to
    @PreferenceState("b") var b: Color?  // error: a value that can be stored conforms to
    @PreferenceState("c") var c = [Theme.light]  // error: a value that can be stored conforms to
    // error: a value that can be stored conforms to
    @PreferenceState("d", .secret, in: .standard) var d = Shape.circle
    @PreferenceState("e") var e = PlayerPreferences()  // error: a group isn't the value of a preference
    // error: requires that 'Color' conform to 'Encodable' | requires that 'Color' conform to 'Decodable'
    @PreferenceState("f", coding: .json) var f = Color()
    @PreferenceState("g", coding: .rawValue) var g = 5  // error: '.rawValue' is for types with raw values
    var body: some View { EmptyView() }
}

struct Options: View {
    @PreferenceState("a", .range("a"..."z")) var a = 5  // error: '.range' takes a range of the preference's own type
    @PreferenceState("b", .length(1...8)) var b = 5  // error: '.length' is for strings, data and collections
    @PreferenceState("c", .choices(["a"])) var c = 5  // error: '.choices' takes an array of the preference's own type
    // error: the closure of '.check' takes a value of the preference's own type
    @PreferenceState("d", .check { $0.isEmpty }) var d = 5
    @PreferenceState("e", .required) var e = 5  // warning: a required preference has no default
    @PreferenceState("f", .unknown) var f = 5  // error: type 'PreferenceOption<Int>' has no member 'unknown'
    var body: some View { EmptyView() }
}

@MainActor func types(_ options: Options) { let _: Binding<Int> = options.$e }

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
    @PreferenceState(\.$volume) var f
    var body: some View { EmptyView() }
}
