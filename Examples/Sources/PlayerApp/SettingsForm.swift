#if canImport(SwiftUI)
import Preferences
import SwiftUI

/// A form with controls, each bound to a preference.
struct SettingsForm: View {
    @PreferenceState(PlaybackPreferences.shared.$volume) var volume
    @PreferenceState(PlaybackPreferences.shared.$crossfades) var crossfades
    @PreferenceState(\AppearancePreferences.$theme) var theme
    @PreferenceState(\AppearancePreferences.$showsArtist) var showsArtist
    @PreferenceState(\AppearancePreferences.$showsStars) var showsStars
    @PreferenceState("userName") var userName = "Pitt"

    var body: some View {
        Form {
            Section("Sound") {
                Stepper("Volume \(volume)", value: $volume, in: 0...10)
                    .disabled(_volume.preference.isManaged)
                Toggle("Crossfade", isOn: $crossfades)
                Button("Reset") { PlaybackPreferences.shared.reset() }
            }
            Section("Appearance") {
                Picker("Theme", selection: $theme) {
                    ForEach(Theme.allCases, id: \.self) { Text($0.rawValue) }
                }
                Toggle("Show artists", isOn: $showsArtist.animation())
                Toggle("Show stars", isOn: $showsStars.animation())
            }
            Section("Profile") {
                TextField("Name", text: $userName)
            }
        }
    }
}

/// A preview with a separate store, so that it never shows or changes the developer's values.
struct SettingsPreviews: PreviewProvider {
    static var previews: some View {
        SettingsForm().preferenceStore(.inMemory(["theme": "dark", "volume": 9]))
    }
}
#endif
