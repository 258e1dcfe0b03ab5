// swiftc:
// swiftc: -default-isolation MainActor
import Preferences
import SwiftUI

// No other diagnostics.

// A control takes a binding. Each view has one mistake, as the compiler reports only the first.

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume") var volume = 0.5
    @Preference("count") var count = 5
    @Preference("isMuted") var isMuted = false
}

nonisolated let player = PlayerPreferences()

struct ValueSlider: View {
    @PreferenceState(player.$volume) var volume
    var body: some View {
        // error: cannot convert value 'volume' of type 'Double' to expected type 'Binding<Double>', use wrapper instead
        Slider(value: volume)
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
