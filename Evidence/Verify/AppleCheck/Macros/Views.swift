import PreferencesMacros
import SwiftUI

// A class with the macro is an observable object like any other; a struct's preferences are those of the written form.

@PreferenceGroup
final class BrowserSettings {
    @Options(.range(1...4), .title("Columns")) var columns = 2
    @Transient var selection = 0
}

@PreferenceGroup
struct Player {
    @Options(.range(0...10)) var volume = 5
}

struct SettingsView: View {
    @Environment(BrowserSettings.self) private var settings
    @PreferenceState(Player().$volume) var volume

    var body: some View {
        @Bindable var settings = settings
        Stepper("Columns \(settings.columns)", value: $settings.columns, in: 1...4)
    }
}

struct SelectionView: View {
    @Bindable var settings: BrowserSettings

    var body: some View {
        Stepper("Selection \(settings.selection)", value: $settings.selection, in: 0...9)
    }
}
