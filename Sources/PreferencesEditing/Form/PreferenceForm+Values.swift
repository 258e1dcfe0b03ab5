// How a field shows the value of a preference, and sets it.
#if canImport(SwiftUI)
internal import Preferences
internal import PreferencesSchema
internal import Foundation
internal import SwiftUI

extension Preference {
    /// Whether controls edit the form that the type has by itself, whichever coding stores it.
    var isEditedAsItself: Bool { AnyPreference(self).isEditedAsItself }

    /// Whether the value is a member that has no form by itself, so that it is set in the whole value only.
    var isFixedMember: Bool { isMember && !isEditedAsItself }

    /// The kind of text that stands for the value, as if it were no secret and had no rules.
    private var textKind: PreferenceControl { PreferenceControl(AnyPreference(self).storedKind) }

    func form() -> PropertyListValue? {
        let value = value
        if isEditedAsItself || isMember { return Self.ownForm(of: value) }
        do throws(PreferenceError) { return try declaration.encodeUnchecked(value) } catch { return nil }
    }

    func fieldText(of form: PropertyListValue?) -> String {
        switch form {
        case nil: ""
        case .date(let date)? where isEditedAsItself:
            DateText.text(forSeconds: date.timeIntervalSinceReferenceDate) ?? form?.fileText ?? ""
        case let form?:
            if isEditedAsItself || textKind != .form {
                FieldNumber().text(of: form, isFloat: wrappedType(of: Value.self) is Float.Type) ?? form.fieldText
            } else {
                form.fileText
            }
        }
    }

    func set(form: PropertyListValue?) -> PreferenceError? {
        guard let form else { return setNil() }
        do throws(PreferenceError) {
            var parts: [EvolvingProblem] = []
            let value =
                try isEditedAsItself
                ? Self.value(ofOwn: form) : declaration.resolved.decodeUnchecked(form, &parts, fillsOnly: true)
            guard let value else { return setNil() }
            return declaration.setFromView(value)
        } catch {
            return rejected(error)
        }
    }

    func color() -> Color? { value as? Color }

    func set(color: Color?) -> PreferenceError? {
        guard let color, let value = color as? Value else { return setNil() }
        return declaration.setFromView(value)
    }

    /// Sets `nil`, or removes the stored value if the type has none.
    private func setNil() -> PreferenceError? {
        guard let type = Value.self as? any ExpressibleByNilLiteral.Type, let none = type.init(nilLiteral: ()) as? Value
        else { return removeStored() }
        return declaration.setFromView(none)
    }

    func removeStored() -> PreferenceError? {
        do throws(PreferenceError) {
            try write(stored: nil)
            return nil
        } catch {
            let error = error.named(name)
            store.resolved.report(error)
            return error
        }
    }

    func set(text: String) -> PreferenceError? {
        if Value.self is String.Type { return set(form: .string(text)) }
        if text.isEmpty, Value.self is any _OptionalPreferenceValue.Type { return setNil() }
        if isEditedAsItself { return set(form: ownForm(in: text)) }
        do throws(PreferenceError) {
            guard textKind != .form else { return set(form: try PropertyListValue(fileText: text)) }
            let text = textKind == .number ? FieldNumber().plain(text) : text
            guard let value = try declaration.resolved.decode(text: text) else { return setNil() }
            return declaration.setFromView(value)
        } catch {
            return rejected(error)
        }
    }

    /// Notes that a text or a form has no value, and has a control that shows it evaluated again.
    private func rejected(_ error: PreferenceError) -> PreferenceError {
        let declaration = declaration.resolved
        declaration.store.core.signal(declaration.node)
        // The message has the text itself.
        return (isSecret ? error.redacted(as: Value.self) : error).named(name)
    }

    /// Returns the form that a person has typed for a type that is edited as itself.
    private func ownForm(in text: String) -> PropertyListValue {
        switch Value.self {
        case is String?.Type: .string(text)
        case is Bool.Type, is Bool?.Type: PropertyListValue(switchIn: text) ?? .string(text)
        case is Date.Type, is Date?.Type: PropertyListValue(dateIn: text) ?? .string(text)
        default: PropertyListValue(numberIn: FieldNumber().plain(text)) ?? .string(text)
        }
    }

    static func value(ofOwn form: PropertyListValue) throws(PreferenceError) -> Value? {
        do {
            return try (Value.self as? any PreferenceValue.Type)?.init(storedValue: form) as? Value
        } catch {
            throw PreferenceError(.unreadable, from: error)
        }
    }
}

extension _OptionalPreferenceValue {
    var anyWrapped: Any? { wrapped }
}

extension PropertyListValue {
    var fieldDate: Date? { if case .date(let date) = self { date } else { nil } }

    /// The value as a text field shows it: a text without quotes, others as the preferences file has them.
    var fieldText: String { if case .string(let text) = self { text } else { fileText } }

    /// The value as the preferences file has it.
    fileprivate var fileText: String {
        var bytes: [UInt8] = []
        do throws(PreferenceError) { try JSONLine.writeValue(self, to: &bytes) } catch { return description }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Creates the value of a text in the form of the preferences file.
    ///
    /// - Throws: `unreadable` for any other text, also one that ends too early.
    fileprivate init(fileText text: String) throws(PreferenceError) {
        do throws(JSONLineError) { self = try Self.value(in: text) } catch {
            // Keyboards put these in place of the quotes that were typed.
            let plain = text.replacing("\u{201C}", with: "\"").replacing("\u{201D}", with: "\"")
            do throws(JSONLineError) { self = try Self.value(in: plain) } catch {
                throw PreferenceError(
                    .unreadable,
                    "the text is not a value as the preferences file has it: \(error.reason)"
                )
            }
        }
    }

    private static func value(in text: String) throws(JSONLineError) -> PropertyListValue {
        try Array(text.utf8).withUnsafeBytes { bytes in
            Result { () throws(JSONLineError) in try JSONLine.readValue(bytes, isStrict: true) }
        }.get()
    }

    fileprivate init?(dateIn text: String) {
        let text = text.filter { !$0.isWhitespace }
        if let seconds = DateText.seconds(of: text) {
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        } else {
            do throws(PreferenceError) { self = try Self(fileText: text) } catch { return nil }
        }
    }

    fileprivate init?(switchIn text: String) {
        guard let value = PropertyListValue.string(text.filter { !$0.isWhitespace }).booleanInText else { return nil }
        self = .boolean(value)
    }

    fileprivate init?(numberIn text: String) {
        let text = text.filter { !$0.isWhitespace }
        if let value = Int64(text) {
            self = .integer(value)
        } else if let value = UInt64(text) {
            self = .unsigned(value)
        } else if text.contains(where: { ".eE".contains($0) }), let value = Double(text), value.isFinite {
            // Integers of more than 64 bits are stored as text, as a floating-point number would round them.
            self = .real(value)
        } else {
            return nil
        }
    }
}
#endif
