#if canImport(SwiftUI)
internal import Foundation
internal import SwiftUI

/// The control of a field.
struct FieldControl: View {
    let field: FieldState
    let editor: FieldEditor

    var body: some View {
        switch field.control {
        case .toggle:
            Toggle(field.title, isOn: editor.binding({ $0 == .boolean(true) }, { .boolean($0) }))
        case .picker:
            Picker(field.title, selection: editor.binding({ $0 }, { $0 })) {
                ForEach(field.choices, id: \.self) { Text(verbatim: $0.title).tag($0.form) }
            }
        case .secret: FieldText(field: field, editor: editor, isSecret: true)
        case .stepper, .slider, .date: optional(FieldRange(field: field, editor: editor))
        case .number, .text: FieldText(field: field, editor: editor)
        case .form where field.isColor: FieldColor(field: field, editor: editor)
        case .form: FieldText(field: field, editor: editor)
        }
    }

    /// Returns the control of an optional, below a toggle that sets `nil`.
    @ViewBuilder
    private func optional(_ control: some View) -> some View {
        if field.isOptional {
            let first = field.initialForm
            Toggle(field.title, isOn: editor.binding({ $0 != nil }, { $0 ? first : nil }))
            if field.form != nil { control }
        } else {
            control
        }
    }
}

extension FieldState {
    /// The form of the value when an optional is first set.
    fileprivate var initialForm: PropertyListValue? {
        switch control {
        case .stepper(let range): .integer(range.lowerBound)
        case .slider(let range, let isWhole): Self.form(of: range.lowerBound, isWhole: isWhole)
        case .date: .date(Date())
        default: nil
        }
    }

    /// Returns the form of a slider's value.
    static func form(of value: Double, isWhole: Bool) -> PropertyListValue {
        isWhole ? .integer(Int64(value.rounded())) : .real(value)
    }
}

/// A field for text, which sets it when it is submitted or loses the focus.
struct FieldText: View {
    let field: FieldState
    let editor: FieldEditor
    var isSecret = false
    /// The text that is being typed; `nil` while the value is shown.
    @State private var draft: String?
    @FocusState private var isFocused: Bool

    var body: some View {
        LabeledContent(field.title) {
            input.labelsHidden()
                .focused($isFocused)
                .onSubmit { commit() }
                .onChange(of: isFocused) { if !isFocused { commit() } }
        }
    }

    @ViewBuilder
    private var input: some View {
        if isSecret {
            SecureField(field.title, text: text, prompt: Text(verbatim: field.isSet ? "Set" : "Not set"))
        } else {
            TextField(field.title, text: text)
        }
    }

    private var text: Binding<String> {
        let draft = $draft
        let shown = field.form?.fieldText ?? ""
        return Binding {
            draft.wrappedValue ?? shown
        } set: { text, _ in
            draft.wrappedValue = text
        }
    }

    private func commit() {
        guard let draft else { return }
        // An empty text doesn't mean an empty secret, which nobody would see.
        if isSecret, draft.isEmpty || editor.set(draft) { return self.draft = nil }
        if !isSecret, draft == field.form?.fieldText ?? "" || editor.set(draft) { self.draft = nil }
    }
}
#endif
