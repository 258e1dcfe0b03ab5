internal import DurableFile
internal import Synchronization

/// Stored values by name, as stores show them; a leaf lock.
///
/// A source has them, and a backend that answers by name shares them, so that a value is held once. They change only by
/// being published, and are of one moment only under the lock of a store that shows them.
final class StoredValues: Sendable {
    private let values: Lock<ValueTable>
    /// So that a read that looks through layers need not take the lock.
    private let hasNone: Atomic<Bool>
    private let changes = Atomic<UInt64>(0)

    convenience init(_ values: [String: PropertyListValue]) { self.init(ValueTable(values)) }

    init(_ values: consuming ValueTable = ValueTable()) {
        hasNone = Atomic(values.isEmpty)
        self.values = Lock(values)
    }

    subscript(name: String) -> PropertyListValue? {
        hasNone.load(ordering: .acquiring) ? nil : values.withLock { $0[name] }
    }

    /// The values of this moment; whoever changes one while they are kept copies everything.
    var copy: ValueTable {
        hasNone.load(ordering: .acquiring) ? ValueTable() : values.withLock { $0.copy }
    }

    /// All of them, parsed.
    var dictionary: [String: PropertyListValue] {
        hasNone.load(ordering: .acquiring) ? [:] : values.withLock { $0.dictionary }
    }

    /// The names that have a value.
    var names: [String] { values.withLock { $0.names } }

    /// Whether a condition holds, where others can't change the values.
    func hold(_ condition: PreferenceCondition) -> Bool {
        condition.isNone || values.withLock { condition.holds(for: $0) }
    }

    /// Which of some changes would change anything.
    func differences(of changes: ValueChanges) -> ShortList<ValueChange> {
        values.withLock { values in
            var different = ShortList<ValueChange>()
            changes.forEach { name, new in
                if let change = values.change(of: name, to: new) { different.append(change) }
            }
            return different
        }
    }

    /// What of a table is different.
    func differences(to table: borrowing ValueTable) -> [String: PropertyListValue?] {
        values.withLock { $0.differences(to: table) }
    }

    /// Counts up with each change that is published.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Makes the changes, which were found by `differences` and nothing since.
    func make(_ changes: ShortList<ValueChange>) {
        update { values in
            // A name that is new may move the others.
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

    /// Takes over the values of others, which have none then.
    func take(_ others: StoredValues) {
        var table = others.takeAll()
        update { swap(&$0, &table) }
    }

    private func takeAll() -> ValueTable {
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
