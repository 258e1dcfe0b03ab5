#if canImport(SwiftUI)
internal import Preferences
internal import PreferencesSchema
internal import Foundation
internal import SwiftUI

/// The control of a field.
struct FieldControl: View {
    let field: FieldState
    let editor: FieldEditor

    var body: some View {
        if field.isColor { FieldColor(field: field, editor: editor) } else { control }
    }

    @ViewBuilder
    private var control: some View {
        switch field.control {
        case .toggle:
            Toggle(field.title, isOn: editor.binding({ $0 == .boolean(true) }, { .boolean($0) }))
        case .picker:
            Picker(field.title, selection: editor.binding({ $0 }, { $0 })) {
                ForEach(field.choices, id: \.self) { Text(verbatim: $0.title).tag($0.form) }
            }
        case .secret: FieldText(field: field, editor: editor, isSecret: true)
        // If the rules reject each first value, a person can type another one.
        case .stepper, .slider, .date:
            if field.mayBeNil, field.isEditable, field.form == nil, field.firstForm == nil {
                FieldText(field: field, editor: editor)
            } else {
                optional(FieldRange(field: field, editor: editor))
            }
        case .number, .text, .form: FieldText(field: field, editor: editor)
        }
    }

    /// Returns the control of an optional, below a toggle that sets `nil`.
    @ViewBuilder
    private func optional(_ control: some View) -> some View {
        if field.mayBeNil {
            let first = field.firstForm
            Toggle(field.title, isOn: editor.binding({ $0 != nil }, { $0 ? first : nil }))
            if field.form != nil { control }
        } else {
            control
        }
    }
}

extension FieldState {
    /// Whether a text field is for a number.
    var isNumber: Bool {
        switch control {
        case .number, .stepper, .slider: true
        default: false
        }
    }

    /// Whether a field of one line would lose a part of the text.
    var hasLineBreaks: Bool { text.contains(where: \.isNewline) }

    /// Returns the form of a slider's value.
    static func form(of value: Double, isWhole: Bool) -> PropertyListValue {
        isWhole ? .integer(Int64(value.rounded())) : .real(value)
    }
}

/// A text that is being typed, for the preference whose field showed it.
struct FieldDraft {
    let text: String
    let editor: FieldEditor
    let resets: Int
    /// The text that the field showed when this one was rejected.
    var rejectedOver: String?

    /// Returns whether a field shows the draft in place of the value.
    func isShown(in editor: FieldEditor, over shown: String) -> Bool {
        AnyPreference(base: self.editor.preference) == AnyPreference(base: editor.preference)
            && resets == editor.history.wrappedValue.resets && (rejectedOver ?? shown) == shown
    }
}

/// A field for text, which sets it when it is submitted, loses the focus or disappears.
struct FieldText: View {
    let field: FieldState
    let editor: FieldEditor
    var isSecret = false
    /// The text that is being typed; `nil` while the value is shown.
    @State private var draft: FieldDraft?
    @FocusState private var isFocused: Bool

    var body: some View {
        LabeledContent(field.title) {
            input.typedExactly(isNumber: field.isNumber).labelsHidden()
                .focused($isFocused)
                .onSubmit { commit() }
                .onChange(of: isFocused) { if !isFocused { commit() } }
                .onDisappear { commit() }
        }
    }

    @ViewBuilder
    private var input: some View {
        if isSecret {
            SecureField(field.title, text: text, prompt: Text(verbatim: field.hasValue ? "Set" : "Not set"))
        } else {
            TextField(field.title, text: text, axis: field.hasLineBreaks ? .vertical : .horizontal)
        }
    }

    private var text: Binding<String> {
        let draft = $draft
        let (editor, shown) = (editor, field.text)
        return Binding {
            guard let typed = draft.wrappedValue, typed.isShown(in: editor, over: shown) else { return shown }
            return typed.text
        } set: { text, _ in
            let resets = editor.history.wrappedValue.resets
            draft.wrappedValue = FieldDraft(text: text, editor: editor, resets: resets)
        }
    }

    private func commit() {
        // Set by another event already, or rejected.
        guard let draft, draft.rejectedOver == nil else { return }
        // The preference in whose field it was typed, which may have another one now.
        let preference = draft.editor.preference
        let shown = isSecret ? "" : preference.fieldText(of: preference.form())
        // An empty text doesn't mean an empty secret, as the field doesn't show whether one is stored.
        let isUnchanged = draft.text == shown || draft.resets != draft.editor.history.wrappedValue.resets
        if isUnchanged || draft.editor.set(draft.text) {
            self.draft = nil
        } else {
            self.draft?.rejectedOver = shown
        }
    }
}
#endif
