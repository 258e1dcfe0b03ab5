import Foundation
import Preferences
import SwiftUI

// What the guide shows; `GuideTests` compares the two.

enum Defaults {
    static let app = AppPreferences()
}

// snippet: views
struct SettingsView: View {
    @PreferenceState(Defaults.app.$theme) var theme
    @PreferenceState(\AppPreferences.$automaticallyUpdate) var automaticallyUpdate
    @PreferenceState("user.name") var name = "Pitt"

    var body: some View {
        Picker("Theme", selection: $theme)
        Toggle("Update automatically", isOn: $automaticallyUpdate)
        TextField("Name", text: $name.animation(.default))
    }
}
// end

@MainActor
func preview() -> some View {
    // snippet: preview
    SettingsView().preferenceStore(.inMemory(["theme": "dark"]))
    // end
}

@MainActor
func appStorage() -> some View {
    // snippet: appstorage
    struct ThemeLabel: View {
        @AppStorage<Theme> var theme: Theme

        init(_ preferences: AppPreferences) {
            _theme = AppStorage(preferences.$theme)
        }

        var body: some View { Text(theme.rawValue) }
    }
    // end
    return ThemeLabel(Defaults.app)
}
