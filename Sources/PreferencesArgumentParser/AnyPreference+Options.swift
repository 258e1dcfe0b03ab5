#if ArgumentParser
internal import Preferences

// The texts of options, read by the type of their preference.

extension AnyPreference {
    /// Returns what a layer has for texts, each of which is one option's: the elements or the members of a collection, or the text alone.
    ///
    /// What can't be read stays text, which `mistake(in:of:)` finds.
    func form(of texts: [String]) -> PropertyListValue {
        switch textShape {
        case .boolean, .single: .string(texts[0])
        case .list: list(of: texts)
        case .dictionary: dictionary(of: texts)
        }
    }

    /// Returns the elements, of which each text adds one, or those of a JSON array.
    private func list(of texts: [String]) -> PropertyListValue {
        var all: [PropertyListValue] = []
        for text in texts {
            if case .array(let elements) = text.json, canDecode(.array(elements)) {
                all += elements
            } else if let element = form(of: text, in: { .array([$0]) }) {
                all.append(element)
            } else {
                // Alone it may be another form of the whole value, such as `null`.
                guard texts.count > 1 else { return .string(text) }
                all.append(.string(text))
            }
        }
        return .array(all)
    }

    /// Returns the members, of which each text adds one, `key=value`, or those of a JSON object.
    private func dictionary(of texts: [String]) -> PropertyListValue {
        var all: [String: PropertyListValue] = [:]
        for text in texts {
            if case .dictionary(let members) = text.json, canDecode(.dictionary(members)) {
                all.merge(members) { $1 }
            } else if let sign = text.firstIndex(of: "=") {
                let (key, value) = (String(text[..<sign]), String(text[sign...].dropFirst()))
                all[key] = form(of: value) { .dictionary([key: $0]) } ?? .string(value)
            } else {
                return texts.count > 1 ? .array([.string(text)]) : .string(text)
            }
        }
        return .dictionary(all)
    }

    /// Returns the form of a text inside of a collection, which `inside` creates around one; `nil` if the type has none.
    private func form(of text: String, in inside: (PropertyListValue) -> PropertyListValue) -> PropertyListValue? {
        let forms = [.string(text), text.json].compactMap { $0 } + PropertyListValue.readings(of: text)
        return forms.first { canDecode(inside($0)) }
    }

    /// Stores the value of texts, each of which is one option's; `null` is the `nil` of an optional that isn't text.
    func write(_ texts: [String]) throws(PreferenceError) { try reader.write(form: form(of: texts)) }
}

// MARK: Mistakes

extension AnyPreference {
    /// Returns the message about texts that aren't a value of the preference, which is named as the person has named it; `nil` if they
    /// are one.
    func mistake(in texts: [String], of name: String) -> String? {
        guard let problem = problem(of: texts) else { return nil }
        let wrong = texts.count > 1 ? texts.first { self.problem(of: [$0])?.code == .unreadable } : nil
        let shown = (wrong.map { [$0] } ?? texts).map { "'\($0)'" }
        let type = textShape == .dictionary ? "key=\(textType)" : "\(textType)"
        let form = problem.code == .unreadable ? PropertyListValue.form(of: textType) : nil
        let expected = [type, form].compactMap { $0 } + rules.compactMap(\.expectation)
        return
            "\(shown.joined(separator: ", ")) \(shown.count > 1 ? "aren't" : "isn't") a value of \(name): \(expected.joined(separator: ", "))"
            + (problem.reason.map { "; \($0)" } ?? "")
    }

    /// Returns what is wrong with texts, and the reason that the rules don't say.
    private func problem(of texts: [String]) -> (code: PreferenceError.Code, reason: String?)? {
        do throws(PreferenceError) {
            let isNil = try reader.isNil(form(of: texts))
            return isNil && isRequired ? (.invalid, "it needs a value") : nil
        } catch {
            let isSaid = !rules.contains { $0.kind == .check && $0.requirement.isEmpty }
            return (error.code, error.code != .invalid || isSaid ? nil : error.message)
        }
    }

    /// Returns whether a stored value can be used.
    func accepts(_ stored: PropertyListValue) -> Bool { reader.accepts(stored) }

    private var reader: any OptionReader {
        guard let reader = base as? any OptionReader else { preconditionFailure("another type than Preference") }
        return reader
    }
}

/// A preference of any type, which reads what `AnyPreference.form(of:)` returns.
private protocol OptionReader {
    /// Returns whether the value is `nil`; throws if it can't be read or breaks a rule.
    func isNil(_ form: PropertyListValue) throws(PreferenceError) -> Bool
    func write(form: PropertyListValue) throws(PreferenceError)
    func accepts(_ stored: PropertyListValue) -> Bool
}

extension Preference: OptionReader {
    fileprivate func isNil(_ form: PropertyListValue) throws(PreferenceError) -> Bool { try read(form) == nil }

    fileprivate func write(form: PropertyListValue) throws(PreferenceError) {
        if let value = try read(form) ?? nilValue(of: Value.self) { try write(value) }
    }

    fileprivate func accepts(_ stored: PropertyListValue) -> Bool {
        var parts: [EvolvingProblem] = []
        do throws(PreferenceError) {
            let value = try declaration.decode(stored, &parts)
            return parts.isEmpty && (value != nil || !isRequired)
        } catch { return false }
    }

    /// Returns the value; `nil` for that of an optional.
    private func read(_ form: PropertyListValue) throws(PreferenceError) -> Value? {
        var parts: [EvolvingProblem] = []  // stays empty: of a text, only members that it lacks are replaced
        let value: Value?
        if case .string(let text) = form {
            value = try declaration.decode(text: text)
        } else {
            value = try declaration.decode(form, &parts, isText: true)
        }
        guard value != nil || nilValue(of: Value.self) != nil else {
            throw PreferenceError(.unreadable, name: name, "the type has no nil")
        }
        return value
    }
}

extension AnyPreference {
    /// The default in its stored form; `nil` if it is stored as nothing, or can't be encoded.
    var storedDefault: PropertyListValue? {
        do throws(PreferenceError) { return try base.storedDefault() } catch { return nil }
    }

    /// The value that the store itself has under the name, else under a former name.
    var ownValue: PropertyListValue? { store.resolved.core.ownValue(ofPreference: name)?.value }

    /// Returns the stored form of the value that is read now; `nil` for none.
    func currentForm() throws(PreferenceError) -> PropertyListValue? {
        try storedForm(in: store.resolved.snapshot(of: [name]))
    }
}

extension String {
    /// The value whose JSON the text is.
    fileprivate var json: PropertyListValue? {
        do { return try PropertyListValue(json: self) } catch { return nil }
    }
}
#endif
