internal import DurableFile
public import Synchronization

/// What a preference was declared with, and where its decoded value is; all copies of the preference share it.
@usableFromInline
final class PreferenceDeclaration<Value: Sendable>: Sendable {
    @usableFromInline let slot: PreferenceSlot<Value>
    @usableFromInline let signal: PreferenceSignal
    @usableFromInline let makeDefault: @Sendable () -> Value
    let store: PreferenceStore
    let name: String
    let rules: PreferenceRules<Value>

    /// Reads nothing.
    init(
        name: String,
        rules: PreferenceRules<Value>,
        in store: PreferenceStore,
        default makeDefault: @escaping @Sendable () -> Value
    ) {
        let forgotten: [PreferenceNode]
        (slot, signal, forgotten) = store.core.state.withLock { $0.slot(for: name, key: rules.key) }
        withExtendedLifetime(forgotten) {}
        self.makeDefault = makeDefault
        self.store = store
        self.name = name
        self.rules = rules
    }

    deinit {
        slot.leave()
    }

    /// The same declaration in another store.
    func bound(to store: PreferenceStore) -> PreferenceDeclaration {
        PreferenceDeclaration(name: name, rules: rules, in: store, default: makeDefault)
    }

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
            let (candidates, ticket) = register()
            let (value, problems) = rules.read(candidates, name: name)
            let replaced = keep(value, ticket: ticket)
            // The value that was replaced ends here, outside of the lock: its deinit may be anybody's code.
            withExtendedLifetime(replaced) {}
            guard !problems.isEmpty else { return value }
            store.report(unreadable: problems, name: name, key: rules.key)
            // From here on a change below the unreadable value is told; one that came before is read.
            if store.core.state.withLock({ _ in slot.isUnchanged(since: ticket) }) { return value }
        }
    }

    /// Registers with Observation, then looks at what is stored; with the ticket to keep what is decoded of it.
    func register() -> (candidates: StoredCandidates, ticket: UInt64) {
        while true {
            let registered = signal.currentEpoch
            signal.access()
            let (candidates, ticket, epoch) = store.core.candidates(for: name, cell: slot, signal: signal)
            // A change in between ended the epoch that was registered; the next one's end would not be told.
            if epoch == registered { return (candidates, ticket) }
        }
    }

    /// Keeps a value unless a change came in between; returns what was kept before.
    private func keep(_ value: Value?, ticket: UInt64) -> Value? {
        store.core.state.withLock { _ in
            slot.ticket == ticket && !store.keepsNothing ? slot.fill(value) : nil
        }
    }
}
