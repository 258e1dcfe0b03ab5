public import Synchronization

/// Whether a decoded value is at hand and, where it is plain bits, the value: what a read looks at first.
///
/// Only the holder of the store's lock writes. A reader takes no lock: it loads the stamp, the words, and the stamp
/// again (a sequence lock; Boehm, "Can seqlocks get along with programming language memory models?", 2012).
@usableFromInline
final class PreferenceCell: Sendable {
    /// Nothing is known: read the store.
    @usableFromInline static let stale: UInt64 = 0
    /// The preference reads as its default.
    @usableFromInline static let absent: UInt64 = 1
    /// The decoded value is in the words or, where it doesn't fit them, in the slot.
    @usableFromInline static let present: UInt64 = 2
    @usableFromInline static let kinds: UInt64 = 3
    private static let step: UInt64 = 4

    /// A counter above one of the three kinds; no two states of a cell share it.
    @usableFromInline let stamp = Atomic<UInt64>(stale)
    @usableFromInline let low = Atomic<UInt64>(0)
    @usableFromInline let high = Atomic<UInt64>(0)

    /// How many declarations use it; once none does, none ever will again.
    private let users = Atomic<Int>(1)

    init() {}

    /// The stamp that a fill must find unchanged; call under the store's lock.
    var ticket: UInt64 { stamp.load(ordering: .relaxed) }

    /// Whether no change came since a ticket was taken; call under the store's lock.
    func isUnchanged(since ticket: UInt64) -> Bool {
        let stamp = stamp.load(ordering: .relaxed)
        let isFilled = stamp & Self.kinds != Self.stale && stamp & ~Self.kinds == (ticket & ~Self.kinds) &+ Self.step
        return stamp == ticket || isFilled
    }

    /// Makes every later read go to the store; call under the store's lock.
    func invalidate() {
        stamp.store(next(Self.stale), ordering: .releasing)
    }

    /// Notes that the preference reads as its default; call under the store's lock.
    func fillAbsent() {
        stamp.store(next(Self.absent), ordering: .releasing)
    }

    /// Notes a value; the words count only where the value is plain bits. Returns the stamp that says so.
    ///
    /// Call under the store's lock while the cell is stale.
    func fill(low newLow: UInt64, high newHigh: UInt64) {
        atomicMemoryFence(ordering: .releasing)
        low.store(newLow, ordering: .relaxed)
        high.store(newHigh, ordering: .relaxed)
        stamp.store(next(Self.present), ordering: .releasing)
    }

    /// The stamp after the next fill, for a slot that keeps the value itself.
    var presentStamp: UInt64 { next(Self.present) }

    /// The value in the words; nil where a change came in between.
    @inlinable
    @inline(__always)
    func plainValue<Value>(at stamp: UInt64) -> Value? {
        let words = (low.load(ordering: .relaxed), high.load(ordering: .relaxed))
        atomicMemoryFence(ordering: .acquiring)
        guard self.stamp.load(ordering: .relaxed) == stamp else { return nil }
        return withUnsafeBytes(of: words) { $0.load(as: Value.self) }
    }

    /// Notes a value of plain bits; call as `fill`.
    func fillPlain<Value>(_ value: Value) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.storeBytes(of: value, as: Value.self) }
        fill(low: words.0, high: words.1)
    }

    // MARK: Users

    var isUsed: Bool { users.load(ordering: .relaxed) > 0 }

    /// Counts one more user in; false where the last has gone.
    func join() -> Bool {
        var count = users.load(ordering: .relaxed)
        while count > 0 {
            let outcome = users.weakCompareExchange(expected: count, desired: count + 1, ordering: .relaxed)
            if outcome.exchanged { return true }
            count = outcome.original
        }
        return false
    }

    /// Counts a user out; true for the last.
    func leave() -> Bool {
        users.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    private func next(_ kind: UInt64) -> UInt64 {
        (stamp.load(ordering: .relaxed) & ~Self.kinds) &+ Self.step | kind
    }
}
