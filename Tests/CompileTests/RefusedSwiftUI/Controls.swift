// swiftc:
// swiftc: -default-isolation MainActor
import Preferences
import SwiftUI

// No other diagnostics.

// A control takes a binding, and `$volume` of a group is a preference. Each view has one mistake, as the compiler reports only the first.

nonisolated enum Theme: String { case light, dark }

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume") var volume = 0.5
    @Preference("count") var count = 5
    @Preference("isMuted") var isMuted = false
    @Preference("title") var title = ""
    @Preference("theme") var theme = Theme.light
}

nonisolated let player = PlayerPreferences()

struct VolumeSlider: View {
    let preferences: PlayerPreferences
    var body: some View {
        Slider(value: preferences.$volume)  // error: a control takes a binding
    }
}

struct BoundedSlider: View {
    var body: some View {
        VStack {
            Slider(value: player.$volume, in: 0...10, step: 0.5)  // error: a control takes a binding
            Text(verbatim: "Volume")
        }
    }
}

struct CountSlider: View {
    var body: some View {
        Slider(value: player.$count)  // error: a control takes a binding
    }
}

struct IntegerSlider: View {
    @PreferenceState(player.$count) var count
    var body: some View {
        Slider(value: $count, in: 0...10)  // error: a slider's value is
    }
}

struct ValueSlider: View {
    @PreferenceState(player.$volume) var volume
    var body: some View {
        // error: cannot convert value 'volume' of type 'Double' to expected type 'Binding<Double>', use wrapper instead
        Slider(value: volume)
    }
}

struct CountStepper: View {
    var body: some View {
        Stepper("Count \(player.count)", value: player.$count, in: 0...10)  // error: a control takes a binding
    }
}

struct MuteToggle: View {
    var body: some View {
        Toggle("Mute", isOn: player.$isMuted)  // error: a control takes a binding
    }
}

struct TitleField: View {
    var body: some View {
        TextField("Title", text: player.$title)  // error: a control takes a binding
    }
}

struct ThemePicker: View {
    var body: some View {
        Picker("Theme", selection: player.$theme) {  // error: a control takes a binding
            Text(verbatim: "Light")
        }
    }
}

struct WrongToggle: View {
    @PreferenceState(player.$count) var count
    var body: some View {
        // error: cannot convert value of type 'Binding<Int>' to expected argument type 'Binding<Bool>'
        Toggle("Count", isOn: $count)
    }
}

// A group has no binding.
struct Bound: View {
    let preferences: PlayerPreferences
    var body: some View {
        Toggle("Mute", isOn: $preferences.isMuted)  // error: cannot find '$preferences' in scope
    }
}
