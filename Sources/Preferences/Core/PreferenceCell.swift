public import Synchronization

/// The state of a decoded value and, if the value is plain bits, the value itself. A read looks here first, without a lock.
///
/// Only the holder of the publish lock writes. A reader loads the stamp, the words, and the stamp again (a sequence lock; Boehm, "Can
/// seqlocks get along with programming language memory models?", 2012).
@usableFromInline
package class PreferenceCell: @unchecked Sendable {  // atomics, and what the publish lock guards
    /// Nothing is cached: read the store.
    @usableFromInline static let stale: UInt64 = 0
    /// The preference reads as its default.
    @usableFromInline static let absent: UInt64 = 1
    /// The decoded value is in the words or, if it doesn't fit, in the slot.
    @usableFromInline static let present: UInt64 = 2
    @usableFromInline static let kinds: UInt64 = 3
    private static let step: UInt64 = 4

    /// A counter in the bits above the kind; no two states of a cell have the same stamp.
    @usableFromInline final let stamp = Atomic<UInt64>(stale)
    @usableFromInline final let low = Atomic<UInt64>(0)
    @usableFromInline final let high = Atomic<UInt64>(0)
    /// A composite value's form of which the declarations understand every part, so that setting another one merges nothing.
    final let understood = Lock<PropertyListValue?>(nil)
    /// The declarations that use the cell; guarded by the publish lock, as `key` and `next`.
    @exclusivity(unchecked) final var users = 1
    @exclusivity(unchecked) final var key: CellKey?
    /// The next cell of the name.
    @exclusivity(unchecked) final var next: PreferenceCell?

    init() {}

    /// The stamp that must be unchanged when the cell is filled.
    final var ticket: UInt64 { stamp.load(ordering: .relaxed) }

    fileprivate final func next(_ kind: UInt64) -> UInt64 { (ticket & ~Self.kinds) &+ Self.step | kind }

    /// Makes every later read go to the store.
    final func invalidate() { stamp.store(next(Self.stale), ordering: .releasing) }

    /// Returns the cached value of a stamp; nil if a change interfered.
    @inlinable
    @inline(__always)
    final func value<Value: Sendable>(at stamp: UInt64) -> Value? {
        guard Self.isPlain(Value.self) else {
            return unsafeDowncast(self, to: PreferenceSlot<Value>.self).keptValue(at: stamp)
        }
        let words = (low.load(ordering: .relaxed), high.load(ordering: .relaxed))
        atomicMemoryFence(ordering: .acquiring)
        guard self.stamp.load(ordering: .relaxed) == stamp else { return nil }
        return withUnsafeBytes(of: words) { $0.load(as: Value.self) }
    }

    /// Whether values of a type are read from the two words.
    @inlinable
    @inline(__always)
    static func isPlain<Value>(_: Value.Type) -> Bool {
        _isPOD(Value.self) && MemoryLayout<Value>.size <= 16 && MemoryLayout<Value>.alignment <= 8
    }

    // A cell of plain bits isn't of a generic class: creating one would look up the metadata of its type, which took 1,500 instructions.
    static func create<Value: Sendable>(for type: Value.Type) -> PreferenceCell {
        isPlain(type) ? PreferenceCell() : PreferenceSlot<Value>()
    }

    /// Fills the stale cell; returns the previous value, which the caller releases without a lock.
    final func fill<Value: Sendable>(_ value: Value?) -> Value? {
        guard let value else {
            stamp.store(next(Self.absent), ordering: .releasing)
            return nil
        }
        let stamp = next(Self.present)
        var words: (UInt64, UInt64) = (0, 0)
        var replaced: Value?
        if Self.isPlain(Value.self) {
            withUnsafeMutableBytes(of: &words) { $0.storeBytes(of: value, as: Value.self) }
        } else {
            replaced = unsafeDowncast(self, to: PreferenceSlot<Value>.self).keep(value, at: stamp)
        }
        atomicMemoryFence(ordering: .releasing)
        low.store(words.0, ordering: .relaxed)
        high.store(words.1, ordering: .relaxed)
        self.stamp.store(stamp, ordering: .releasing)
        return replaced
    }
}

/// The decoded value of a type that isn't plain bits.
@usableFromInline
final class PreferenceSlot<Value: Sendable>: PreferenceCell, @unchecked Sendable {
    @usableFromInline let kept = Lock<(stamp: UInt64, value: Value?)>((0, nil))

    @inlinable
    func keptValue(at stamp: UInt64) -> Value? { kept.withLock { $0.stamp == stamp ? $0.value : nil } }

    fileprivate func keep(_ value: Value, at stamp: UInt64) -> Value? {
        kept.withLock { kept in
            let replaced = kept.value
            kept = (stamp, value)
            return replaced
        }
    }
}

/// The identity of a cell among those of one name.
struct CellKey: Equatable {
    let type: ObjectIdentifier
    let coding: String
    /// The identity of the rules, and of the options because of which a read is reported.
    let rules: ObjectIdentifier?
    /// The part of the stored value that is read, unless all of it is.
    let member: AnyKeyPath?
}
