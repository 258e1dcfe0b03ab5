internal import DurableFile
public import Synchronization

#if canImport(Darwin) || STANDINS
internal import Foundation
#endif

/// A preference's declaration and the slot of its decoded value; all copies of the preference share it.
@usableFromInline
final class PreferenceDeclaration<Value: Sendable>: Sendable {
    @usableFromInline let slot: PreferenceCell
    @usableFromInline let signal: PreferenceSignal
    @usableFromInline let makeDefault: @Sendable () -> Value
    let store: PreferenceStore
    /// The store's node for the name, which it keeps while a declaration of the name exists.
    let node: PreferenceNode
    let name: String
    let coding: PreferenceCoding<Value>
    /// The options of the declaration; `nil` if it has none. The rules are those of the whole value.
    let options: DeclaredOptions?
    /// Whether `nil` is rejected.
    let isRequired: Bool
    /// The member of the stored value that is declared, or `nil` for the whole value.
    let member: ValueMember<Value>?

    /// Creates a declaration, without reading the store.
    init(
        name: String,
        in store: PreferenceStore,
        coding: PreferenceCoding<Value>,
        options: DeclaredOptions?,
        member: ValueMember<Value>? = nil,
        default makeDefault: @escaping @Sendable () -> Value
    ) {
        self.makeDefault = makeDefault
        self.store = store
        self.name = name
        self.coding = coding
        self.options = options
        self.member = member
        isRequired = (options?.isRequired ?? false) && Self.isAbsent(makeDefault(), coding)
        let key = SlotKey(
            type: ObjectIdentifier(Value.self),
            coding: coding.identifier,
            rules: member == nil ? options?.slotIdentity : member?.rules,
            member: member?.keyPath
        )
        (slot, node) = store.core.declare(name, key) { PreferenceCell.create(for: Value.self) }
        signal = node.signal
        if let options { note(options) }
    }

    /// Returns whether a value is `nil`, however that is stored, or one of another type that is stored as nothing.
    private static func isAbsent(_ value: Value, _ coding: PreferenceCoding<Value>) -> Bool {
        if let value = value as? any _OptionalPreferenceValue { return value.isNil }
        do { return try coding.encode(value) == nil } catch { return false }
    }

    /// Records what the options mean for the store, and reports those that contradict each other.
    @inline(never)
    private func note(_ options: DeclaredOptions) {
        if options.isSecret { store.core.noteSecret(name) }
        if !options.formerNames.isEmpty { store.core.noteFormerNames(options.formerNames, of: name) }
        guard member == nil else { return }
        if options.hasEmptyFormerName {
            store.core.noteMisuse(
                PreferenceError(
                    .misuse,
                    name: name,
                    "an empty former name is ignored; remove it from .formerly"
                )
            )
        }
        for option in options.repeated {
            store.core.noteMisuse(
                PreferenceError(
                    .misuse,
                    name: name,
                    "the option .\(option) is given twice; the last one is used. Remove the other"
                )
            )
        }
        guard options.isRequired, !isRequired else { return }
        store.core.noteMisuse(
            PreferenceError(
                .misuse,
                name: name,
                "a required preference has no default, so .required is ignored; remove it or the default"
            )
        )
    }

    deinit {
        slot.leave(as: Value.self)
    }

    /// Returns the same declaration in another store.
    func bound(to store: PreferenceStore) -> PreferenceDeclaration {
        PreferenceDeclaration(
            name: name,
            in: store,
            coding: coding,
            options: options,
            member: member,
            default: makeDefault
        )
    }

    /// Whether the declaration itself makes the value a secret; see `isSecret`.
    var isDeclaredSecret: Bool { options?.isSecret ?? false }

    /// Whether this declaration or its store says that the value is a secret.
    ///
    /// Acquires locks, so it is read only to describe a value or an error.
    var isSecret: Bool { isDeclaredSecret || store.core.isSecret(name) }

    /// The declaration in effect: this one or, inside `withIsolatedStores`, the same in the store that replaces the declared one.
    var resolved: PreferenceDeclaration {
        guard let store = store.isolated else { return self }
        return bound(to: store)
    }

    /// The preference's value, registered with Observation; the hot path.
    @inlinable
    var value: Value {
        // Registers before it reads: a change in between is either read or notifies the tracking.
        signal.access()
        let stamp = slot.stamp.load(ordering: .acquiring)
        switch stamp & PreferenceCell.kinds {
        case PreferenceCell.absent:
            return makeDefault()
        case PreferenceCell.present:
            if let value: Value = slot.value(at: stamp) { return value }
        default:
            break
        }
        return load() ?? makeDefault()
    }

    /// Reads the store, decodes the value and caches it for the next read; returns `nil` if the default is the value.
    @usableFromInline
    @inline(never)
    func load() -> Value? {
        if let isolated = store.isolated {
            let declaration = bound(to: isolated)
            // `value` has registered with this store's signal, which notifies of changes of the shared store only.
            declaration.signal.access()
            return declaration.load()
        }
        while true {
            let (candidates, ticket, isKept) = register()
            let (value, _, problems, parts) = read(candidates)
            let replaced = isKept ? keep(value, ticket: ticket) : nil
            // Releases the replaced value here, without the lock: its `deinit` may be the program's code.
            withExtendedLifetime(replaced) {}
            if !parts.isEmpty { store.report(parts, name: name) }
            guard !problems.isEmpty else { return value }
            store.report(unreadable: problems, name: name)
            // From here on, a change in a layer below the unreadable value notifies observers; an earlier one is read now.
            if store.core.state.withLock({ _ in slot.isUnchanged(since: ticket) }) { return value }
        }
    }

    /// Reports, once each, that a deprecated preference has a value, and that a person wrote the value under a former name.
    @inline(never)
    private func reportOldUse(of candidate: StoredCandidate?, _ options: DeclaredOptions) {
        // A transaction in isolation reads preferences of the store that it replaces.
        let core = store.resolved.core
        if let deprecation = options.deprecation {
            core.reportOnce(
                PreferenceError(.deprecated, name: name, "the preference is deprecated and has a value; \(deprecation)")
            )
        }
        if let issue = candidate?.useOfFormerName(of: name) { core.reportOnce(issue) }
    }

    /// Registers with Observation, then returns the stored candidates, the ticket for caching the decoded value, and whether it may
    /// be cached.
    func register() -> (candidates: StoredCandidates, ticket: UInt64, isKept: Bool) {
        while true {
            let registered = signal.currentEpoch
            signal.access()
            let (candidates, ticket, isKept, epoch) = store.core.candidates(for: name, cell: slot, signal: signal)
            // A change in between has ended the registered epoch, and the end of the next one would not notify the tracking.
            if epoch == registered { return (candidates, ticket, isKept) }
        }
    }

    /// Caches a value unless a change came in between; returns the value that was cached before.
    private func keep(_ value: Value?, ticket: UInt64) -> Value? {
        store.core.state.withLock { _ in
            slot.ticket == ticket && !store.keepsNothing ? slot.fill(value) : nil
        }
    }
}

/// A member of a preference's value that is itself declared as a preference.
///
/// It is a class because most declarations have none, and copying `nil` is cheap.
final class ValueMember<Value: Sendable>: Sendable {
    // The key path of a literal is immutable; `AnyKeyPath` loses its `Sendable` together with its types.
    nonisolated(unsafe) let keyPath: AnyKeyPath
    /// The identity of the whole value's rules.
    let rules: ObjectIdentifier?
    /// The identities of the declarations of the values that it is a member of, innermost first.
    let enclosingDeclarations: [ObjectIdentifier]
    /// Returns the stored form of the whole value with a new value of the member, from the candidates for the whole; the last
    /// argument is the part of the member that is set, if only one is.
    let encode: Encode
    typealias Encode =
        @Sendable (Value, StoredCandidates, MemberSet?) throws(PreferenceError) -> PropertyListValue?
    /// Returns the member in a stored form of the whole value.
    let decode: Decode
    typealias Decode = @Sendable (PropertyListValue, inout [EvolvingProblem], Bool) throws(PreferenceError) -> Value?
    /// Returns what merges a kept form of the whole value into a stored one; see `PreferenceDeclaration.merge(over:)`.
    let merge: @Sendable (StoredCandidates) throws(PreferenceError) -> Outbox.Merge

    init(
        keyPath: AnyKeyPath,
        rules: ObjectIdentifier?,
        enclosingDeclarations: [ObjectIdentifier],
        decode: @escaping Decode,
        merge: @escaping @Sendable (StoredCandidates) throws(PreferenceError) -> Outbox.Merge,
        encode: @escaping Encode
    ) {
        self.merge = merge
        self.decode = decode
        self.keyPath = keyPath
        self.rules = rules
        self.enclosingDeclarations = enclosingDeclarations
        self.encode = encode
    }
}

// MARK: Storing and reading values

extension PreferenceDeclaration {
    /// Returns what a set of `value` stores, or `nil` to remove the stored value.
    ///
    /// - Parameters:
    ///   - candidates: The stored values of the name, into which a value with members is merged.
    ///   - part: The member that is set, if only one is.
    func encode(
        _ value: Value,
        over candidates: @autoclosure () throws(PreferenceError) -> StoredCandidates,
        part: MemberSet? = nil
    ) throws(PreferenceError) -> PropertyListValue? {
        if let member { return try member.encode(value, try candidates(), part) }
        let new = try encode(value)
        return dependsOnStored(new) ? try form(of: new, over: try candidates(), part: part) : new
    }

    /// Returns the stored form of `value` alone, which is not a member; `nil` for `nil`.
    func encode(_ value: Value) throws(PreferenceError) -> PropertyListValue? {
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
                "the value is stored as {\"$unset\": true}, which stands for nil; nothing was changed. Use another key"
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
    func encodeUnchecked(_ value: Value, isStored: Bool = false) throws(PreferenceError) -> PropertyListValue? {
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
    func decode(
        _ stored: PropertyListValue,
        _ problems: inout [EvolvingProblem],
        isText: Bool = false
    ) throws(PreferenceError) -> Value? {
        if stored.isUnset { return nil }
        let value = try decodeUnchecked(stored, &problems, fillsOnly: isText)
        if let value, let options, member == nil, let reason = options.reasonToReject(value) {
            throw PreferenceError(.invalid, name: name, "the stored value is not allowed: \(shown(reason))")
        }
        return value
    }

    /// Returns the reason that errors show for a rejected value.
    private func shown(_ reason: String) -> String { isSecret ? PreferenceError.redactedReason : reason }

    /// Returns the value of a stored form, as `decode` does, without applying the rule.
    ///
    /// - Parameter fillsOnly: Whether only members that aren't stored are read from the default.
    @inline(__always)
    func decodeUnchecked(
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
        throw unreadable(because: error)
    }

    @inline(never)
    private func unreadable(because error: any Error) -> PreferenceError {
        let error =
            (error as? PreferenceError)?.of(name)
            ?? PreferenceError(
                .unreadable,
                name: name,
                "the stored value can't be decoded as \(Value.self)",
                cause: error
            )
        // The error of a member is the error of the whole value, which is already redacted.
        return isSecret && member == nil ? error.redacted(as: Value.self) : error
    }

    /// Returns the value of the first candidate that can be read, or nil if that is unset or none can be read; that candidate; the
    /// problems of the candidates before it; and its parts that can't be read.
    ///
    /// - Parameter isReporting: Whether the use of a deprecated preference and of a former name is reported.
    @inline(__always)
    func read(
        _ candidates: StoredCandidates,
        isReporting: Bool = true
    ) -> (value: Value?, used: StoredCandidate?, problems: [UnreadableValue], parts: [UnreadableValue]) {
        var problems: [(candidate: StoredCandidate, error: PreferenceError)] = []
        var parts: [EvolvingProblem] = []
        var value: Value?
        // The closure doesn't return the value: the type of a generic result would be looked up at each call.
        let used = candidates.first { candidate in
            if candidate.value.isUnset { return true }
            do throws(PreferenceError) { value = try decode(candidate, &parts) } catch {
                problems.append((candidate, error))
            }
            return value != nil
        }
        if isReporting, let options, options.reportsUse, !candidates.isEmpty { reportOldUse(of: used, options) }
        if problems.isEmpty, parts.isEmpty { return (value, used, [], []) }
        let isSecret = isSecret
        let outcome = used == nil ? "the default is used" : "the next layer's value is used"
        return (
            value,
            used,
            problems.map { UnreadableValue($0, because: $1, outcome, isSecret: isSecret) },
            used.map { used in parts.map { unreadable($0, of: used, isSecret: isSecret) } } ?? []
        )
    }

    private func unreadable(_ part: EvolvingProblem, of candidate: StoredCandidate, isSecret: Bool) -> UnreadableValue {
        let error = part.error.of(name)
        let shown = isSecret ? error.redacted(as: Value.self) : error
        return UnreadableValue(candidate, because: shown, part.outcome, isSecret: isSecret)
    }

    /// Returns the value of the first candidate that can be read, or `nil` without candidates; throws if none can be read.
    ///
    /// For callers that must not use the default in place of an unreadable value.
    func readStrictly(_ candidates: StoredCandidates) throws(PreferenceError) -> Value? {
        let (value, used, problems, _) = read(candidates)
        if used == nil, let problem = problems.first { throw problem.reason }
        return value
    }

    /// Returns whether a candidate can be decoded to a value.
    func canRead(_ candidate: StoredCandidate) -> Bool {
        var parts: [EvolvingProblem] = []
        if candidate.value.isUnset { return true }
        do throws(PreferenceError) { return try decode(candidate, &parts) != nil } catch { return false }
    }

    @inline(__always)
    private func decode(
        _ candidate: StoredCandidate,
        _ problems: inout [EvolvingProblem]
    ) throws(PreferenceError) -> Value? {
        guard candidate.isText, case .string(let text) = candidate.value else {
            return try decode(candidate.value, &problems)
        }
        return try decode(text: text)
    }

    @inline(never)
    private func decode(text: String) throws(PreferenceError) -> Value? {
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
        for value in PropertyListValue.readings(of: text) {
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
    /// writes to user defaults, the only reentrant backend; `nil` for other values.
    private func userDefaultsForm(of value: Value) throws -> PropertyListValue? {
        guard Value.self == URL.self || Value.self == URL?.self, coding.identifier == "native",
            let url = value as? URL, store.resolved.core.layers.writable?.reentrant != nil
        else { return nil }
        return try url.userDefaultsForm()
    }
}
#endif
