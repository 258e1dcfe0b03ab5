// What the options of a command line say, read by the declared type.

extension PreferenceDeclaration {
    /// Returns the value of the uses of the preference's option, in the order of the command line; `nil` if they say nothing about it.
    @inline(never)
    package func decode(_ uses: [OptionUse]) throws(PreferenceError) -> Value? {
        let shape = TextShape(of: Value.self, coding: coding.identifier)
        if shape == .boolean { return try uses.last.map(flag) ?? nil }
        // `--no-limit` may be the option of another preference, "no-limit".
        let texts = try uses.filter { $0 != .negation }.map { (use) throws(PreferenceError) in try text(of: use) }
        guard let last = texts.last else { return nil }
        switch shape {
        case .boolean, .single: return try decode(text: last)
        case .list: return try decode(elements: texts)
        case .dictionary: return try decode(members: texts)
        }
    }

    private func flag(_ use: OptionUse) throws(PreferenceError) -> Value? {
        switch use {
        case .alone: return try decode(stored: true)
        case .negation: return try decode(stored: false)
        case .joined(let text): return try decode(text: text)
        case .next(let text):
            // A word that is no value of the type is an argument for the program, unless it was probably meant as one.
            let isArgument = !canDecode(text: text) && !Self.wordsForFlags.contains(text.lowercased())
            return try isArgument ? decode(stored: true) : decode(text: text)
        }
    }

    private static var wordsForFlags: Set<String> {
        ["y", "n", "t", "f", "on", "off", "enable", "disable", "enabled", "disabled"]
    }

    private func text(of use: OptionUse) throws(PreferenceError) -> String {
        switch use {
        case .next(let text), .joined(let text): return text
        case .alone, .negation:
            throw PreferenceError(.unreadable, name: name, "the option needs a value: \(wrappedType(of: Value.self))")
        }
    }

    /// Returns the value of a list, to which each text adds an element, or those of a JSON array.
    private func decode(elements texts: [String]) throws(PreferenceError) -> Value? {
        var all: [PropertyListValue] = []
        for text in texts {
            if case .array(let elements) = JSONLine.compound(in: text), accepts(.array(elements)) {
                all += elements
            } else if let element = form(of: text, in: { .array([$0]) }) {
                all.append(element)
            } else {
                // Another form of the whole value, or the error says what was expected.
                guard texts.count > 1, !canDecode(text: text) else { return try decode(text: text) }
                all.append(.string(text))
            }
        }
        return try decode(stored: .array(all))
    }

    /// Returns the value of a dictionary, to which each text adds a member, `key=value`, or those of a JSON object.
    private func decode(members texts: [String]) throws(PreferenceError) -> Value? {
        var all: [String: PropertyListValue] = [:]
        for text in texts {
            if case .dictionary(let members) = JSONLine.compound(in: text), accepts(.dictionary(members)) {
                all.merge(members) { $1 }
            } else if let sign = text.firstIndex(of: "=") {
                let (key, value) = (String(text[..<sign]), String(text[sign...].dropFirst()))
                all[key] = form(of: value) { .dictionary([key: $0]) } ?? .string(value)
            } else {
                if texts.count == 1, isReadable(text) { return try decode(text: text) }
                let found = PropertyListValue.string(text).summary
                let error = PreferenceError(.unreadable, name: name, "expected key=value, found \(found)")
                throw isSecret ? error.redacted(as: Value.self) : error
            }
        }
        return try decode(stored: .dictionary(all))
    }

    private func decode(stored: PropertyListValue) throws(PreferenceError) -> Value? {
        var parts: [EvolvingProblem] = []  // stays empty: of a text, only members that it lacks are replaced
        return try decode(stored, &parts, isText: true)
    }

    /// Returns the stored form of a text inside of a collection, which `inside` creates around one; `nil` if the type has none.
    private func form(of text: String, in inside: (PropertyListValue) -> PropertyListValue) -> PropertyListValue? {
        let accepted = PropertyListValue.forms(of: text).filter { accepts(inside($0)) }
        // The codings also read forms of other libraries; the type's own comes first.
        return accepted.first { isOwnForm(inside($0)) } ?? accepted.first
    }

    private func isOwnForm(_ stored: PropertyListValue) -> Bool {
        do { return try coding.decode(stored).flatMap(coding.encode) == stored } catch { return false }
    }

    /// Returns whether a form can be decoded, without applying the rule.
    private func accepts(_ stored: PropertyListValue) -> Bool {
        do { return try coding.decode(stored) != nil } catch { return false }
    }

    private func canDecode(text: String) -> Bool {
        do throws(PreferenceError) { return try decode(text: text) != nil } catch { return error.code == .invalid }
    }

    /// Returns whether a text is a value or stands for `nil`, without applying the rule.
    private func isReadable(_ text: String) -> Bool {
        do throws(PreferenceError) {
            _ = try decode(text: text)
            return true
        } catch { return error.code == .invalid }
    }

    /// Returns the value that the uses of the preference's option set, which is the type's own `nil` for the text `null`; `nil` if they say
    /// nothing about it.
    ///
    /// - Throws: `invalid` for the `nil` of a required preference, `unreadable` for that of a type that has none.
    fileprivate func value(of uses: [OptionUse]) throws(PreferenceError) -> Value? {
        if let value = try decode(uses) { return value }
        guard let use = uses.last(where: { $0 != .negation }) else { return nil }
        if isRequired { throw missing }
        if let none: Value = nilValue(of: Value.self) { return none }
        let error = use.storedValue.mismatch(Value.self).of(name)
        throw isSecret ? error.redacted(as: Value.self) : error
    }
}

extension PropertyListValue {
    /// Returns the stored forms that a text inside a collection may have, the text itself first.
    fileprivate static func forms(of text: String) -> [PropertyListValue] {
        let value: PropertyListValue?
        do throws(JSONLineError) {
            value = try Array(text.utf8).withUnsafeBytes { bytes in
                Result { () throws(JSONLineError) in try JSONLine.readValue(bytes) }
            }.get()
        } catch {
            value = nil
        }
        return [.string(text)] + [value].compactMap { $0 } + readings(of: text)
    }
}

// MARK: Programs with a parser of their own

/// A text of an option that isn't a value of its preference.
package struct OptionMistake {
    /// The text in quotes, or the texts of a list that breaks a rule; empty for an option without one.
    package let texts: [String]
    /// The type of the value, or of a list's elements or a dictionary's members.
    package let type: any Any.Type
    /// How values of the type are written, if that can't be guessed.
    package let form: String?
    /// The reason that has no other words: that of a rule, or that `nil` is rejected.
    package let reason: String?
}

extension AnyPreference {
    /// How the value is written on a command line.
    package var textShape: TextShape { TextShape(of: base.valueType, coding: base.codingIdentifier) }

    /// The default in its stored form; `nil` if it is stored as nothing, or can't be encoded.
    package var storedDefault: PropertyListValue? {
        do throws(PreferenceError) { return try base.storedDefault() } catch { return nil }
    }

    /// The type of the value, or of a list's elements or a dictionary's members, without the optional around it.
    package var textType: any Any.Type { textShape.textType(of: base.valueType) }

    /// Returns what is wrong with the uses of the preference's option; `nil` if they are a value, or say nothing about it.
    package func mistake(in uses: [OptionUse]) -> OptionMistake? { base.mistake(in: uses) }

    /// Stores the value of texts, each of which is one option's; `null` is the `nil` of an optional that isn't text.
    ///
    /// - Throws: `unreadable` if they aren't a value of the type, or the errors of `Preference.write(_:)`; nothing is changed then.
    package func write(texts: [String]) throws(PreferenceError) { try base.write(texts: texts) }

    /// The value that the store itself has under the name, else under a former name.
    package var ownValue: PropertyListValue? { store.resolved.core.ownValue(ofPreference: name)?.value }

    /// Returns the stored form of the value that is read now; `nil` for none.
    package func currentForm() throws(PreferenceError) -> PropertyListValue? {
        try storedForm(in: store.resolved.snapshot(of: Set([name] + formerNames)))
    }

    /// Returns the reason why a stored value can't be used; `nil` if it can be.
    package func reasonToReject(_ stored: PropertyListValue) -> PreferenceError? { base.reasonToReject(stored) }
}

extension Preference {
    package func mistake(in uses: [OptionUse]) -> OptionMistake? {
        guard let error = declaration.error(of: uses) else { return nil }
        let wrong = uses.count == 1 ? [] : uses.filter { declaration.error(of: [$0])?.code == .unreadable }
        let shape = TextShape(of: Value.self, coding: declaration.coding.identifier)
        let shown = wrong.first.map { [$0] } ?? (shape == .single || shape == .boolean ? uses.suffix(1) : uses)
        let texts = shown.compactMap { if case .string(let text) = $0.storedValue { "'\(text)'" } else { nil } }
        let type = shape.textType(of: Value.self)
        let isChecked = storedRules.contains { $0.kind == .check && $0.requirement.isEmpty }
        let isMissing = declaration.isRequired && error.message == declaration.missing.message
        return OptionMistake(
            texts: texts,
            type: type,
            form: error.code == .unreadable ? PropertyListValue.form(of: type) : nil,
            reason: isMissing ? "it needs a value" : error.code == .invalid && isChecked ? error.message : nil
        )
    }

    package func write(texts: [String]) throws(PreferenceError) {
        let declaration = declaration.resolved
        guard let value = try declaration.value(of: texts.map { .joined($0) }) else { return }
        try Preference(declaration).write(value)
    }

    package func reasonToReject(_ stored: PropertyListValue) -> PreferenceError? {
        var parts: [EvolvingProblem] = []
        do throws(PreferenceError) {
            let value = try declaration.decode(stored, &parts)
            if value == nil, isRequired { return declaration.missing }
            return parts.first?.error.of(name)
        } catch {
            return error
        }
    }
}

extension PreferenceDeclaration {
    fileprivate func error(of uses: [OptionUse]) -> PreferenceError? {
        do throws(PreferenceError) {
            _ = try value(of: uses)
            return nil
        } catch {
            return error
        }
    }
}
