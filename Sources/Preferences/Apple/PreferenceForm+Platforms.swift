// The controls that not every platform has.
#if canImport(SwiftUI)
internal import Foundation
internal import SwiftUI

#if os(tvOS)
/// A text field, as the platform has no control for numbers and dates.
typealias FieldRange = FieldText
#else
/// The control of a number in a range, or of a date.
struct FieldRange: View {
    let field: FieldState
    let editor: FieldEditor

    var body: some View {
        switch field.control {
        case .stepper(let range):
            let value = editor.binding({ $0?.fieldInteger ?? range.lowerBound }, { .integer($0) })
            Stepper("\(field.title): \(field.form?.fieldText ?? "")", value: value, in: range)
        case .slider(let range, let isWhole):
            let value = editor.binding(
                { $0?.fieldNumber ?? range.lowerBound },
                { FieldState.form(of: $0, isWhole: isWhole) }
            )
            LabeledContent("\(field.title): \(field.form?.fieldText ?? "")") {
                if isWhole {
                    Slider(value: value, in: range, step: 1) { Text(verbatim: field.title) }.labelsHidden()
                } else {
                    Slider(value: value, in: range) { Text(verbatim: field.title) }.labelsHidden()
                }
            }
        default:
            let first = field.dates.lowerBound
            DatePicker(
                field.title,
                selection: editor.binding({ $0?.fieldDate ?? first }, { .date($0) }),
                in: field.dates
            )
        }
    }
}

extension PropertyListValue {
    fileprivate var fieldInteger: Int64? { if case .integer(let value) = self { value } else { nil } }

    fileprivate var fieldNumber: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

}
#endif

#if os(tvOS) || os(watchOS)
/// A text field, as the platform has no color picker.
typealias FieldColor = FieldText
#else
/// The control of a color.
struct FieldColor: View {
    let field: FieldState
    let editor: FieldEditor

    var body: some View {
        if field.isOptional { Toggle(field.title, isOn: editor.hasColor) }
        if !field.isOptional || field.form != nil { ColorPicker(field.title, selection: editor.color) }
    }
}
#endif

extension View {
    /// Keeps the platform from correcting and capitalizing what is typed.
    func typedExactly() -> some View {
        #if os(macOS) || STANDINS
        autocorrectionDisabled()
        #else
        autocorrectionDisabled().textInputAutocapitalization(.never)
        #endif
    }
}

#if os(watchOS)
extension View {
    /// Adds a button that removes the stored value, as the platform has no context menu.
    @ViewBuilder
    func withReset(_ field: FieldState, _ editor: FieldEditor) -> some View {
        self
        if field.isSet, field.isEditable { Button("Reset") { editor.reset() } }
    }
}
#else
extension View {
    /// Adds a context menu that removes the stored value.
    func withReset(_ field: FieldState, _ editor: FieldEditor) -> some View {
        contextMenu { Button("Reset") { editor.reset() }.disabled(!field.isSet || !field.isEditable) }
            // The menu of a text field is that of its text.
            .accessibilityAction(named: "Reset") { if field.isSet, field.isEditable { editor.reset() } }
    }
}
#endif
#endif
