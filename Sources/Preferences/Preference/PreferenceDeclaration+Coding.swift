internal import CPreferences

#if canImport(Darwin) || STANDINS
internal import Foundation
#endif

// The stored form of a value that is set, and the value of stored forms.

extension PreferenceDeclaration {
    /// Returns what a set of `value` stores, or `nil` to remove the stored value.
    ///
    /// - Parameters:
    ///   - candidates: The stored values of the name, into which a value with members is merged.
    ///   - part: The member that is set, if only one is.
    func encode(
        _ value: Value,
        over candidates: @autoclosure () throws(PreferenceError) -> [Candidate],
        part: MemberSet? = nil
    ) throws(PreferenceError) -> PropertyListValue? {
        if let member { return try member.encode(value, try candidates(), part) }
        let new = try encode(value)
        return dependsOnStored(new) ? form(of: new, over: try candidates(), part: part) : new
    }

    /// Returns the stored form of `value` alone, which is not a member; `nil` for `nil`.
    package func encode(_ value: Value) throws(PreferenceError) -> PropertyListValue? {
        runsClosures ? try convert(value) : try checkedForm(of: value)
    }

    @inline(never)
    private func convert(_ value: Value) throws(PreferenceError) -> PropertyListValue? {
        try beginConversion()
        let form = Result { () throws(PreferenceError) in try checkedForm(of: value) }
        try endConversion()
        return try form.get()
    }

    /// Whether a rule or a coding of the program runs for each value.
    @inline(__always)
    private var runsClosures: Bool {
        if options != nil { return true }
        return if case .native = coding.form { false } else { true }
    }

    /// Records that rules and codings of the preference run; throws if one of them has led to this.
    @inline(never)
    private func beginConversion() throws(PreferenceError) {
        if !preferences_begin_conversion(Unmanaged.passUnretained(node).toOpaque()) { throw misuse }
    }

    /// Records the end of that; throws if one of them has used the preference.
    @inline(never)
    private func endConversion() throws(PreferenceError) {
        if preferences_end_conversion() { throw misuse }
    }

    private var misuse: PreferenceError {
        PreferenceError(
            .misuse,
            name: name,
            "a rule or a coding uses the preference whose value it checks or converts; nothing was changed. Use only its argument"
        )
    }

    @inline(__always)
    private func checkedForm(of value: Value) throws(PreferenceError) -> PropertyListValue? {
        if let options, let reason = options.reasonToReject(value) {
            throw PreferenceError(.invalid, name: name, "\(shown(reason)); nothing was changed")
        }
        if isRequired, Self.isAbsent(value, coding) { throw missing }
        let stored = try encodeUnchecked(value, isStored: true)
        if isRequired, stored == nil { throw missing }
        if case .dictionary = stored, stored?.isUnset ?? false {
            throw PreferenceError(
                .unencodable,
                name: name,
                "a dictionary {\"$unset\": true} would be read as nil; nothing was changed. Use another key"
            )
        }
        return stored
    }

    /// The error for `nil` if the preference requires a value.
    var missing: PreferenceError {
        PreferenceError(
            .invalid,
            name: name,
            "the preference needs a value, so nil is rejected; nothing was changed. reset() removes the stored value"
        )
    }

    /// Returns the stored form of a value that need not meet the rule, such as a default.
    ///
    /// - Parameter isStored: Whether the result is for the store; user defaults have their own form of some values.
    package func encodeUnchecked(_ value: Value, isStored: Bool = false) throws(PreferenceError) -> PropertyListValue? {
        do {
            #if canImport(Darwin) || STANDINS
            if isStored, let stored = try userDefaultsForm(of: value) { return stored }
            #endif
            return try coding.encode(value)
        } catch {
            throw unencodable(because: error)
        }
    }

    @inline(never)
    private func unencodable(because error: any Error) -> PreferenceError {
        let isSecret = isSecret
        if !isSecret, let error = error as? PreferenceError { return error.of(name) }
        return PreferenceError(
            (error as? PreferenceError)?.code ?? .unencodable,
            name: name,
            "the \(Value.self) can't be stored; nothing was changed",
            cause: isSecret ? nil : error
        )
    }

    /// Returns the value of a stored form, or `nil` if that counts as absent.
    ///
    /// - Parameter problems: Receives the parts of the value that can't be read, while the rest can.
    // Inlined, as the functions that it calls: each generic function looks up the type of the optional value, which takes 330
    // instructions.
    @inline(__always)
    package func decode(
        _ stored: PropertyListValue,
        _ problems: inout [EvolvingProblem],
        isText: Bool = false
    ) throws(PreferenceError) -> Value? {
        if stored.isUnset { return nil }
        guard member == nil, runsClosures else { return try decodeUnchecked(stored, &problems, fillsOnly: isText) }
        try beginConversion()
        var value: Value?
        var failure: PreferenceError?
        do throws(PreferenceError) {
            value = try decodeUnchecked(stored, &problems, fillsOnly: isText)
            if let value, let options, let reason = options.reasonToReject(value) {
                let shown = shown(reason)
                let message = isText ? "the text is not allowed: \(shown)" : "the value is not allowed: \(shown)"
                failure = PreferenceError(.invalid, name: name, message)
            }
        } catch {
            failure = error
        }
        try endConversion()
        if let failure { throw failure }
        return value
    }

    /// Returns the reason that errors show for a rejected value.
    private func shown(_ reason: String) -> String { isSecret ? PreferenceError.redactedReason : reason }

    /// Returns the value of a stored form, as `decode` does, without applying the rule.
    ///
    /// - Parameter fillsOnly: Whether only members that aren't stored are read from the default.
    @inline(__always)
    package func decodeUnchecked(
        _ stored: PropertyListValue,
        _ problems: inout [EvolvingProblem],
        fillsOnly: Bool = false
    ) throws(PreferenceError) -> Value? {
        if let member { return try member.decode(stored, &problems, fillsOnly) }
        do {
            return try coding.decode(stored)
        } catch {
            return try decodeEvolved(stored, &problems, fillsOnly: fillsOnly, because: error)
        }
    }

    /// Returns the value of a form that another version of the program has stored.
    @inline(never)
    private func decodeEvolved(
        _ stored: PropertyListValue,
        _ problems: inout [EvolvingProblem],
        fillsOnly: Bool,
        because error: any Error
    ) throws(PreferenceError) -> Value? {
        do {
            if let (value, reader) = try coding.evolved(stored, default: makeDefault(), fillsOnly: fillsOnly) {
                problems = reader.problems
                return value
            }
        } catch {}  // the error of the declared coding says what was expected
        throw unreadable(because: error, isText: fillsOnly)
    }

    @inline(never)
    private func unreadable(because error: any Error, isText: Bool) -> PreferenceError {
        let error =
            (error as? PreferenceError)?.of(name)
            ?? PreferenceError(
                .unreadable,
                name: name,
                isText
                    ? "the text can't be decoded as \(Value.self)"
                    : "the value can't be decoded as \(Value.self)",
                cause: error
            )
        // The error of a member is the error of the whole value, which is already redacted.
        return isSecret && member == nil ? error.redacted(as: Value.self) : error
    }

    /// Returns the value of the first candidate that can be read, or nil if that is unset or none can be read.
    ///
    /// - Parameters:
    ///   - outcome: Receives that candidate, and what can't be read.
    ///   - isReporting: Whether the use of a deprecated preference and of a former name is reported.
    // Not in a tuple: generic code looks up the type of one at each call, which took 700 instructions.
    func read(_ candidates: [Candidate], _ outcome: inout ReadOutcome, isReporting: Bool = true) -> Value? {
        var parts: [EvolvingProblem] = []
        var value: Value?
        for (index, candidate) in candidates.enumerated() {
            if !candidate.value.isUnset {
                do throws(PreferenceError) { value = try decode(candidate, &parts) } catch {
                    outcome.problems.append(unreadable(candidate, because: error))
                }
                if value == nil { continue }
            }
            outcome.index = index
            break
        }
        if isReporting, let options, options.reportsUse, !candidates.isEmpty {
            reportOldUse(of: outcome.used(in: candidates), options)
        }
        if !parts.isEmpty, let used = outcome.used(in: candidates) {
            outcome.parts = parts.map { unreadable($0, of: used) }
        }
        if outcome.index == nil, !outcome.problems.isEmpty {
            for index in outcome.problems.indices { outcome.problems[index].outcome = "the default is used" }
        }
        return value
    }

    @inline(never)
    private func unreadable(_ candidate: Candidate, because error: PreferenceError) -> UnreadableValue {
        UnreadableValue(candidate, of: node, because: error, "the next layer's value is used", isSecret: isSecret)
    }

    private func unreadable(_ part: EvolvingProblem, of candidate: Candidate) -> UnreadableValue {
        let isSecret = isSecret
        let error = part.error.of(name)
        let shown = isSecret ? error.redacted(as: Value.self) : error
        return UnreadableValue(candidate, of: node, because: shown, part.outcome, isSecret: isSecret)
    }

    /// Returns the value of the first candidate that can be read, or `nil` without candidates; throws if none can be read.
    ///
    /// For callers that must not use the default in place of an unreadable value.
    @inline(__always)
    package func readStrictly(_ candidates: [Candidate]) throws(PreferenceError) -> Value? {
        var outcome = ReadOutcome()
        let value = read(candidates, &outcome)
        if let failure = outcome.failure { throw failure }
        return value
    }

    /// Returns the value of the first of the store's own candidates that isn't absent, without applying the rules; nil if that is unset or
    /// can't be decoded, or doesn't store the member that is declared.
    func readOwn(_ candidates: [Candidate], _ outcome: inout ReadOutcome) -> Value? {
        for candidate in candidates {
            if candidate.value.isUnset { return nil }
            var parts: [EvolvingProblem] = []
            do throws(PreferenceError) {
                guard let value = try decodeUnchecked(candidate.value, &parts) else { continue }
                outcome.parts = parts.map { unreadable($0, of: candidate) }
                return member?.isStored(value, candidate.value, nil) ?? true ? value : nil
            } catch {
                outcome.problems = [
                    UnreadableValue(candidate, of: node, because: error, "it isn't migrated", isSecret: isSecret)
                ]
                return nil
            }
        }
        return nil
    }

    /// Returns whether a candidate can be decoded to a value.
    func canRead(_ candidate: Candidate) -> Bool {
        var parts: [EvolvingProblem] = []
        if candidate.value.isUnset { return true }
        do throws(PreferenceError) { return try decode(candidate, &parts) != nil } catch { return false }
    }

    /// Whether a candidate is a text that a person wrote for the declared type.
    func isText(_ candidate: Candidate) -> Bool { store.core.layers[candidate.layer].isText }

    @inline(__always)
    private func decode(
        _ candidate: Candidate,
        _ problems: inout [EvolvingProblem]
    ) throws(PreferenceError) -> Value? {
        guard isText(candidate), case .string(let text) = candidate.value else {
            return try decode(candidate.value, &problems)
        }
        return try decode(text: text, isWord: store.core.layers[candidate.layer].isWord(node.name(of: candidate)))
    }

    /// Returns the value of a text; `true`, for a Boolean, of another word behind its option.
    @inline(never)
    package func decode(text: String, isWord: Bool = false) throws(PreferenceError) -> Value? {
        var parts: [EvolvingProblem] = []  // stays empty: of a text, only members that it lacks are replaced
        // Before the codings, which read JSON, too, but give null and keys with a `$` another meaning.
        if let value = JSONLine.compound(in: text) {
            // The text itself may be the value.
            do throws(PreferenceError) { return try decode(value, &parts, isText: true) } catch {}
        }
        let error: PreferenceError
        do throws(PreferenceError) {
            return try decode(.string(text), &parts, isText: true)
        } catch let first {
            error = first
        }
        // A word that no type reads as the flag's value is an argument for the program.
        let flags: [PropertyListValue] = isWord && error.code == .unreadable && !text.isLikeBoolean ? [true] : []
        for value in PropertyListValue.readings(of: text) + flags {
            do throws(PreferenceError) {
                return try decode(value, &parts, isText: true)
            } catch {
                continue
            }
        }
        throw error
    }
}

#if canImport(Darwin) || STANDINS
extension PreferenceDeclaration {
    /// Returns the form in which `UserDefaults.set(_:forKey:)` and `AppStorage` store the value, if it is a URL in a store that
    /// writes to user defaults, the only place that is asked for single names; `nil` for other values.
    private func userDefaultsForm(of value: Value) throws -> PropertyListValue? {
        guard Value.self == URL.self || Value.self == URL?.self, coding.identifier == "native",
            let url = value as? URL, store.resolved.core.target?.isKeyed == true
        else { return nil }
        return try url.userDefaultsForm()
    }
}
#endif
