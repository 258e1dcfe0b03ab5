public import DurableFile
public import Synchronization

/// The state of a cached decoded value and, if the value is plain bits, the value itself. A read looks here first.
///
/// Only the holder of the store's lock writes. A reader takes no lock: it loads the stamp, the words, and the stamp again (a
/// sequence lock; Boehm, "Can seqlocks get along with programming language memory models?", 2012).
@usableFromInline
class PreferenceCell: @unchecked Sendable {  // atomics, and state of its only subclass behind a lock
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

    /// The reading of the first declaration that read the value; nil after that declaration is released.
    private let currentReading = Lock<CellReading?>(nil)

    /// Whether several declarations have used the cell, which may have different defaults.
    private let wasShared = Atomic<Bool>(false)

    /// Whether the store's list of cells that may be filled has this one; guarded by the store's lock.
    final var isLoaded = false

    /// The number of declarations that use the cell. Once it is zero it stays zero.
    private let users = Atomic<Int>(1)

    init() {}

    /// The stamp that must be unchanged when the cell is filled; call under the store's lock.
    final var ticket: UInt64 { stamp.load(ordering: .relaxed) }

    /// Returns whether no change happened since the ticket was read; call under the store's lock.
    final func isUnchanged(since ticket: UInt64) -> Bool {
        let stamp = stamp.load(ordering: .relaxed)
        let isFilled = stamp & Self.kinds != Self.stale && stamp & ~Self.kinds == (ticket & ~Self.kinds) &+ Self.step
        return stamp == ticket || isFilled
    }

    /// Invalidates the cell, so that every later read goes to the store; call under the store's lock.
    final func invalidate() {
        stamp.store(next(Self.stale), ordering: .releasing)
    }

    /// Records that the preference reads as its default; call under the store's lock.
    final func fillAbsent() {
        stamp.store(next(Self.absent), ordering: .releasing)
    }

    /// Stores the words, which are used only if the value is plain bits, and marks the value as present.
    ///
    /// Call under the store's lock while the cell is stale.
    final func fill(low newLow: UInt64, high newHigh: UInt64) {
        atomicMemoryFence(ordering: .releasing)
        low.store(newLow, ordering: .relaxed)
        high.store(newHigh, ordering: .relaxed)
        stamp.store(next(Self.present), ordering: .releasing)
    }

    /// The stamp after the next fill, for a slot that stores the value itself.
    final var presentStamp: UInt64 { next(Self.present) }

    /// Returns the value in the words, or nil if a change interfered.
    @inlinable
    @inline(__always)
    final func plainValue<Value>(at stamp: UInt64) -> Value? {
        let words = (low.load(ordering: .relaxed), high.load(ordering: .relaxed))
        atomicMemoryFence(ordering: .acquiring)
        guard self.stamp.load(ordering: .relaxed) == stamp else { return nil }
        return withUnsafeBytes(of: words) { $0.load(as: Value.self) }
    }

    /// Stores a value of plain bits; call as `fill`.
    final func fillPlain<Value>(_ value: Value) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.storeBytes(of: value, as: Value.self) }
        fill(low: words.0, high: words.1)
    }

    // MARK: Users

    final var isUsed: Bool { users.load(ordering: .relaxed) > 0 }

    /// Adds a user; returns false if the last user has left already.
    final func join() -> Bool {
        var count = users.load(ordering: .relaxed)
        while count > 0 {
            let outcome = users.weakCompareExchange(expected: count, desired: count + 1, ordering: .relaxed)
            if outcome.exchanged {
                wasShared.store(true, ordering: .relaxed)
                return true
            }
            count = outcome.original
        }
        return false
    }

    /// Removes a user; returns true for the last.
    fileprivate final func leaveCell() -> Bool {
        users.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    // MARK: Readings

    final var isShared: Bool { wasShared.load(ordering: .relaxed) }

    /// The reading of a declaration that still exists. Release it without a lock: it might have the last reference to a store.
    final var reading: CellReading? { currentReading.withLock { $0 } }

    /// Whether there is a reading; takes no reference to it, so that it can be called under a lock.
    final var hasReading: Bool { currentReading.withLock { $0 != nil } }

    /// Keeps a reading, unless there is one; a user of the cell calls it before its read is recorded.
    final func keep(_ reading: CellReading) { currentReading.withLock { $0 = $0 ?? reading } }

    /// Drops the reading of a declaration, and has the next change signalled; called before the declaration leaves.
    final func dropReading(of declaration: ObjectIdentifier, _ signal: PreferenceSignal) {
        guard let reading, reading.declaration == declaration else { return }
        // First, so that a change finds either the reading or this.
        signal.noteOtherReaders()
        withExtendedLifetime(currentReading.withLock { exchange(&$0, with: nil) }) {}
    }

    /// Makes the cell stale in a child of `fork`, where a thread of the parent might have its locks.
    func startInChild() {
        understood.reset(to: nil)
        currentReading.reset(to: nil)
        invalidate()
    }

    private func next(_ kind: UInt64) -> UInt64 {
        (stamp.load(ordering: .relaxed) & ~Self.kinds) &+ Self.step | kind
    }
}

// MARK: Values

// A cell of plain bits isn't of a generic class: creating one would look up the metadata of its type, which took 1,500 instructions.
extension PreferenceCell {
    /// Whether values of a type are read from the cell's two words, without a lock.
    @inlinable
    @inline(__always)
    static func isPlain<Value>(_: Value.Type) -> Bool {
        _isPOD(Value.self) && MemoryLayout<Value>.size <= 16 && MemoryLayout<Value>.alignment <= 8
    }

    /// Creates the cell of a type's values; all that use it use it with this type.
    static func create<Value: Sendable>(for type: Value.Type) -> PreferenceCell {
        isPlain(type) ? PreferenceCell() : PreferenceSlot<Value>()
    }

    /// Returns the cached value of a stamp; nil if a change interfered.
    @inlinable
    @inline(__always)
    final func value<Value: Sendable>(at stamp: UInt64) -> Value? {
        Self.isPlain(Value.self)
            ? plainValue(at: stamp) : unsafeDowncast(self, to: PreferenceSlot<Value>.self).keptValue(at: stamp)
    }

    /// Fills the cell and returns the previous value, which the caller releases after the store's lock.
    ///
    /// Call under that lock while the cell is stale.
    final func fill<Value: Sendable>(_ value: Value?) -> Value? {
        guard let value else {
            fillAbsent()
            return nil
        }
        guard !Self.isPlain(Value.self) else {
            fillPlain(value)
            return nil
        }
        return unsafeDowncast(self, to: PreferenceSlot<Value>.self).keep(value)
    }

    /// Removes a user. After the last one has left, no declaration can read the cell any more.
    ///
    /// Call without a lock, because the value's deinitializer may run code of the program.
    final func leave<Value: Sendable>(as _: Value.Type) {
        guard leaveCell(), !Self.isPlain(Value.self) else { return }
        unsafeDowncast(self, to: PreferenceSlot<Value>.self).removeValue()
    }
}

/// The decoded value of one name, type and coding in one store, shared by all declarations of these; for values that aren't plain bits.
///
/// The store owns the slot and counts its users: a weak reference would make each retain of a slot slow.
@usableFromInline
final class PreferenceSlot<Value: Sendable>: PreferenceCell, @unchecked Sendable {
    /// The decoded value with its stamp.
    @usableFromInline let kept = Lock<(stamp: UInt64, value: Value?)>((0, nil))

    /// Returns the value of a stamp; nil if a change interfered.
    @inlinable
    func keptValue(at stamp: UInt64) -> Value? {
        kept.withLock { $0.stamp == stamp ? $0.value : nil }
    }

    override func startInChild() {
        kept.reset(to: (0, nil))
        super.startInChild()
    }

    fileprivate func keep(_ value: Value) -> Value? {
        let stamp = presentStamp
        let replaced = kept.withLock { kept in
            let replaced = kept.value
            kept = (stamp, value)
            return replaced
        }
        fill(low: 0, high: 0)
        return replaced
    }

    fileprivate func removeValue() {
        let last = kept.withLock { exchange(&$0.value, with: nil) }
        withExtendedLifetime(last) {}
    }
}

/// Stands for the readers of a cell that Observation may track: compares a change with what they have read.
final class CellReading: Sendable {
    /// Stored forms of which two that differ are taken for two values without decoding them.
    enum ComparedForm {
        // Plain values, which are all usable and differ if their forms do.
        case boolean, integer, real, string
        /// Values of any size, which would take too long to decode.
        case encoded
    }

    /// The form of the cell's values, if it is such a form.
    private let form: ComparedForm?
    /// The declaration whose default and rules it uses.
    let declaration: ObjectIdentifier
    /// Returns whether a preference of the cell shows another value after a change; call without a lock.
    let isChanged: @Sendable (ChangeEntry) -> Bool

    init(
        of form: ComparedForm?,
        for declaration: ObjectIdentifier,
        _ isChanged: @escaping @Sendable (ChangeEntry) -> Bool
    ) {
        (self.form, self.declaration, self.isChanged) = (form, declaration, isChanged)
    }

    /// Returns whether the value is taken for another one by its stored forms alone.
    func isChanged(from old: PropertyListValue, to new: PropertyListValue) -> Bool {
        switch (form, old, new) {
        case (.boolean, .boolean(let old), .boolean(let new)): old != new
        case (.integer, .integer(let old), .integer(let new)): old != new
        case (.real, .real(let old), .real(let new)): old != new
        case (.string, .string(let old), .string(let new)): old != new
        case (.encoded, .dictionary, .dictionary), (.encoded, .array, .array), (.encoded, .data, .data):
            !old.isUnset && !new.isUnset && old != new
        default: false
        }
    }
}

/// The identity of a slot among those of one name.
struct SlotKey: Equatable, Sendable {
    let type: ObjectIdentifier
    let coding: String
    /// The identity of the rules, and of the options because of which a read is reported.
    var rules: ObjectIdentifier?
    /// The part of the stored value that is read, unless all of it is.
    nonisolated(unsafe) var member: AnyKeyPath?
}

/// The state of one declared or observed name of a store; guarded by the store's lock.
package final class PreferenceNode: @unchecked Sendable {  // used under its store's lock only
    /// The state that Observation tracks. The node owns it, so that a tracked read outlives its `Preference`.
    let signal = PreferenceSignal()
    // Accesses are exclusive under the store's lock; checking that took 300 instructions for each set.
    @exclusivity(unchecked) var subscriptions: [ChangeSubscription] = []
    // Usually one. A dictionary looks up the conformance of its key the first time, which took 50 µs.
    @exclusivity(unchecked) private var slots: [Slot] = []
    /// The number of slots above which unused ones are removed.
    private var slotLimit = 8

    // Not a tuple, whose type takes twice as long to be created.
    private struct Slot {
        let key: SlotKey
        var cell: PreferenceCell
    }

    var isObserved: Bool { !subscriptions.isEmpty }

    /// Whether the name has no user and no observer any more, as far as the store can know.
    ///
    /// A tracking may be installed after the read, and even after one later change; Observation can't be queried for it.
    var isUnused: Bool { signal.hasNotifiedReaders && isIdle }

    /// Whether the name has no user and no observer, though Observation may track reads of it.
    var isIdle: Bool { subscriptions.isEmpty && !isDeclared }

    /// Whether Observation may track a read of the name.
    var mayHaveReaders: Bool { signal.isEverRead && !signal.hasNotifiedReaders }

    /// Whether a declaration of the name exists.
    var isDeclared: Bool { slots.contains { $0.cell.isUsed } }

    /// Whether a read didn't use the strongest stored value since that last changed: it can't be used, or counts as absent.
    @exclusivity(unchecked) private(set) var isFirstUnused = false
    /// The layer above the writable one whose value was used then, if any.
    @exclusivity(unchecked) private(set) var hidingLayer: String?

    /// Invalidates all slots of the name after a change, and returns whether readers tracking the name must be notified.
    ///
    /// - Parameter isShown: Whether the change alters what the name reads as; false if a stronger layer's value hides it.
    func invalidate(isShown: Bool) -> Bool {
        let mustNotify = isShown || isFirstUnused || signal.mayNeedChangesBelow
        if isShown { isFirstUnused = false }
        invalidate()
        return mustNotify
    }

    /// Invalidates all slots of the name.
    func invalidate() {
        for slot in slots { slot.cell.invalidate() }
    }

    /// Returns the cell of a type and coding, with the caller counted as a user; creates it unless it is in use.
    func cell(for key: SlotKey, create: () -> PreferenceCell) -> PreferenceCell {
        // The key includes the type.
        let known = slots.firstIndex { $0.key == key }
        if let known, slots[known].cell.join() { return slots[known].cell }
        let cell = create()
        if let known {
            slots[known].cell = cell
            return cell
        }
        if slots.count >= slotLimit {
            slots = slots.filter { $0.cell.isUsed }
            slotLimit = max(8, slots.count * 2)
        }
        slots.append(Slot(key: key, cell: cell))
        return cell
    }

    /// Records that the strongest stored value isn't used, but that of another layer, which may be one above the writable layer.
    func noteFirstUnused(hiddenBy layer: String?) { (isFirstUnused, hidingLayer) = (true, layer) }

    /// Returns the readings of the cells, and whether a change is signalled without comparing it with them.
    ///
    /// - Parameters:
    ///   - old: The strongest stored value before the change.
    ///   - new: The one after it.
    func readings(from old: PropertyListValue?, to new: PropertyListValue?) -> (
        ShortList<CellReading>, isSignalled: Bool
    ) {
        var readings = ShortList<CellReading>()
        var isChanged = false
        for slot in slots where !isChanged {
            guard let reading = slot.cell.reading else { continue }
            // In any case, as the caller releases it without a lock.
            readings.append(reading)
            if let old, let new { isChanged = reading.isChanged(from: old, to: new) }
        }
        // Comes after the readings; see `PreferenceCell.dropReading`.
        return (readings, signal.takeOtherReaders() || isChanged || readings.isEmpty)
    }

    /// Makes all slots of the name stale in a child of `fork`.
    func startInChild() {
        signal.noteOtherReaders()
        for slot in slots { slot.cell.startInChild() }
    }
}
