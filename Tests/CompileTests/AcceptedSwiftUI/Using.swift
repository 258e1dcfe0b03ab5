// swiftc:
// swiftc: -default-isolation MainActor
import Preferences
import SwiftUI

// Preferences that are declared elsewhere, controls, and options.

nonisolated enum Theme: String, CaseIterable { case light, dark }

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume", .range(0...10)) var volume = 0.5
    @Preference("count") var count = 5
    @Preference("isMuted") var isMuted = false
    @Preference("title") var title = ""
    @Preference("theme") var theme = Theme.light
    let nickname = Preference<String?>("nickname")
}

nonisolated let player = PlayerPreferences()

struct PlayerView: View {
    @PreferenceState(player.$volume) var volume
    @PreferenceState(player.$count) var count: Int
    @PreferenceState(\PlayerPreferences.$isMuted) var isMuted
    @PreferenceState(\PlayerPreferences.nickname) var nickname
    @PreferenceState<Theme> var theme: Theme

    init(_ theme: Preference<Theme>) { _theme = PreferenceState(theme) }

    var body: some View {
        Form {
            Slider(value: $volume)
            Slider(value: $volume, in: 0...10)
            Slider(value: player.$volume.binding, in: 0...10, step: 0.5)
            Stepper("Count \(count)", value: $count, in: 0...10)
            Toggle("Mute", isOn: $isMuted)
            Toggle("Mute", isOn: player.$isMuted.binding)
            TextField("Title", text: player.$title.binding.animation())
            Picker("Theme", selection: $theme) {
                ForEach(Theme.allCases, id: \.self) { Text(verbatim: $0.rawValue) }
            }
        }
    }
}

struct OptionsView: View {
    @PreferenceState("a", .range(0...10)) var a = 5
    @PreferenceState("b", .range(1...), .check("must be even") { $0.isMultiple(of: 2) }) var b: Int?
    @PreferenceState("c", .choices([.light]), .title("C"), .section("S")) var c = Theme.light
    @PreferenceState("d", .choices([.light]), .required) var d: Theme?
    @PreferenceState("e", .length(1...8), .secret, in: .standard) var e = "text"
    @PreferenceState("f", .check { $0 != nil }, .formerly("g", "h"), .deprecated("set e")) var f: String?
    @PreferenceState("g", .description("G."), .short("g")) var g = 0.5

    var body: some View { Text(verbatim: "") }
}

@MainActor
func types(_ options: OptionsView, _ view: PlayerView) {
    let _: (Binding<Int>, Binding<Int?>, Binding<Theme>, Binding<Theme?>) = (
        options.$a, options.$b, options.$c, options.$d
    )
    let _: (Binding<String>, Binding<String?>, Binding<Double>) = (options.$e, options.$f, options.$g)
    let _: (Binding<Double>, Binding<Int>, Binding<Bool>) = (view.$volume, view.$count, view.$isMuted)
    let _: (Binding<String?>, Binding<Theme>) = (view.$nickname, view.$theme)
}
