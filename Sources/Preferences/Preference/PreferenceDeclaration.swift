public import Synchronization

/// A preference's declaration and the slot of its decoded value; all copies of the preference share it.
@usableFromInline
package final class PreferenceDeclaration<Value: Sendable>: Sendable {
    @usableFromInline let slot: PreferenceCell
    @usableFromInline package let signal: PreferenceSignal
    @usableFromInline let makeDefault: @Sendable () -> Value
    package let store: PreferenceStore
    /// The store's node for the name.
    package let node: Node
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
        let key = CellKey(
            type: ObjectIdentifier(Value.self),
            coding: coding.identifier,
            rules: member == nil ? options?.slotIdentity : member?.rules,
            member: member?.keyPath
        )
        let formerNames = options?.formerNames ?? []
        (node, slot) = store.core.declare(name, formerly: formerNames, key) { PreferenceCell.create(for: Value.self) }
        signal = node.signal
        if let options { note(options) }
        if let keeper = store.rules, member == nil { note(for: keeper) }
    }

    @inline(never)
    private func note(for keeper: RuleKeeper) { keeper.note(name, bound(to: keeper.store)) }

    deinit { store.core.leave(slot) }

    /// Returns whether a value is `nil`, however that is stored, or one of another type that is stored as nothing.
    static func isAbsent(_ value: Value, _ coding: PreferenceCoding<Value>) -> Bool {
        if let value = value as? any _OptionalPreferenceValue { return value.isNil }
        do { return try coding.encode(value) == nil } catch { return false }
    }

    /// Records what the options mean for the store, and those that contradict each other.
    @inline(never)
    private func note(_ options: DeclaredOptions) {
        if options.isSecret { store.core.noteSecret(name) }
        guard member == nil else { return }
        if options.hasEmptyFormerName { noteMisuse("an empty former name is ignored; remove it from .formerly") }
        for option in options.repeated {
            noteMisuse("the option .\(option) is given twice; the last one is used. Remove the other")
        }
        guard options.isRequired, !isRequired else { return }
        noteMisuse("a required preference has no default, so .required is ignored; remove it or the default")
    }

    private func noteMisuse(_ message: String) { store.core.noteMisuse(PreferenceError(.misuse, name: name, message)) }

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

    /// Returns the layer that the value comes from.
    func source(among candidates: [Candidate]) -> PreferenceSource {
        guard let candidate = candidates.first(where: canRead) else { return .default }
        if isOwn(candidate) {
            let isManaged = store.core.isManagedByPlace(node.name(of: candidate))
            return isManaged ? PreferenceSource(layer: "managed", isManaged: true) : .store
        }
        let layer = store.core.layers[candidate.layer]
        return PreferenceSource(layer: layer.name, isManaged: layer.isManaged)
    }

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
        while true {
            let (candidates, ticket) = store.core.read(node, slot)
            var outcome = ReadOutcome()
            let value = read(candidates, &outcome)
            let isFirst = outcome.isFirst(of: candidates)
            // What a rule reads of its own preference isn't the value.
            let isMisused = outcome.problems.contains(where: \.isMisuse)
            guard isMisused || store.core.fill(slot, value, of: node, ticket: ticket, isFirst: isFirst) else {
                continue
            }
            report(outcome)
            return value
        }
    }

    /// Returns the stored values of the preference, registered with Observation for each change of them.
    package func registered() -> [Candidate] { store.core.read(node, slot, usesWeaker: true).candidates }

    /// Returns the stored values of the preference that an update reads.
    func own() -> [Candidate] {
        let core = store.core
        return core.publishing.withLock { core.newest(node) }
    }

    /// Reports stored values, and parts of the used one, that can't be read, each once.
    func report(_ outcome: ReadOutcome) {
        for problem in outcome.parts { store.core.report(problem, of: node) }
        for problem in outcome.problems { store.core.report(problem, of: node) }
    }

    /// Reports, once each, that a deprecated preference has a value, and that a person wrote the value under a former name.
    @inline(never)
    func reportOldUse(of candidate: Candidate?, _ options: DeclaredOptions) {
        // A transaction in isolation reads preferences of the store that it replaces.
        let core = store.resolved.core
        if let deprecation = options.deprecation {
            core.reportOnce(
                PreferenceError(.deprecated, name: name, "the preference is deprecated and has a value; \(deprecation)")
            )
        }
        if let candidate, let issue = node.useOfFormerName(candidate) { core.reportOnce(issue) }
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
        @Sendable (Value, [Candidate], MemberSet?) throws(PreferenceError) -> PropertyListValue?
    /// Returns the member in a stored form of the whole value.
    let decode: Decode
    typealias Decode = @Sendable (PropertyListValue, inout [EvolvingProblem], Bool) throws(PreferenceError) -> Value?
    /// Returns whether a stored form of the whole value has this member, given its decoded value; the last argument is the part of the
    /// member that is asked for, if only one is.
    let isStored: IsStored
    typealias IsStored = @Sendable (Value?, PropertyListValue, MemberSet?) -> Bool

    init(
        keyPath: AnyKeyPath,
        rules: ObjectIdentifier?,
        enclosingDeclarations: [ObjectIdentifier],
        decode: @escaping Decode,
        isStored: @escaping IsStored,
        encode: @escaping Encode
    ) {
        self.decode = decode
        self.isStored = isStored
        self.keyPath = keyPath
        self.rules = rules
        self.enclosingDeclarations = enclosingDeclarations
        self.encode = encode
    }
}
