public import DurableFile

/// The decoded value of one name, type and coding in one store, which every declaration of these shares.
///
/// The store keeps it, and counts its users in and out: a weak reference would make each retain of a slot a slow one.
@usableFromInline
final class PreferenceSlot<Value: Sendable>: Sendable {
    @usableFromInline let cell = PreferenceCell()
    /// The decoded value with the stamp it belongs to, where it is more than plain bits.
    @usableFromInline let kept = Lock<(stamp: UInt64, value: Value?)>((0, nil))

    init() {}

    /// Whether a value is read from the cell's two words, without a lock.
    @inlinable
    @inline(__always)
    static var isPlain: Bool {
        _isPOD(Value.self) && MemoryLayout<Value>.size <= 16 && MemoryLayout<Value>.alignment <= 8
    }

    /// The value that belongs to a stamp, where it is more than plain bits; nil where a change came in between.
    @inlinable
    func keptValue(at stamp: UInt64) -> Value? {
        kept.withLock { $0.stamp == stamp ? $0.value : nil }
    }

    /// Fills the cell; returns what was kept before, to be let go of once the store's lock is released.
    ///
    /// Call under that lock while the cell is stale.
    func fill(_ value: Value?) -> Value? {
        guard let value else {
            cell.fillAbsent()
            return nil
        }
        guard !Self.isPlain else {
            cell.fillPlain(value)
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

    /// Counts a declaration out; after the last one nobody can ask for the value any more.
    ///
    /// Call without a lock, as the value's deinit may be anybody's code.
    func leave() {
        guard cell.leave() else { return }
        let last = kept.withLock { exchange(&$0.value, with: nil) }
        withExtendedLifetime(last) {}
    }
}

/// What slots of one name are told apart by.
struct SlotKey: Hashable, Sendable {
    let type: ObjectIdentifier
    let coding: String
    let validation: ObjectIdentifier?
}
