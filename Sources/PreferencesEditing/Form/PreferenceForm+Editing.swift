#if canImport(SwiftUI)
internal import Preferences
internal import PreferencesSchema
internal import Foundation
internal import SwiftUI

/// A preference whose values controls show and set, without its static type.
///
/// Controls of simple types edit the form that the type has by itself, whichever coding stores it; others edit the stored form, and for
/// a member of another value nothing.
protocol EditablePreference: DeclaredPreference {
    /// Returns the same preference in another store.
    func inStore(_ store: PreferenceStore) -> any EditablePreference
    /// Returns what a field shows; registers with Observation.
    func fieldState() -> FieldState
    /// Returns the form of the value; registers with Observation.
    func form() -> PropertyListValue?
    /// Returns the text that a field shows for a form of the value.
    func fieldText(of form: PropertyListValue?) -> String
    /// Sets a form, or `nil`; returns the error of a rejected one.
    func set(form: PropertyListValue?) -> PreferenceError?
    /// Sets a value that is written as text; returns the error of a rejected one.
    func set(text: String) -> PreferenceError?
    /// Removes the stored value; returns the error if that fails.
    func removeStored() -> PreferenceError?
    /// Returns the value if it is a color; registers with Observation.
    func color() -> Color?
    /// Sets a color, or `nil`; returns the error of a rejected one.
    func set(color: Color?) -> PreferenceError?
}

/// The state of a preference that a field shows.
struct FieldState {
    var title: String
    var control: PreferenceControl
    var form: PropertyListValue?
    /// The form as a text field shows it; empty for a secret.
    var text = ""
    var choices: [FieldChoice] = []
    var notes: [String] = []
    var isOptional: Bool
    /// Whether controls are enabled.
    var isEditable: Bool
    var isSet: Bool
    /// Whether any layer has a value.
    var hasValue: Bool
    var isShown: Bool
    var isColor = false
    /// The dates that a rule allows.
    var dates = Date.distantPast...Date.distantFuture
    /// The form of the value when an optional is first set; `nil` if a rule rejects each one that was tried.
    var firstForm: PropertyListValue?
}

extension FieldState {
    /// Whether the value is `nil` or can be set to it.
    var mayBeNil: Bool { isOptional || form == nil }
}

/// A choice of a picker.
struct FieldChoice: Hashable {
    let form: PropertyListValue?
    let title: String
}

/// The rejections and resets in a field since it was shown.
struct FieldHistory {
    /// The value that was set last and rejected.
    var rejection: FieldRejection?
    /// The number of resets, each of which drops what was typed before.
    var resets = 0
}

/// The reason why a value was rejected, shown until the preference or its value is another.
struct FieldRejection: Equatable {
    let message: String
    let preference: AnyPreference
    let form: PropertyListValue?
}

/// Sets the values of a field's controls.
struct FieldEditor: Sendable {
    let preference: any EditablePreference
    let history: Binding<FieldHistory>

    /// Returns whether both edit the same preference; a field may be given another one while its control is in use.
    func isSame(as other: FieldEditor) -> Bool {
        AnyPreference(base: preference) == AnyPreference(base: other.preference)
    }

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

    /// A binding to a color; that of an optional is shown only if it is set.
    var color: Binding<Color> {
        Binding {
            preference.color() ?? .blue
        } set: { color, _ in
            note(preference.set(color: color))
        }
    }

    /// A binding to whether an optional color is set.
    var hasColor: Binding<Bool> {
        Binding {
            preference.color() != nil
        } set: { isSet, _ in
            note(preference.set(color: isSet ? .blue : nil))
        }
    }

    /// Sets a form, or `nil`.
    func set(form: PropertyListValue?) { note(preference.set(form: form)) }

    /// Sets the value of a text; returns whether it was accepted.
    func set(_ text: String) -> Bool { note(preference.set(text: text)) }

    /// Removes the stored value.
    func reset() {
        history.wrappedValue.resets += 1
        note(preference.removeStored())
    }

    @discardableResult
    private func note(_ error: PreferenceError?) -> Bool {
        let rejection = error.map {
            FieldRejection(
                message: "\($0.message).",
                preference: AnyPreference(base: preference),
                form: preference.isSecret ? nil : preference.form()
            )
        }
        // Setting the same value would evaluate the field.
        if history.wrappedValue.rejection != rejection { history.wrappedValue.rejection = rejection }
        return error == nil
    }
}

extension Preference: EditablePreference {
    func inStore(_ store: PreferenceStore) -> any EditablePreference { bound(to: store) }

    func fieldState() -> FieldState {
        // Registers with Observation, so before everything else is read.
        let isManaged = isManaged
        let any = AnyPreference(self)
        let core = store.resolved.core
        var state = FieldState(
            title: any.title ?? name.titleOfName,
            control: any.control,
            isOptional: Value.self is any _OptionalPreferenceValue.Type && !isRequired,
            isEditable: !isManaged && !isFixedMember && core.writable != nil,
            isSet: isSet,
            hasValue: storedValue.map { !$0.isUnset } ?? false,
            isShown: options?.deprecation == nil || storedValue != nil
        )
        guard state.isShown else { return state }
        let problem = problemOfStored()
        if state.control != .secret {
            state.form = form()
            state.text = fieldText(of: state.form)
        }
        // By the type first: a coding or a raw value may store a color as text.
        state.isColor = state.control != .secret && wrappedType(of: Value.self) is Color.Type
        if case .picker(let choices) = state.control {
            state.isColor = false
            state.choices = fieldChoices(choices, state)
        }
        // A required value that is still missing must not look like one.
        if state.control == .toggle, state.isOptional || state.form == nil {
            state.control = .picker([false, true])
            state.choices = [
                FieldChoice(form: nil, title: "Not set"), FieldChoice(form: false, title: "Off"),
                FieldChoice(form: true, title: "On"),
            ]
        }
        if state.control == .date { state.dates = allowedDates }
        if state.mayBeNil, state.isEditable { state.firstForm = firstForm(of: state) }
        state.notes = notes(isManaged, problem)
        return state
    }

    /// Returns why the value that is stored can't be used or read; `nil` if it can be. Doesn't open the store.
    private func problemOfStored() -> PreferenceError? {
        let declaration = declaration.resolved
        let candidates = declaration.registered()
        if let failure = declaration.store.core.target?.openingError { return failure }
        do throws(PreferenceError) {
            _ = try declaration.readStrictly(candidates)
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
        } else if store.resolved.core.writable == nil {
            notes.append("The store is read-only, so it can't be changed here.")
        } else if isFixedMember {
            notes.append("A part of another preference, so it can't be changed here.")
        } else if source != .store, source != .default {
            notes.append("The value comes from the layer \(source.name).")
        }
        if let problem {
            let isUnusable = problem.code == .unreadable || problem.code == .invalid
            notes.append(isUnusable ? "The stored value can't be used: \(problem.message)." : "\(problem.message).")
        }
        return notes
    }

    /// The dates between the bounds of the rule.
    private var allowedDates: ClosedRange<Date> {
        let rule = rules(ofOwnForms: isEditedAsItself).first { $0.kind == .range }
        let first = rule?.minimum?.fieldDate ?? .distantPast
        let last = rule?.maximum?.fieldDate ?? .distantFuture
        return first <= last ? first...last : .distantPast ... .distantFuture
    }

    /// Returns the first form that the rules allow, of those near the bounds; `nil` if there is none.
    private func firstForm(of field: FieldState) -> PropertyListValue? {
        let forms: [PropertyListValue] =
            switch field.control {
            case .stepper(let range): range.map { .integer($0) }
            case .slider(let range, let isWhole):
                [range.lowerBound.rounded(.up), range.upperBound.rounded(.down), range.lowerBound, range.upperBound]
                    .filter(range.contains).map { FieldState.form(of: $0, isWhole: isWhole) }
            case .date:
                [min(max(Date(), field.dates.lowerBound), field.dates.upperBound), field.dates.lowerBound]
                    .map { .date($0) }
            default: []
            }
        return forms.first { allows($0) }
    }

    private func allows(_ form: PropertyListValue) -> Bool {
        do throws(PreferenceError) {
            var parts: [EvolvingProblem] = []
            let value = try isEditedAsItself ? Self.value(ofOwn: form) : declaration.decodeUnchecked(form, &parts)
            guard let value else { return false }
            return try declaration.encode(value) != nil
        } catch {
            return false
        }
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
            let decoded = try isEditedAsItself ? Self.value(ofOwn: form) : declaration.decodeUnchecked(form, &parts)
            guard let value = decoded else { return form.fieldText }
            let wrapped = (value as? any _OptionalPreferenceValue)?.anyWrapped ?? value
            // The description of a case without one of its own is its name in code.
            let isName = wrapped is any CaseIterable && !(wrapped is any CustomStringConvertible)
            return isName ? Preferences.text(of: value).titleOfName : Preferences.text(of: value)
        } catch {
            return form.fieldText
        }
    }
}
#endif
