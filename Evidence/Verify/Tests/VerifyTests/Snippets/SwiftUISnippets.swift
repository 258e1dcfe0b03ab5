import Combine
import Foundation
import Preferences
import PreferencesEditing
import SwiftUI
import Testing

// The examples with SwiftUI, UIKit and Combine in README and guides; `DocumentTests` compares the two.

struct PlayerPreferences: PreferenceGroup {
    @Preference("volume", .range(0...10)) var volume = 5
}

let preferences = AppPreferences()
let player = PlayerPreferences()

struct VolumeView: View {
    @PreferenceState(player.$volume) var volume

    var body: some View { Stepper("Volume \(volume)", value: $volume, in: 0...10) }
}

// snippet: draft screen
struct SettingsDialog: View {
    @State private var draft = PreferenceStore.standard.draft()
    @State private var message = ""

    var body: some View {
        VolumeView().preferenceStore(draft.store)
        Text(message)
        Button("Apply") { apply() }
        Button("Cancel") { draft.revert() }
    }

    private func apply() {
        do {
            try draft.apply()
            message = ""
        } catch {
            message = "\(error)"
        }
    }
}
// end

// snippet: settings view
struct GeneralView: View {
    @PreferenceState(preferences.$theme) var theme
    @PreferenceState(preferences.$automaticallyUpdate) var automaticallyUpdate

    var body: some View {
        Picker("Theme", selection: $theme) {
            ForEach(Theme.allCases, id: \.self) { Text($0.rawValue) }
        }
        Toggle("Update automatically", isOn: $automaticallyUpdate)
    }
}
// end

// snippet: views
struct SettingsView: View {
    @PreferenceState(preferences.$theme) var theme
    @PreferenceState(\AppPreferences.$automaticallyUpdate) var automaticallyUpdate
    @PreferenceState("user.name") var name = "Pitt"

    var body: some View {
        Picker("Theme", selection: $theme) {
            ForEach(Theme.allCases, id: \.self) { Text($0.rawValue) }
        }
        Toggle("Update automatically", isOn: $automaticallyUpdate)
        TextField("Name", text: $name.animation(.default))
    }
}
// end

// snippet: settings form
struct GeneralScreen: View {
    var body: some View { PreferenceForm(preferences) }
}
// end

// snippet: preference fields
struct SoundScreen: View {
    var body: some View {
        Form {
            Section("Sound") {
                PreferenceField(player.$volume)
                Button("Reset") { player.reset() }
            }
        }
    }
}
// end

@MainActor
func generalPreview() -> some View {
    // snippet: general preview
    GeneralView().preferenceStore(.inMemory(["theme": "dark"]))
    // end
}

@MainActor
func preview() -> some View {
    // snippet: preview
    SettingsView().preferenceStore(.inMemory(["theme": "dark"]))
    // end
}

// snippet: appstorage
struct ThemeLabel: View {
    @AppStorage(preferences.$theme) var theme

    var body: some View { Text(theme.rawValue) }
}
// end

// snippet: color
extension PreferenceCoding where Value == Color {
    static let color = PreferenceCoding(
        "color",
        encode: { color in
            let parts = color.resolve(in: EnvironmentValues())
            return try [parts.red, parts.green, parts.blue, parts.opacity].storedValue()
        },
        decode: { stored in
            let parts = try [Double](storedValue: stored)
            guard parts.count == 4 else { throw PreferenceError(.unreadable, "expected four numbers") }
            return Color(.sRGB, red: parts[0], green: parts[1], blue: parts[2], opacity: parts[3])
        }
    )
}

struct LabelPreferences: PreferenceGroup {
    @Preference("accent", coding: .color) var accent = Color.blue
}
// end

struct ColorSnippets {
    @Test
    func colorIsStoredByItsComponents() {
        let store = PreferenceStore.inMemory()
        let labels = LabelPreferences(in: store)
        #expect(labels.accent == .blue)
        labels.accent = Color(.sRGB, red: 0.25, green: 0.5, blue: 1, opacity: 0.75)
        #expect(store["accent"] == [0.25, 0.5, 1.0, 0.75])
        #expect(labels.accent == Color(.sRGB, red: 0.25, green: 0.5, blue: 1, opacity: 0.75))
        store["accent"] = [0.5, 0.5]
        #expect(throws: PreferenceError.self) { try labels.$accent.read() }
    }
}

@MainActor
class UIViewController {
    func viewDidLoad() {}
}

@MainActor
final class UILabel {
    var text: String?
}

// snippet: uikit
final class VolumeController: UIViewController {
    let label = UILabel()
    private var observation: PreferenceObservation?

    override func viewDidLoad() {
        super.viewDidLoad()
        // The current volume, then each change, on the main actor.
        observation = player.$volume.observe(includingCurrent: true) { [label] change in
            label.text = "Volume \(change.new)"
        }
    }
}
// end

@MainActor
func subscribe(_ label: UILabel) -> AnyCancellable {
    // snippet: combine
    let cancellable = player.$volume.publisher
        .receive(on: DispatchQueue.main)
        .sink { label.text = "Volume \($0)" }
    // end
    return cancellable
}

/// As in WidgetKit, which isn't on Linux.
struct WidgetCenter: Sendable {
    static let shared = WidgetCenter()
    func reloadTimelines(ofKind kind: String) {}
}

func reload() -> PreferenceObservation {
    // snippet: widget
    let observation = player.$volume.observe { _ in
        WidgetCenter.shared.reloadTimelines(ofKind: "Player")
    }
    // end
    return observation
}

protocol SidebarPreferences: Sendable {
    var selected: Preference<SidebarItem> { get }
    var isHidden: Preference<Bool> { get }
}

struct SidebarStorage: PreferenceGroup, SidebarPreferences {
    let selected = Preference("sidebar.selected", default: SidebarItem.inbox)
    let isHidden = Preference("sidebarHidden", default: false)
}

enum Sidebar {
    static let preferences: any SidebarPreferences = SidebarStorage()
}

// snippet: key path of a protocol
extension PreferenceState {
    init(for keyPath: KeyPath<any SidebarPreferences, Preference<Value>>) {
        self.init(Sidebar.preferences[keyPath: keyPath])
    }
}

struct SidebarToggle: View {
    @PreferenceState(for: \.isHidden) var isHidden

    var body: some View { Toggle("Hide the sidebar", isOn: $isHidden) }
}
// end
