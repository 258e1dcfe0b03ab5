// The controls that not every platform has.
#if canImport(SwiftUI)
internal import Preferences
internal import PreferencesSchema
internal import Foundation
internal import SwiftUI
#if canImport(UIKit)
internal import UIKit
#endif

#if os(tvOS)
/// A text field, as the platform has no control for numbers and dates.
typealias FieldRange = FieldText
#else
/// A control's value that is being changed, for the preference whose field showed it.
struct FieldDrag {
    var value: Double?
    let editor: FieldEditor

    /// Returns the value if it is that of the preference in a field.
    func value(in editor: FieldEditor) -> Double? { editor.isSame(as: self.editor) ? value : nil }

    /// Keeps a value until the drag ends; returns false for that of another preference, whose field the control shows now.
    mutating func keep(_ value: Double, in editor: FieldEditor) -> Bool {
        guard editor.isSame(as: self.editor) else { return false }
        self.value = value
        return true
    }
}

/// The control of a number in a range, or of a date.
struct FieldRange: View {
    let field: FieldState
    let editor: FieldEditor
    /// The value of a slider while it is dragged, which is set when that ends; `nil` at other times.
    @State private var drag: FieldDrag?

    var body: some View {
        switch field.control {
        case .stepper(let range):
            let value = editor.binding({ $0?.fieldInteger ?? range.lowerBound }, { .integer($0) })
            Stepper("\(field.title): \(field.text)", value: value, in: range)
        case .slider(let range, let isWhole):
            LabeledContent("\(field.title): \(text(isWhole: isWhole))") {
                if isWhole {
                    Slider(value: value(in: range, isWhole: true), in: range, step: 1) {
                        Text(verbatim: field.title)
                    } onEditingChanged: {
                        drag(isBegun: $0, isWhole: true)
                    }.labelsHidden()
                } else {
                    Slider(value: value(in: range, isWhole: false), in: range) {
                        Text(verbatim: field.title)
                    } onEditingChanged: {
                        drag(isBegun: $0, isWhole: false)
                    }.labelsHidden()
                }
            }
            .onDisappear { drag(isBegun: false, isWhole: isWhole) }
        default:
            let first = field.dates.lowerBound
            DatePicker(
                field.title,
                selection: editor.binding({ $0?.fieldDate ?? first }, { .date($0) }),
                in: field.dates
            )
        }
    }

    private func text(isWhole: Bool) -> String {
        guard let value = drag?.value(in: editor) else { return field.text }
        return editor.preference.fieldText(of: FieldState.form(of: value, isWhole: isWhole))
    }

    /// Returns a binding that sets each value, as by the keyboard, but for those in a drag.
    private func value(in range: ClosedRange<Double>, isWhole: Bool) -> Binding<Double> {
        let (drag, editor) = ($drag, editor)
        let stored = editor.binding(
            { $0?.fieldNumber ?? range.lowerBound },
            { FieldState.form(of: $0, isWhole: isWhole) }
        )
        return Binding {
            drag.wrappedValue?.value(in: editor) ?? stored.wrappedValue
        } set: { value, _ in
            if drag.wrappedValue?.keep(value, in: editor) != true { stored.wrappedValue = value }
        }
    }

    /// Begins a drag, or sets its value once.
    private func drag(isBegun: Bool, isWhole: Bool) {
        if isBegun {
            drag = FieldDrag(editor: editor)
        } else if let ended = drag {
            drag = nil
            if let value = ended.value { ended.editor.set(form: FieldState.form(of: value, isWhole: isWhole)) }
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
///
/// A color picker doesn't say when a drag ends. So the color is set when it has been the same for a moment, or the field disappears.
struct FieldColor: View {
    let field: FieldState
    let editor: FieldEditor
    /// The color that was picked and isn't set yet.
    @State private var picked: PickedColor?
    @Environment(\.colorPause) private var pause

    var body: some View {
        if field.isOptional { Toggle(field.title, isOn: editor.hasColor) }
        if !field.isOptional || field.form != nil {
            ColorPicker(field.title, selection: color)
                .task(id: picked?.color) {
                    do { try await Task.sleep(for: pause) } catch { return }
                    commit()
                }
                .onDisappear { commit() }
        }
    }

    private var color: Binding<Color> {
        let (picked, editor) = ($picked, editor)
        return Binding {
            guard let color = picked.wrappedValue, color.editor.isSame(as: editor) else {
                return editor.color.wrappedValue
            }
            return color.color
        } set: { color, _ in
            picked.wrappedValue = PickedColor(color: color, editor: editor)
        }
    }

    private func commit() {
        guard let picked else { return }
        self.picked = nil
        picked.editor.color.wrappedValue = picked.color
    }
}

/// A color that was picked for the preference whose field showed it.
private struct PickedColor {
    let color: Color
    let editor: FieldEditor
}

extension EnvironmentValues {
    /// The time for which a picked color must stay the same.
    var colorPause: Duration {
        get { self[ColorPauseKey.self] }
        set { self[ColorPauseKey.self] = newValue }
    }
}

private struct ColorPauseKey: EnvironmentKey {
    static let defaultValue = Duration.milliseconds(300)
}
#endif

extension View {
    /// Keeps the platform from correcting and capitalizing what is typed, and has the keyboard begin with the digits for a number.
    func typedExactly(isNumber: Bool) -> some View {
        #if os(iOS) || os(tvOS) || os(visionOS)
        // Also signs and exponents, which the pads of digits don't have.
        autocorrectionDisabled().textInputAutocapitalization(.never)
            .keyboardType(isNumber ? .numbersAndPunctuation : .default)
        #elseif os(watchOS)
        autocorrectionDisabled().textInputAutocapitalization(.never)
        #else
        autocorrectionDisabled()
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
