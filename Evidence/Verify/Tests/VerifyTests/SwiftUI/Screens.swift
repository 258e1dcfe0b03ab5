import Foundation
import Preferences
import SwiftUI

enum SidebarItem: String, CaseIterable, Sendable {
    case inbox, templates, archive
}

enum Theme: String, CaseIterable, Sendable {
    case system, light, dark
}

struct AppPreferences: PreferenceGroup {
    @Preference("selectedItem") var selectedItem = SidebarItem.templates
    @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
    @Preference("theme") var theme = Theme.system
    @Preference("user.name") var name = "Pitt"
    @Preference("nickname") var nickname: String?
}

/// A sidebar whose list is bound to the selection, next to the selected page.
struct MainScreen: View {
    @PreferenceState<SidebarItem> var selectedItem: SidebarItem

    init(_ preferences: AppPreferences) {
        _selectedItem = PreferenceState(preferences.$selectedItem)
    }

    var body: some View {
        List("Sidebar", selection: $selectedItem)
        Text(selectedItem.rawValue)
    }
}

/// A form of controls that are bound to preferences.
struct SettingsScreen: View {
    @PreferenceState<Bool> var automaticallyUpdate: Bool
    @PreferenceState<Theme> var theme: Theme
    @PreferenceState<String> var name: String

    init(_ preferences: AppPreferences) {
        _automaticallyUpdate = PreferenceState(preferences.$automaticallyUpdate)
        _theme = PreferenceState(preferences.$theme)
        _name = PreferenceState(preferences.$name)
    }

    var body: some View {
        Toggle("Update", isOn: $automaticallyUpdate)
        Picker("Theme", selection: $theme) {}
        TextField("Name", text: $name)
    }
}

/// Two views of one preference, next to each other, in one that reads nothing.
struct TwoViews: View {
    let preferences: AppPreferences

    var body: some View {
        NameLabel(preferences)
        NameField(preferences)
    }
}

struct NameLabel: View {
    @PreferenceState<String> var name: String

    init(_ preferences: AppPreferences) {
        _name = PreferenceState(preferences.$name)
    }

    var body: some View { Text(name) }
}

struct NameField: View {
    @PreferenceState<String> var name: String

    init(_ preferences: AppPreferences) {
        _name = PreferenceState(preferences.$name)
    }

    var body: some View { TextField("Name", text: $name) }
}

/// Preferences by key path and declared in the view.
struct Declaring: View {
    @PreferenceState(\AppPreferences.$theme) var theme
    @PreferenceState("user.name") var name = "Pitt"
    @PreferenceState("count") var count = 0
    @PreferenceState("item") var item = SidebarItem.inbox
    @PreferenceState("frame") var frame = Frame()
    @PreferenceState("nickname") var nickname: String?
    @PreferenceState("other") var other: SidebarItem?
    @PreferenceState("cached", coding: .json) var cached = Frame()
    @PreferenceState("noFrame") var noFrame: Frame?
    @PreferenceState("noCached", coding: .json, .description("Nothing at first.")) var noCached: Frame?
    @PreferenceState("level", .range(0...10), .description("From 0 to 10.")) var level = 5
    @PreferenceState("kind", .choices([.inbox]), .description("Where mail goes.")) var kind = SidebarItem.inbox

    struct Frame: Codable, Sendable {
        var width = 100
    }

    var body: some View {
        Text(
            "\(theme) \(name) \(count) \(item) \(frame.width) \(nickname ?? "-") \(other?.rawValue ?? "-") \(cached.width)"
        )
        Text("\(noFrame?.width ?? 0) \(noCached?.width ?? 0) \(level) \(kind)")
        Picker("Theme", selection: $theme) {}
    }
}

/// A view whose input selects the preference that it shows.
struct Chosen: View {
    @PreferenceState<Int> var value: Int
    @State private var seen = 0

    init(_ preference: Preference<Int>) {
        _value = PreferenceState(preference)
    }

    var body: some View { Text("\(value)") }
}
