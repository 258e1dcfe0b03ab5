internal import DurableFile
internal import Synchronization

/// The stored values by name, as stores show them, and the changes that are yet to be published; their locks are leaves.
///
/// A source owns them, and a file's backend shares them, so that each value is in memory once. They change only by being
/// published, and form a consistent snapshot only under the lock of a store that shows them.
final class StoredValues: Sendable {
    private let values: Lock<ValueTable>
    /// Whether the table is empty; a read of several layers then skips the lock.
    private let hasNone: Atomic<Bool>
    private let changes = Atomic<UInt64>(0)
    private let inbox = Lock(Inbox())
    private let hasChanges = Atomic(false)

    convenience init(_ values: [String: PropertyListValue]) { self.init(ValueTable(values)) }

    init(_ values: consuming ValueTable = ValueTable()) {
        hasNone = Atomic(values.isEmpty)
        self.values = Lock(values)
    }

    subscript(name: String) -> PropertyListValue? {
        hasNone.load(ordering: .acquiring) ? nil : values.withLock { $0[name] }
    }

    /// Returns the value of a name after the changes that are yet to be published.
    func stored(_ name: String) -> PropertyListValue? {
        // In this order, because a change leaves the inbox after it is published.
        (hasUnpublished ? withInbox { $0[name] } : nil) ?? self[name]
    }

    /// Whether changes are stored, and not published yet or being published.
    var hasUnpublished: Bool { hasChanges.load(ordering: .acquiring) }

    /// Runs `body` with the changes that are stored and not published yet.
    func withInbox<Result>(_ body: (inout Inbox) -> Result) -> Result {
        inbox.withLock { inbox in
            let result = body(&inbox)
            hasChanges.store(!inbox.isDone, ordering: .releasing)
            return result
        }
    }

    /// A copy of the values. While it exists, the first change copies everything.
    var copy: ValueTable {
        hasNone.load(ordering: .acquiring) ? ValueTable() : values.withLock { $0.copy }
    }

    /// All values, parsed.
    var dictionary: [String: PropertyListValue] {
        hasNone.load(ordering: .acquiring) ? [:] : values.withLock { $0.dictionary }
    }

    /// The names that have a value.
    var names: [String] { values.withLock { $0.names } }

    /// Returns whether a condition is true; call while no other thread can change the values.
    func hold(_ condition: PreferenceCondition) -> Bool {
        condition.isNone || values.withLock { condition.holds(for: $0) }
    }

    /// Returns the changes that would alter a value.
    func differences(of changes: ValueChanges) -> ShortList<ValueChange> {
        values.withLock { values in
            var different = ShortList<ValueChange>()
            changes.forEach { name, new in
                if let change = values.change(of: name, to: new) { different.append(change) }
            }
            return different
        }
    }

    /// Returns the values of a table that differ; nil for a name that the table doesn't have.
    func differences(to table: borrowing ValueTable) -> [String: PropertyListValue?] {
        values.withLock { $0.differences(to: table) }
    }

    /// A counter that increases with each published change.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Applies the changes, which are those that `differences` returned for the current values.
    func make(_ changes: ShortList<ValueChange>) {
        update { values in
            // Adding a name may change the indices of entries, so the known names come first.
            changes.forEach { if let index = $0.index { values.set($0.new, at: index) } }
            changes.forEach { if $0.index == nil { values.set($0.new, for: $0.name) } }
        }
        self.changes.wrappingAdd(1, ordering: .releasing)
    }

    func set(_ value: PropertyListValue?, for name: String) {
        update { $0.set(value, for: name) }
    }

    func set(_ changes: [String: PropertyListValue?]) {
        guard !changes.isEmpty else { return }
        update { values in for (name, value) in changes { values.set(value, for: name) } }
    }

    /// Moves the values of another object here, and leaves that one empty.
    func moveValues(from other: StoredValues) {
        var table = other.removeAll()
        update { swap(&$0, &table) }
    }

    /// Takes the locks for a `fork` unless another thread has one, and returns whether it did.
    func take() -> Bool {
        guard values.take() else { return false }
        if inbox.take() { return true }
        values.release(inChild: false)
        return false
    }

    func release(inChild: Bool) {
        inbox.release(inChild: inChild)
        values.release(inChild: inChild)
    }

    private func removeAll() -> ValueTable {
        hasNone.store(true, ordering: .releasing)
        return values.withLock { exchange(&$0, with: ValueTable()) }
    }

    private func update(_ body: (inout ValueTable) -> Void) {
        values.withLock { values in
            body(&values)
            hasNone.store(values.isEmpty, ordering: .releasing)
        }
    }
}
