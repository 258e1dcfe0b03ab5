#if canImport(SwiftUI)
public import Preferences
public import SwiftUI

/// A form with a control for each preference of a group: a screen of settings, or one for debugging in a line.
///
///     PreferenceForm(player)
///
/// The options of the declarations decide what it shows. Preferences with one `.section` are in a section of that title, and the
/// sections and their preferences are in the order of declaration; those without the option are in a section without a title. Each
/// preference has a ``PreferenceField``. A property that is a member of another preference's value is left out.
///
/// The form works over any store. A change evaluates the body of the one field that shows it. Below `View.preferenceStore(_:)`, the
/// fields show the preferences of the same names in that store. For another arrangement, use the fields alone, in a form of your own.
public struct PreferenceForm: View {
    private let sections: [FormSection]

    /// Creates a form for the preferences of a group and its nested groups.
    public init(_ group: some PreferenceGroup) {
        sections = FormSection.sections(of: group.preferences)
    }

    /// The form; called by SwiftUI.
    public var body: some View {
        Form {
            ForEach(sections, id: \.title) { section in
                Section {
                    ForEach(section.preferences, id: \.self) { PreferenceField($0) }
                } header: {
                    if let title = section.title { Text(verbatim: title) }
                }
            }
        }
    }
}

/// A control for a preference, with its title, description and state.
///
///     PreferenceField(player.$volume)
///
/// | declared as | control |
/// |---|---|
/// | `Bool` | a toggle |
/// | `.choices`, or a `CaseIterable` type | a picker; the titles are the values' descriptions |
/// | an integer with a range of at most 100 steps | a stepper |
/// | a number with another range below 32,768 | a slider |
/// | another number, text, or a type that is stored as text | a text field |
/// | `.secret`, or in a store of secrets | a secure field, which never shows the value |
/// | `Date` | a date picker |
/// | `Color` | a color picker, whichever coding stores it |
/// | a member of another value, if it is of none of these simple types | disabled |
/// | another type | a text field with the value as the preferences file has it |
///
/// An optional has a toggle that sets `nil`, or a choice *Not set*, or an empty text. Where a platform lacks a control, there is a text
/// field in its place: tvOS has no stepper, slider and date picker, and tvOS and watchOS have no color picker.
///
/// The title is that of the option `.title`, else one made of the name: "Show artists" for `showArtists`. Below the control are
/// the text of `.description`, the layer that the value comes from if it is neither the store nor the default, and what is wrong: that a
/// stored value can't be used, or that a value was rejected, with the error's message. A managed preference, or one of a read-only
/// store, is disabled and says so. These texts and "Set", "Not set", "On", "Off" and "Reset" are in English, and titles, descriptions
/// and choices are shown as declared: nothing is looked up in a table of strings. Numbers are written with the user's decimal separator. A
/// deprecated one is hidden until a layer has a value for it; then its advice is shown. The context menu removes the stored value,
/// which makes the default apply; on watchOS, which has no such menu, a button does.
///
/// A text field sets its text when it is submitted, loses the focus or disappears. A slider sets its value when a drag ends, and a
/// color picker when the color has been the same for 0.3 seconds. A value that a rule rejects isn't stored and is also reported to the
/// store's issue handler; a text field keeps the rejected text.
public struct PreferenceField: View {
    private let shown: ShownPreference
    @State private var history = FieldHistory()

    /// Creates a field for a preference.
    public init<Value: Sendable>(_ preference: Preference<Value>) {
        shown = ShownPreference(declared: preference)
    }

    /// Creates a field for a preference of any type, as a group lists it.
    public init(_ preference: AnyPreference) {
        shown = ShownPreference(declared: preference.base)
    }

    /// The control and the texts below it; called by SwiftUI.
    public var body: some View {
        let field = shown.field
        let editor = FieldEditor(preference: shown.current, history: $history)
        if field.isShown {
            VStack(alignment: .leading) {
                FieldControl(field: field, editor: editor)
                ForEach(field.notes + rejection(of: field), id: \.self) { note in
                    Text(verbatim: note).font(.footnote).foregroundStyle(.secondary)
                }
            }
            .disabled(!field.isEditable)
            .withReset(field, editor)
        }
    }

    /// Returns the reason of the rejection, unless the preference or its value has become another one.
    private func rejection(of field: FieldState) -> [String] {
        guard let rejection = history.rejection, rejection.preference == AnyPreference(base: shown.current),
            rejection.form == field.form
        else { return [] }
        return [rejection.message]
    }
}

/// The preference of a field, in the store of the environment if that has one.
private struct ShownPreference: DynamicProperty {
    @Environment(\.preferenceStore) private var store
    private let declared: any EditablePreference
    /// The preference since the last `update()`; keeps the declaration alive, and with it what Observation registers with.
    private(set) var current: any EditablePreference

    init(declared: any DeclaredPreference) {
        // Only preferences can be declared.
        guard let declared = declared as? any EditablePreference else {
            preconditionFailure("a declared preference is a Preference")
        }
        self.declared = declared
        current = declared
    }

    mutating func update() {
        current = if let store, store !== declared.store { declared.inStore(store) } else { declared }
    }

    var field: FieldState { current.fieldState() }
}

/// A section of a form: its title, and its preferences in the order of declaration.
struct FormSection {
    let title: String?
    private(set) var preferences: [AnyPreference] = []

    /// Returns the sections of preferences in the order in which they are declared; those without one are in a section without title.
    static func sections(of preferences: [AnyPreference]) -> [FormSection] {
        var sections: [FormSection] = []
        var seen: Set<AnyPreference> = []
        // A member is shown with its whole value, and a preference once.
        for preference in preferences where !preference.isMember && seen.insert(preference).inserted {
            let title = preference.section
            let index = sections.firstIndex { $0.title == title } ?? sections.endIndex
            if index == sections.endIndex { sections.append(FormSection(title: title)) }
            sections[index].preferences.append(preference)
        }
        return sections
    }
}

extension String {
    /// The words of a name in code, as a title: "Automatically update" for `AutomaticallyUpdate`, "Proxy URL" for `proxy.URL`.
    var titleOfName: String {
        var words: [String] = []
        var word = ""
        let characters = Array(self)
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber else {
                words.append(word)
                word = ""
                continue
            }
            let isLast = index + 1 == characters.count
            let before = index == 0 ? nil : characters[index - 1]
            // A capital begins a word behind a small letter, and as the last one of a row of capitals in front of a small letter.
            let begins = before?.isUppercase == false || !isLast && characters[index + 1].isLowercase
            if character.isUppercase, begins {
                words.append(word)
                word = ""
            }
            word.append(character)
        }
        words = (words + [word]).filter { !$0.isEmpty }
        let texts = words.enumerated().map { index, word in
            // A row of capitals is an abbreviation.
            guard word.count == 1 || word != word.uppercased() else { return word }
            return index == 0 ? word.prefix(1).uppercased() + word.dropFirst() : word.lowercased()
        }
        return texts.isEmpty ? self : texts.joined(separator: " ")
    }
}
#endif
