internal import DurableFile
public import Synchronization

/// A preference's declaration and the slot of its decoded value; all copies of the preference share it.
@usableFromInline
final class PreferenceDeclaration<Value: Sendable>: Sendable {
    @usableFromInline let slot: PreferenceSlot<Value>
    @usableFromInline let signal: PreferenceSignal
    @usableFromInline let makeDefault: @Sendable () -> Value
    let store: PreferenceStore
    /// What the store keeps for the name; it does as long as there is a declaration.
    let node: PreferenceNode
    let name: String
    let coding: PreferenceCoding<Value>
    let condition: PreferenceRule<Value>.Condition?
    let description: String?
    /// Whether this declaration says that the value is a secret; see `isSecret`.
    let isDeclaredSecret: Bool
    /// The part of the stored value that this is, if it isn't all of it.
    let member: ValueMember<Value>?

    /// Reads nothing.
    init(
        name: String,
        in store: PreferenceStore,
        coding: PreferenceCoding<Value>,
        condition: PreferenceRule<Value>.Condition?,
        description: String?,
        isSecret: Bool,
        member: ValueMember<Value>? = nil,
        default makeDefault: @escaping @Sendable () -> Value
    ) {
        self.makeDefault = makeDefault
        self.store = store
        self.name = name
        self.coding = coding
        self.condition = condition
        self.description = description
        isDeclaredSecret = isSecret
        self.member = member
        let key = SlotKey(
            type: ObjectIdentifier(Value.self),
            coding: coding.identifier,
            rule: condition.map(ObjectIdentifier.init) ?? member?.rule,
            member: member?.keyPath
        )
        let forgotten: [PreferenceNode]
        (slot, node, forgotten) = store.core.state.withLock { $0.slot(for: name, key: key) }
        signal = node.signal
        withExtendedLifetime(forgotten) {}
        if isSecret { store.core.noteSecret(name) }
    }

    deinit {
        slot.leave()
    }

    /// The same declaration in another store.
    func bound(to store: PreferenceStore) -> PreferenceDeclaration {
        PreferenceDeclaration(
            name: name,
            in: store,
            coding: coding,
            condition: condition,
            description: description,
            isSecret: isDeclaredSecret,
            member: member,
            default: makeDefault
        )
    }

    /// Whether the value is a secret, by this declaration or by what its store knows.
    ///
    /// Takes locks, so only what describes the value, or fails, asks for it.
    var isSecret: Bool { isDeclaredSecret || store.core.isSecret(name) }

    /// The declaration in use: this one, or the same in the store that stands in for the declared one just now.
    var resolved: PreferenceDeclaration {
        guard let store = store.isolated else { return self }
        return bound(to: store)
    }

    /// The preference's value, registered with whatever tracks observation just now; the hot path.
    @inlinable
    var value: Value {
        // First register, then read: a change in between is then seen one way or the other.
        signal.access()
        let stamp = slot.stamp.load(ordering: .acquiring)
        switch stamp & PreferenceCell.kinds {
        case PreferenceCell.absent:
            return makeDefault()
        case PreferenceCell.present:
            let value = PreferenceSlot<Value>.isPlain ? slot.plainValue(at: stamp) : slot.keptValue(at: stamp)
            if let value { return value }
        default:
            break
        }
        return load() ?? makeDefault()
    }

    /// Reads the store, decodes, and keeps the result for the next read; nil means that the default answers.
    @usableFromInline
    @inline(never)
    func load() -> Value? {
        if let isolated = store.isolated {
            let declaration = bound(to: isolated)
            // `value` has registered with this store's signal, which tells of the shared store only.
            declaration.signal.access()
            return declaration.load()
        }
        while true {
            let (candidates, ticket, isKept) = register()
            let (value, problems) = read(candidates)
            let replaced = isKept ? keep(value, ticket: ticket) : nil
            // The value that was replaced ends here, outside of the lock: its deinit may be anybody's code.
            withExtendedLifetime(replaced) {}
            guard !problems.isEmpty else { return value }
            store.report(unreadable: problems, name: name)
            // From here on a change below the unreadable value is told; one that came before is read.
            if store.core.state.withLock({ _ in slot.isUnchanged(since: ticket) }) { return value }
        }
    }

    /// Registers with Observation, then looks at what is stored; with the ticket to keep what is decoded of it, and whether that
    /// is allowed.
    func register() -> (candidates: StoredCandidates, ticket: UInt64, isKept: Bool) {
        while true {
            let registered = signal.currentEpoch
            signal.access()
            let (candidates, ticket, isKept, epoch) = store.core.candidates(for: name, cell: slot, signal: signal)
            // A change in between ended the epoch that was registered; the next one's end would not be told.
            if epoch == registered { return (candidates, ticket, isKept) }
        }
    }

    /// Keeps a value unless a change came in between; returns what was kept before.
    private func keep(_ value: Value?, ticket: UInt64) -> Value? {
        store.core.state.withLock { _ in
            slot.ticket == ticket && !store.keepsNothing ? slot.fill(value) : nil
        }
    }
}

/// The part of a preference's value that a preference of its own stands for.
///
/// A class, as most declarations have none, and to copy nothing is cheap.
final class ValueMember<Value: Sendable>: Sendable {
    // A literal's key path is immutable; that it can be sent is lost where its types are.
    nonisolated(unsafe) let keyPath: AnyKeyPath
    /// The identity of the whole value's rule.
    let rule: ObjectIdentifier?
    /// The identities of the declarations that it is a part of.
    let wholes: [ObjectIdentifier]
    /// Returns the stored form of the whole value with this one as its member, by the candidates for the whole.
    let encode: @Sendable (Value, StoredCandidates) throws(PreferencesError) -> PropertyListValue?

    init(
        keyPath: AnyKeyPath,
        rule: ObjectIdentifier?,
        wholes: [ObjectIdentifier],
        encode: @escaping @Sendable (Value, StoredCandidates) throws(PreferencesError) -> PropertyListValue?
    ) {
        self.keyPath = keyPath
        self.rule = rule
        self.wholes = wholes
        self.encode = encode
    }
}

// MARK: Storing and reading values

extension PreferenceDeclaration {
    /// Returns the stored form of `value`; `nil` removes.
    ///
    /// - Parameter candidates: The stored values of the name; a member of a value is stored with the rest of it.
    func encode(
        _ value: Value,
        over candidates: @autoclosure () throws(PreferencesError) -> StoredCandidates
    ) throws(PreferencesError) -> PropertyListValue? {
        if let member { return try member.encode(value, try candidates()) }
        if let reason = condition?.reasonToReject(value) {
            throw PreferencesError(.invalid, name: name, "\(shown(reason)); nothing was changed")
        }
        return try encodeUnchecked(value, isStored: true)
    }

    /// Returns the stored form of a value that need not meet the rule, as a default.
    ///
    /// - Parameter isStored: Whether it is for the store, which may have a form of its own.
    func encodeUnchecked(_ value: Value, isStored: Bool = false) throws(PreferencesError) -> PropertyListValue? {
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
    private func unencodable(because error: any Error) -> PreferencesError {
        let isSecret = isSecret
        if !isSecret, let error = error as? PreferencesError { return error.of(name) }
        return PreferencesError(
            (error as? PreferencesError)?.code ?? .unencodable,
            name: name,
            "the \(Value.self) can't be stored; nothing was changed",
            cause: isSecret ? nil : error
        )
    }

    /// Returns the value of a stored form; `nil` if it counts as absent.
    // Inlined, as what it calls: each generic function looks up the type of the optional value, which takes 330 instructions.
    @inline(__always)
    func decode(_ stored: PropertyListValue) throws(PreferencesError) -> Value? {
        let value = try decodeUnchecked(stored)
        if let value, let reason = condition?.reasonToReject(value) {
            throw PreferencesError(.invalid, name: name, "the stored value is not allowed: \(shown(reason))")
        }
        return value
    }

    /// The reason for which the rule rejects a value, as errors show it.
    private func shown(_ reason: String) -> String { isSecret ? PreferencesError.redactedReason : reason }

    /// As `decode`, without the rule.
    @inline(__always)
    func decodeUnchecked(_ stored: PropertyListValue) throws(PreferencesError) -> Value? {
        do {
            return try coding.decode(stored)
        } catch {
            throw unreadable(because: error)
        }
    }

    @inline(never)
    private func unreadable(because error: any Error) -> PreferencesError {
        let error =
            (error as? PreferencesError)?.of(name)
            ?? PreferencesError(.unreadable, name: name, "what is stored is not a \(Value.self)", cause: error)
        // The error of a member is that of the whole value, which has none of it already.
        return isSecret && member == nil ? error.redacted(as: Value.self) : error
    }

    /// The first candidate that can be read, and what was wrong with those before it.
    func read(_ candidates: StoredCandidates) -> (value: Value?, problems: [UnreadableValue]) {
        var problems: [(candidate: StoredCandidate, error: PreferencesError)] = []
        var value: Value?
        // Not for the value itself, as a result of a generic type would be looked up at each call.
        _ = candidates.first { candidate in
            do throws(PreferencesError) { value = try decode(candidate) } catch { problems.append((candidate, error)) }
            return value != nil
        }
        if problems.isEmpty { return (value, []) }
        let isSecret = isSecret
        return (
            value,
            problems.map { candidate, error in
                UnreadableValue(candidate, because: error, isDefaultUsed: value == nil, isSecret: isSecret)
            }
        )
    }

    /// As `read`, for those who must not take a default for a value: throws if a stored value can't be read.
    func readStrictly(_ candidates: StoredCandidates) throws(PreferencesError) -> Value? {
        let (value, problems) = read(candidates)
        if value == nil, let problem = problems.first { throw problem.reason }
        return value
    }

    /// Whether a candidate answers for the name.
    func canRead(_ candidate: StoredCandidate) -> Bool {
        do throws(PreferencesError) { return try decode(candidate) != nil } catch { return false }
    }

    @inline(__always)
    private func decode(_ candidate: StoredCandidate) throws(PreferencesError) -> Value? {
        guard candidate.isText, case .string(let text) = candidate.value else { return try decode(candidate.value) }
        return try decode(text: text)
    }

    @inline(never)
    private func decode(text: String) throws(PreferencesError) -> Value? {
        // First, as the codings read JSON, too, where null and keys with a `$` are others.
        if let value = PropertyListValue.compound(in: text) {
            do throws(PreferencesError) { return try decode(value) } catch {}  // the text may be what is declared
        }
        let error: PreferencesError
        do throws(PreferencesError) {
            return try decode(.string(text))
        } catch let first {
            error = first
        }
        for value in PropertyListValue.readings(of: text) {
            do throws(PreferencesError) {
                return try decode(value)
            } catch {
                continue
            }
        }
        throw error
    }
}

// MARK: Changing in one step

extension PreferenceDeclaration {
    /// Stores what `body` returns for the stored values of the name; runs it again if they changed during the run.
    func updateStored<Result>(
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result)
    ) throws -> Result {
        let core = store.core
        let call = core.beginCall()
        var retry = Retry()
        while true {
            let candidates = try core.base(for: name, call)
            let (changed, result) = try body(candidates)
            if try core.commit(.one(name, changed), ifStillHolds: TransactionReads(of: name, as: candidates), call) {
                return result
            }
            Retry.block(try retry.next(name: name))
        }
    }

    /// As `updateStored`, while the task is suspended where a backend with a timeout is called.
    nonisolated(nonsending) func updateSuspending<Result>(
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result)
    ) async throws -> Result {
        let core = store.core
        guard let call = core.beginSuspendingCall() else { return try updateStored(body) }
        var retry = Retry()
        while true {
            let candidates = try await core.base(for: name, suspending: call)
            let (changed, result) = try body(candidates)
            let reads = TransactionReads(of: name, as: candidates)
            if try await core.commit(.one(name, changed), ifStillHolds: reads, suspending: call) { return result }
            await Retry.suspend(try retry.next(name: name))
        }
    }

    /// Stores the newest whole value with this one as its member.
    func replace(with value: Value) throws(PreferencesError) {
        do {
            try updateStored { candidates in (try encode(value, over: candidates), ()) }
        } catch {
            throw PreferencesError(.unencodable, from: error)
        }
    }

    /// As `replace`, while the task is suspended where a backend with a timeout is called.
    nonisolated(nonsending) func replaceSuspending(with value: Value) async throws(PreferencesError) {
        do {
            try await updateSuspending { candidates in (try encode(value, over: candidates), ()) }
        } catch {
            throw PreferencesError(.unencodable, from: error)
        }
    }
}

/// Counts the runs of an update or transaction, with a pause between them that grows and differs from thread to thread.
struct Retry: ~Copyable {
    private static let limit = 64
    /// How many updates of this process have run so often that others let them go first.
    private static let starving = Atomic<Int>(0)
    private static let patience = 16
    private var count = 1

    init() {
        // Who updates again and again, and slowly, would change what the others read each of their times.
        if Self.starving.load(ordering: .relaxed) > 0 { Pause.sleep(microseconds: .random(in: 0...1000)) }
    }

    deinit {
        if count > Self.patience { Self.starving.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Waits between two runs on the caller's thread.
    static func block(_ microseconds: UInt32) {
        if microseconds > 0 { Pause.sleep(microseconds: microseconds) }
    }

    /// Suspends the task between two runs.
    nonisolated(nonsending) static func suspend(_ microseconds: UInt32) async {
        // A task that is cancelled learns of it from its next call.
        if microseconds > 0 { try? await Task.sleep(for: .microseconds(microseconds)) }
    }

    /// Counts one more run; returns for how many microseconds to wait before it.
    mutating func next(name: String?) throws(PreferencesError) -> UInt32 {
        guard count < Self.limit else {
            throw PreferencesError(
                .conflict,
                name: name,
                "others changed what was read each of \(Self.limit) times; nothing was changed. "
                    + "Try again, or do less in the body"
            )
        }
        count += 1
        if count == Self.patience + 1 { Self.starving.wrappingAdd(1, ordering: .relaxed) }
        // Every other time at once: the set that was refused has just caught up with the others, and after a pause
        // what is known is old again. The pauses let those through who are faster each time.
        return count.isMultiple(of: 2) ? 0 : .random(in: 0...UInt32(count * count))
    }
}
