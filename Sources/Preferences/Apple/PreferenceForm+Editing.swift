#if canImport(SwiftUI)
internal import Foundation
internal import SwiftUI

/// A preference whose values controls show and set, without its static type.
///
/// Controls of simple types edit the form that the type has by itself, whichever coding stores it; others edit the stored form.
protocol EditablePreference: DeclaredPreference {
    /// Returns the same preference in another store.
    func inStore(_ store: PreferenceStore) -> any EditablePreference
    /// Returns what a field shows; registers with Observation.
    func fieldState() -> FieldState
    /// Returns the form of the value; registers with Observation.
    func form() -> PropertyListValue?
    /// Sets a form, or `nil`; returns the error of a rejected one.
    func set(form: PropertyListValue?) -> PreferenceError?
    /// Sets a value that is written as text; returns the error of a rejected one.
    func set(text: String) -> PreferenceError?
    /// A binding to the value, if it is of this type.
    func binding<Part: Sendable>(as type: Part.Type) -> Binding<Part>?
}

/// What a field shows of its preference.
struct FieldState {
    var title: String
    var control: PreferenceControl
    var form: PropertyListValue?
    var choices: [FieldChoice] = []
    var notes: [String] = []
    var isOptional: Bool
    var isManaged: Bool
    var isSet: Bool
    var isShown: Bool
    var isColor = false
}

/// A choice of a picker.
struct FieldChoice: Hashable {
    let form: PropertyListValue?
    let title: String
}

/// Sets the values of a field's controls.
struct FieldEditor: Sendable {
    let preference: any EditablePreference
    /// The reason why the value that was set last was rejected.
    let rejection: Binding<String?>

    /// Returns a binding to a part of a form, or to another type that stands for it.
    func binding<Part: Sendable>(
        _ get: @escaping @Sendable (PropertyListValue?) -> Part,
        _ set: @escaping @Sendable (Part) -> PropertyListValue?
    ) -> Binding<Part> {
        Binding {
            get(preference.form())
        } set: { part, _ in
            note(preference.set(form: set(part)))
        }
    }

    /// Sets the value of a text; returns whether it was accepted.
    func set(_ text: String) -> Bool { note(preference.set(text: text)) }

    /// Removes the stored value.
    func reset() {
        preference.reset()
        note(nil)
    }

    @discardableResult
    private func note(_ error: PreferenceError?) -> Bool {
        let message = error.map { "\($0.message)." }
        // Setting the same value would evaluate the field.
        if rejection.wrappedValue != message { rejection.wrappedValue = message }
        return error == nil
    }
}

extension Preference: EditablePreference {
    func inStore(_ store: PreferenceStore) -> any EditablePreference { bound(to: store) }

    func binding<Part: Sendable>(as type: Part.Type) -> Binding<Part>? { (self as? Preference<Part>)?.binding }

    func fieldState() -> FieldState {
        // Registers with Observation, so before everything else is read.
        let isManaged = isManaged
        let any = AnyPreference(self)
        var state = FieldState(
            title: any.title ?? name.titleOfName,
            control: any.control,
            isOptional: Value.self is any _OptionalPreferenceValue.Type && !isRequired,
            isManaged: isManaged,
            isSet: isSet,
            isShown: options?.deprecation == nil || storedValue != nil
        )
        guard state.isShown else { return state }
        let problem = problemOfStored()
        if state.control != .secret { state.form = form() }
        state.isColor = state.control != .secret && Value.self is Color.Type
        if case .picker(let choices) = state.control { state.choices = fieldChoices(choices, state) }
        if state.control == .toggle, state.isOptional {
            state.control = .picker([false, true])
            state.choices = [
                FieldChoice(form: nil, title: "Not set"), FieldChoice(form: false, title: "Off"),
                FieldChoice(form: true, title: "On"),
            ]
        }
        state.notes = notes(isManaged, problem)
        return state
    }

    /// Returns why the value that is stored can't be used; `nil` if it can be.
    private func problemOfStored() -> PreferenceError? {
        do throws(PreferenceError) {
            let _: Value? = try read()
            return nil
        } catch {
            return error
        }
    }

    private func notes(_ isManaged: Bool, _ problem: PreferenceError?) -> [String] {
        var notes: [String] = []
        if let description = declaredDescription { notes.append(description) }
        if let deprecation = options?.deprecation { notes.append("Deprecated: \(deprecation).") }
        let source = source
        if isManaged {
            notes.append("Managed by an administrator, so it can't be changed here.")
        } else if source != .store, source != .default {
            notes.append("The value comes from the layer \(source.name).")
        }
        if let problem { notes.append("The stored value can't be used: \(problem.message).") }
        return notes
    }

    /// Returns the choices of a picker; also the value itself if it is none of them, as a default may be.
    private func fieldChoices(_ choices: [PropertyListValue], _ state: FieldState) -> [FieldChoice] {
        var all: [PropertyListValue?] = choices
        if state.isOptional { all.insert(nil, at: 0) }
        if !all.contains(state.form) { all.insert(state.form, at: 0) }
        return all.map { FieldChoice(form: $0, title: title(ofChoice: $0)) }
    }

    private func title(ofChoice form: PropertyListValue?) -> String {
        guard let form else { return "Not set" }
        var parts: [EvolvingProblem] = []
        do throws(PreferenceError) {
            guard let value = try declaration.decodeUnchecked(form, &parts) else { return form.fieldText }
            let wrapped = (value as? any _OptionalPreferenceValue)?.anyWrapped ?? value
            // The description of a case without one of its own is its name in code.
            let isName = wrapped is any CaseIterable && !(wrapped is any CustomStringConvertible)
            return isName ? Preferences.text(of: value).titleOfName : Preferences.text(of: value)
        } catch {
            return form.fieldText
        }
    }

    func form() -> PropertyListValue? {
        let value = value
        do {
            if Self.isEditedAsItself { return try (value as? any PreferenceValue)?.storedValue() }
            return try declaration.encodeUnchecked(value)
        } catch {
            return nil
        }
    }

    func set(form: PropertyListValue?) -> PreferenceError? {
        guard let form else { return setNil() }
        do throws(PreferenceError) {
            var parts: [EvolvingProblem] = []
            let value =
                try Self.isEditedAsItself
                ? Self.value(ofOwn: form) : declaration.resolved.decodeUnchecked(form, &parts, fillsOnly: true)
            guard let value else { return setNil() }
            return declaration.setFromView(value)
        } catch {
            return error.named(name)
        }
    }

    /// Sets `nil`, or removes the stored value if the type has none.
    private func setNil() -> PreferenceError? {
        guard let type = Value.self as? any ExpressibleByNilLiteral.Type, let none = type.init(nilLiteral: ()) as? Value
        else {
            reset()
            return nil
        }
        return declaration.setFromView(none)
    }

    func set(text: String) -> PreferenceError? {
        if Value.self is String.Type { return set(form: .string(text)) }
        if text.isEmpty, Value.self is any _OptionalPreferenceValue.Type { return setNil() }
        if Value.self is String?.Type { return set(form: .string(text)) }
        if Self.isEditedAsItself { return set(form: PropertyListValue(numberIn: text) ?? .string(text)) }
        do throws(PreferenceError) {
            guard let value = try declaration.resolved.decode([.joined(text)]) else { return setNil() }
            return declaration.setFromView(value)
        } catch {
            return error.named(name)
        }
    }

    /// Whether controls edit the form that the type has by itself, whichever coding stores it.
    private static var isEditedAsItself: Bool {
        switch Value.self {
        case is Bool.Type, is Bool?.Type, is String.Type, is String?.Type, is Date.Type, is Date?.Type: true
        case is Double.Type, is Double?.Type, is Float.Type, is Float?.Type: true
        case is any FixedWidthInteger.Type: true
        case let type as any _OptionalPreferenceValue.Type: type.wrapsInteger
        default: false
        }
    }

    private static func value(ofOwn form: PropertyListValue) throws(PreferenceError) -> Value? {
        do {
            return try (Value.self as? any PreferenceValue.Type)?.init(storedValue: form) as? Value
        } catch {
            throw PreferenceError(.unreadable, from: error)
        }
    }
}

extension _OptionalPreferenceValue {
    fileprivate static var wrapsInteger: Bool { Wrapped.self is any FixedWidthInteger.Type }
    fileprivate var anyWrapped: Any? { wrapped }
}

extension PropertyListValue {
    /// The value as a text field shows it: a text without quotes, others as the preferences file has them.
    var fieldText: String {
        if case .string(let text) = self { return text }
        var bytes: [UInt8] = []
        do throws(PreferenceError) { try JSONLine.writeValue(self, to: &bytes) } catch { return description }
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate init?(numberIn text: String) {
        let text = text.filter { !$0.isWhitespace }
        if let value = Int64(text) {
            self = .integer(value)
        } else if let value = UInt64(text) {
            self = .unsigned(value)
        } else if text.contains(where: { ".eE".contains($0) }), let value = Double(text) {
            // Integers of more than 64 bits are stored as text, as a floating-point number would round them.
            self = .real(value)
        } else {
            return nil
        }
    }
}
#endif
