public import DurableFile
public import Synchronization

/// Whether a decoded value is at hand and, where it is plain bits, the value: what a read looks at first.
///
/// Only the holder of the store's lock writes. A reader takes no lock: it loads the stamp, the words, and the stamp
/// again (a sequence lock; Boehm, "Can seqlocks get along with programming language memory models?", 2012).
@usableFromInline
class PreferenceCell: @unchecked Sendable {  // atomics, and what its one subclass keeps behind a lock
    /// Nothing is known: read the store.
    @usableFromInline static let stale: UInt64 = 0
    /// The preference reads as its default.
    @usableFromInline static let absent: UInt64 = 1
    /// The decoded value is in the words or, where it doesn't fit them, in the slot.
    @usableFromInline static let present: UInt64 = 2
    @usableFromInline static let kinds: UInt64 = 3
    private static let step: UInt64 = 4

    /// A counter above one of the three kinds; no two states of a cell share it.
    @usableFromInline final let stamp = Atomic<UInt64>(stale)
    @usableFromInline final let low = Atomic<UInt64>(0)
    @usableFromInline final let high = Atomic<UInt64>(0)

    /// How many declarations use it; once none does, none ever will again.
    private let users = Atomic<Int>(1)

    init() {}

    /// The stamp that a fill must find unchanged; call under the store's lock.
    final var ticket: UInt64 { stamp.load(ordering: .relaxed) }

    /// Whether no change came since a ticket was taken; call under the store's lock.
    final func isUnchanged(since ticket: UInt64) -> Bool {
        let stamp = stamp.load(ordering: .relaxed)
        let isFilled = stamp & Self.kinds != Self.stale && stamp & ~Self.kinds == (ticket & ~Self.kinds) &+ Self.step
        return stamp == ticket || isFilled
    }

    /// Makes every later read go to the store; call under the store's lock.
    final func invalidate() {
        stamp.store(next(Self.stale), ordering: .releasing)
    }

    /// Notes that the preference reads as its default; call under the store's lock.
    final func fillAbsent() {
        stamp.store(next(Self.absent), ordering: .releasing)
    }

    /// Notes a value; the words count only where the value is plain bits. Returns the stamp that says so.
    ///
    /// Call under the store's lock while the cell is stale.
    final func fill(low newLow: UInt64, high newHigh: UInt64) {
        atomicMemoryFence(ordering: .releasing)
        low.store(newLow, ordering: .relaxed)
        high.store(newHigh, ordering: .relaxed)
        stamp.store(next(Self.present), ordering: .releasing)
    }

    /// The stamp after the next fill, for a slot that keeps the value itself.
    final var presentStamp: UInt64 { next(Self.present) }

    /// The value in the words; nil where a change came in between.
    @inlinable
    @inline(__always)
    final func plainValue<Value>(at stamp: UInt64) -> Value? {
        let words = (low.load(ordering: .relaxed), high.load(ordering: .relaxed))
        atomicMemoryFence(ordering: .acquiring)
        guard self.stamp.load(ordering: .relaxed) == stamp else { return nil }
        return withUnsafeBytes(of: words) { $0.load(as: Value.self) }
    }

    /// Notes a value of plain bits; call as `fill`.
    final func fillPlain<Value>(_ value: Value) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.storeBytes(of: value, as: Value.self) }
        fill(low: words.0, high: words.1)
    }

    // MARK: Users

    final var isUsed: Bool { users.load(ordering: .relaxed) > 0 }

    /// Counts one more user in; false where the last has gone.
    final func join() -> Bool {
        var count = users.load(ordering: .relaxed)
        while count > 0 {
            let outcome = users.weakCompareExchange(expected: count, desired: count + 1, ordering: .relaxed)
            if outcome.exchanged { return true }
            count = outcome.original
        }
        return false
    }

    /// Counts a user out; true for the last.
    fileprivate final func leaveCell() -> Bool {
        users.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    private func next(_ kind: UInt64) -> UInt64 {
        (stamp.load(ordering: .relaxed) & ~Self.kinds) &+ Self.step | kind
    }
}

/// The decoded value of one name, type and coding in one store, which every declaration of these shares.
///
/// The store keeps it, and counts its users in and out: a weak reference would make each retain of a slot a slow one.
@usableFromInline
final class PreferenceSlot<Value: Sendable>: PreferenceCell, @unchecked Sendable {
    /// The decoded value with the stamp it belongs to, where it is more than plain bits.
    @usableFromInline let kept = Lock<(stamp: UInt64, value: Value?)>((0, nil))

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
            fillAbsent()
            return nil
        }
        guard !Self.isPlain else {
            fillPlain(value)
            return nil
        }
        let stamp = presentStamp
        let replaced = kept.withLock { kept in
            let replaced = kept.value
            kept = (stamp, value)
            return replaced
        }
        fill(low: 0, high: 0)
        return replaced
    }

    /// Counts a declaration out; after the last one nobody can ask for the value any more.
    ///
    /// Call without a lock, as the value's deinit may be anybody's code.
    func leave() {
        guard leaveCell() else { return }
        let last = kept.withLock { exchange(&$0.value, with: nil) }
        withExtendedLifetime(last) {}
    }
}

/// What slots of one name are told apart by.
struct SlotKey: Equatable, Sendable {
    let type: ObjectIdentifier
    let coding: String
    /// The rule's identity.
    var rule: ObjectIdentifier?
    /// The part of the stored value that is read, if it isn't all of it.
    nonisolated(unsafe) var member: AnyKeyPath?
}

/// What a store keeps for one name that was declared or observed; guarded by the store's lock.
final class PreferenceNode: @unchecked Sendable {  // used under its store's lock only
    /// What Observation tracks; lives as long as the node, so that a tracked read outlives its `Preference`.
    let signal = PreferenceSignal()
    // The store's lock excludes others; to check that took 300 instructions a set.
    @exclusivity(unchecked) var subscriptions: [ChangeSubscription] = []
    // Mostly one. A dictionary looks the conformance of its key up the first time, which took 50 µs.
    @exclusivity(unchecked) private var slots: [(key: SlotKey, cell: PreferenceCell)] = []
    /// How many slots there may be before those that nobody uses are dropped.
    private var slotLimit = 8

    var isObserved: Bool { !subscriptions.isEmpty }

    /// Whether nobody uses or observes the name any more, as far as can be told.
    ///
    /// A tracking may be installed after the read, and one change after; Observation can't be asked.
    var isForgettable: Bool {
        subscriptions.isEmpty && signal.isForgotten && !slots.contains { $0.cell.isUsed }
    }

    /// Whether somebody could not read what is stored, or the strongest layer's value, since that changed.
    @exclusivity(unchecked) private(set) var isUnreadable = false

    /// Makes every slot of the name read the store again, after a change that is shown or below a stronger layer's value; returns
    /// whether those who track the name are to be told.
    func invalidate(isShown: Bool) -> Bool {
        let isTold = isShown || isUnreadable
        if isShown { isUnreadable = false }
        invalidate()
        return isTold
    }

    /// Makes every slot of the name read the store again.
    func invalidate() {
        for slot in slots { slot.cell.invalidate() }
    }

    /// The slot of a type and coding, made where nobody uses one yet, with the caller counted as its user.
    func slot<Value>(for key: SlotKey) -> PreferenceSlot<Value> {
        // The key has the type.
        let known = slots.firstIndex { $0.key == key }
        if let known, slots[known].cell.join() {
            return unsafeDowncast(slots[known].cell, to: PreferenceSlot<Value>.self)
        }
        let slot = PreferenceSlot<Value>()
        if let known {
            slots[known].cell = slot
            return slot
        }
        if slots.count >= slotLimit {
            slots = slots.filter { $0.cell.isUsed }
            slotLimit = max(8, slots.count * 2)
        }
        slots.append((key, slot))
        return slot
    }

    func noteUnreadable() { isUnreadable = true }
}
