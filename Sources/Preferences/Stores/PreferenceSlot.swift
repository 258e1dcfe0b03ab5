public import DurableFile
public import Synchronization

/// The decoded value of one name, type and coding in one store; every `Preference` of these shares it.
///
/// It keeps its store alive; the store knows it only weakly, and its cell.
@usableFromInline
final class PreferenceSlot<Value: Sendable>: Sendable {
    @usableFromInline let cell: PreferenceCell
    @usableFromInline let signal: PreferenceSignal
    /// The decoded value with the stamp it belongs to, where it is more than plain bits.
    @usableFromInline let kept: Lock<(stamp: UInt64, value: Value?)>
    let store: PreferenceStore
    let name: String
    let rules: PreferenceRules<Value>

    init(
        name: String,
        rules: PreferenceRules<Value>,
        store: PreferenceStore,
        cell: PreferenceCell,
        signal: PreferenceSignal
    ) {
        self.cell = cell
        self.signal = signal
        self.kept = Lock((0, nil))
        self.store = store
        self.name = name
        self.rules = rules
    }

    deinit {
        cell.orphan()
    }

    /// Whether a value is read from the cell's two words, without a lock.
    @inlinable
    @inline(__always)
    static var isPlain: Bool {
        _isPOD(Value.self) && MemoryLayout<Value>.size <= 16 && MemoryLayout<Value>.alignment <= 8
    }

    /// The preference's value, registered with whatever tracks observation just now; the hot path.
    @inlinable
    func value(default makeDefault: () -> Value) -> Value {
        // First register, then read: a change in between is then seen one way or the other.
        signal.access()
        let stamp = cell.stamp.load(ordering: .acquiring)
        switch stamp & PreferenceCell.kinds {
        case PreferenceCell.absent:
            return makeDefault()
        case PreferenceCell.present:
            if let value = Self.isPlain ? plainValue(at: stamp) : keptValue(at: stamp) { return value }
        default:
            break
        }
        return load() ?? makeDefault()
    }

    @inlinable
    @inline(__always)
    func plainValue(at stamp: UInt64) -> Value? {
        let words = (cell.low.load(ordering: .relaxed), cell.high.load(ordering: .relaxed))
        atomicMemoryFence(ordering: .acquiring)
        guard cell.stamp.load(ordering: .relaxed) == stamp else { return nil }
        return withUnsafeBytes(of: words) { $0.load(as: Value.self) }
    }

    @inlinable
    func keptValue(at stamp: UInt64) -> Value? {
        kept.withLock { $0.stamp == stamp ? $0.value : nil }
    }
}

extension PreferenceSlot {
    /// Reads the store, decodes, and keeps the result for the next read; nil means that the default answers.
    @usableFromInline
    @inline(never)
    func load() -> Value? {
        if let isolated = store.isolated {
            let slot = isolated.slot(named: name, rules: rules)
            // `value` has registered with this slot's signal, which tells of the shared store only.
            slot.signal.access()
            return slot.load()
        }
        while true {
            let (candidates, ticket) = store.candidates(for: name, cell: cell)
            let (value, problems) = rules.read(candidates, name: name)
            let replaced = keep(value, ticket: ticket)
            // The value that was replaced ends here, outside of the lock: its deinit may be anybody's code.
            withExtendedLifetime(replaced) {}
            guard !problems.isEmpty else { return value }
            store.report(unreadable: problems, name: name, key: rules.key)
            // From here on a change below the unreadable value is told; one that came before is read.
            if store.state.withLock({ _ in cell.isUnchanged(since: ticket) }) { return value }
        }
    }

    /// Fills the cell unless a change came in between; returns what the slot kept before.
    private func keep(_ value: Value?, ticket: UInt64) -> Value? {
        store.state.withLock { state in
            guard cell.ticket == ticket, !store.keepsNothing else { return nil }
            guard let value else {
                cell.fillAbsent()
                return nil
            }
            guard !Self.isPlain else {
                let words = Self.words(of: value)
                cell.fill(low: words.0, high: words.1)
                return nil
            }
            let stamp = cell.presentStamp
            let replaced = kept.withLock { kept in
                let replaced = kept.value
                kept = (stamp, value)
                return replaced
            }
            cell.fill(low: 0, high: 0)
            return replaced
        }
    }

    private static func words(of value: Value) -> (UInt64, UInt64) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.storeBytes(of: value, as: Value.self) }
        return words
    }
}
