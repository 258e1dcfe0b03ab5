internal import DurableFile
public import Synchronization

/// A preference's declaration and the slot of its decoded value; all copies of the preference share it.
@usableFromInline
package final class PreferenceDeclaration<Value: Sendable>: Sendable {
    @usableFromInline let slot: PreferenceCell
    @usableFromInline package let signal: PreferenceSignal
    @usableFromInline let makeDefault: @Sendable () -> Value
    package let store: PreferenceStore
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

    /// Whether the declaration counts as a user of its cell.
    private let isUser: Bool

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
        isUser = true
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
        if let checks = store.core.checks { noteCheck(in: checks) }
    }

    /// Records how the store checks values before they are stored, and merges them with others.
    @inline(never)
    private func noteCheck(in checks: DeclaredChecks) {
        guard member == nil else { return }
        // In a store of its own, because this one keeps the closures.
        let declaration = bound(to: PreferenceStore(Layer(source: Source([:])), isSecret: isSecret))
        checks.note(name, in: store.core) { formerNames in
            DeclaredChecks.Preference(coding.form, formerNames: formerNames) { (stored) throws(PreferenceError) in
                var parts: [EvolvingProblem] = []
                if stored.isUnset {
                    if declaration.isRequired { throw declaration.missing }
                    return
                }
                if let value = try declaration.decodeUnchecked(stored, &parts) { _ = try declaration.encode(value) }
            } understand: { candidates in
                declaration.understood(in: candidates)
            } merge: { new, base, stored in
                declaration.merged(new, base, into: stored)
            }
        }
    }

    /// Returns whether a value is `nil`, however that is stored, or one of another type that is stored as nothing.
    static func isAbsent(_ value: Value, _ coding: PreferenceCoding<Value>) -> Bool {
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

    /// Creates a copy that compares changes for as long as the original exists.
    private init(readingLike original: PreferenceDeclaration) {
        (slot, signal, makeDefault) = (original.slot, original.signal, original.makeDefault)
        (store, node, name, coding) = (original.store, original.node, original.name, original.coding)
        (options, isRequired, member) = (original.options, original.isRequired, original.member)
        isUser = false
    }

    deinit {
        guard isUser else { return }
        slot.dropReading(of: ObjectIdentifier(self), signal)
        slot.leave(as: Value.self)
    }

    /// Has changes compared with what is read, so that Observation is notified of those that alter it.
    @inline(never)
    private func keepReading() {
        // Not this declaration, which the cell would keep for ever.
        let copy = Preference(PreferenceDeclaration(readingLike: self))
        slot.keep(
            CellReading(of: comparedForm, for: ObjectIdentifier(self)) {
                copy.change(of: $0, isTracked: true) { _, _ in }
            }
        )
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

    /// The layer that the value comes from; doesn't register with Observation.
    var source: PreferenceSource { store.source(of: name) { canRead($0) } }

    /// Whether this declaration or its store says that the value is a secret.
    ///
    /// Acquires locks, so it is read only to describe a value or an error.
    var isSecret: Bool { isDeclaredSecret || store.core.isSecret(name) }

    /// The declaration in effect: this one or, inside `withIsolatedStores`, the same in the store that replaces the declared one.
    package var resolved: PreferenceDeclaration {
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
        if !slot.hasReading { keepReading() }
        while true {
            let (candidates, ticket, isKept) = register(isOfValue: true)
            let (value, used, problems, parts) = read(candidates)
            let replaced = isKept ? keep(value, ticket: ticket) : nil
            // Releases the replaced value here, without the lock: its `deinit` may be the program's code.
            withExtendedLifetime(replaced) {}
            if !parts.isEmpty { store.report(unreadable: parts, name: name) }
            if !problems.isEmpty { store.report(unreadable: problems, name: name) }
            if candidates.first === used || noteFirstUnused(but: used, since: ticket) { return value }
        }
    }

    /// Reads the store strictly, as `readStrictly` does, and registers with Observation.
    func loadStrictly() throws(PreferenceError) -> Value? {
        while true {
            let (candidates, ticket, _) = register()
            let (value, used, problems, _) = read(candidates)
            guard candidates.first === used || noteFirstUnused(but: used, since: ticket) else { continue }
            if used == nil, let problem = problems.first { throw problem.reason }
            return value
        }
    }

    /// Records that a read didn't use the strongest candidate but `used`, if any: from here on, a change in a layer below that one
    /// notifies the readers. Returns false if there was an earlier change, so that the read has to be repeated.
    @inline(never)
    private func noteFirstUnused(but used: StoredCandidate?, since ticket: UInt64) -> Bool {
        let core = store.core
        let list = core.layers
        return core.state.withLock { state in
            state.noteFirstUnused(name, but: used, in: list)
            return slot.isUnchanged(since: ticket)
        }
    }

    /// Records, before a set in the store of `core`, which value above the writable layer is used, so that one that can't be isn't said to
    /// hide the set value.
    @inline(__always)
    func noteStrongerValue(in core: StoreCore) {
        if core.mayHaveStrongerLayers { noteStrongerLayersValue(in: core) }
    }

    @inline(never)
    private func noteStrongerLayersValue(in core: StoreCore) {
        let list = core.layers
        guard list.base > 0 else { return }
        // Without opening anything: a set in a task must not wait here.
        let candidates = core.state.withLock { list.candidates(for: name, formerly: $0.formerNames[name]) }
        guard let first = candidates.first, list.layerAboveWritable(of: first) != nil else { return }
        let used = candidates.first(where: canRead)
        guard used !== first else { return }
        core.state.withLock { $0.noteFirstUnused(name, but: used, in: list) }
    }

    /// Reports, once each, that a deprecated preference has a value, and that a person wrote the value under a former name.
    @inline(never)
    func reportOldUse(of candidate: StoredCandidate?, _ options: DeclaredOptions) {
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
    ///
    /// - Parameter isOfValue: Whether only what `value` shows is read; otherwise the next change is signalled in any case.
    package func register(isOfValue: Bool = false) -> (candidates: StoredCandidates, ticket: UInt64, isKept: Bool) {
        while true {
            let registered = signal.currentEpoch
            signal.access()
            let (candidates, ticket, isKept, epoch) = store.core.candidates(
                for: name,
                cell: slot,
                signal: signal,
                isOfValue: isOfValue
            )
            // A change in between has ended the registered epoch, and the end of the next one would not notify the tracking.
            if epoch == registered { return (candidates, ticket, isKept) }
        }
    }

    /// Caches a value unless a change came in between; returns the value that was cached before.
    private func keep(_ value: Value?, ticket: UInt64) -> Value? {
        var replaced: Value?
        store.core.state.withLock { _ in
            if slot.ticket == ticket, !store.keepsNothing { replaced = slot.fill(value) }
        }
        return replaced
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
    /// Returns whether a stored form of the whole value has this member, given its decoded value; the last argument is the part of the
    /// member that is asked for, if only one is.
    let isStored: IsStored
    typealias IsStored = @Sendable (Value?, PropertyListValue, MemberSet?) -> Bool
    /// Returns what merges a kept form of the whole value into a stored one; see `PreferenceDeclaration.merge(over:)`.
    let merge: @Sendable (StoredCandidates) throws(PreferenceError) -> Outbox.Merge

    init(
        keyPath: AnyKeyPath,
        rules: ObjectIdentifier?,
        enclosingDeclarations: [ObjectIdentifier],
        decode: @escaping Decode,
        isStored: @escaping IsStored,
        merge: @escaping @Sendable (StoredCandidates) throws(PreferenceError) -> Outbox.Merge,
        encode: @escaping Encode
    ) {
        self.merge = merge
        self.decode = decode
        self.isStored = isStored
        self.keyPath = keyPath
        self.rules = rules
        self.enclosingDeclarations = enclosingDeclarations
        self.encode = encode
    }
}
