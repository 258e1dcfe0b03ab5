internal import DurableFile
internal import Synchronization

/// Stored values by name, as stores show them; a leaf lock.
///
/// A source has them, and a backend that answers by name shares them, so that a value is held once. They change only by
/// being published, and are of one moment only under the lock of a store that shows them.
final class StoredValues: Sendable {
    private let values: Lock<[String: PropertyListValue]>
    /// So that a read that looks through layers need not take the lock.
    private let hasNone: Atomic<Bool>
    private let changes = Atomic<UInt64>(0)

    init(_ values: [String: PropertyListValue] = [:]) {
        self.values = Lock(values)
        hasNone = Atomic(values.isEmpty)
    }

    subscript(name: String) -> PropertyListValue? {
        hasNone.load(ordering: .acquiring) ? nil : values.withLock { $0[name] }
    }

    var all: [String: PropertyListValue] {
        hasNone.load(ordering: .acquiring) ? [:] : values.withLock { $0 }
    }

    /// Whether a condition holds, where others can't change the values.
    func hold(_ condition: PreferenceCondition) -> Bool {
        condition.isNone || values.withLock { condition.holds(for: $0) }
    }

    /// Which of some changes would change anything.
    func differences(of changes: ValueChanges) -> ShortList<ValueChange> {
        values.withLock { values in
            var different = ShortList<ValueChange>()
            changes.forEach { name, new in
                let change = ValueChange(name: name, to: new, at: values.index(forKey: name), in: values)
                if change.old != new { different.append(change) }
            }
            return different
        }
    }

    /// Counts up with each change that is published.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// Makes the changes, which were found by `differences` and nothing since.
    func make(_ changes: ShortList<ValueChange>) {
        update { values in
            // First those that move nothing.
            changes.forEach { if let place = $0.place, let new = $0.new { values.values[place] = new } }
            changes.forEach { if $0.place == nil || $0.new == nil { values[$0.name] = $0.new } }
        }
        self.changes.wrappingAdd(1, ordering: .releasing)
    }

    func set(_ value: PropertyListValue?, for name: String) {
        update { $0[name] = value }
    }

    func set(_ changes: [String: PropertyListValue?]) {
        guard !changes.isEmpty else { return }
        update { values in for (name, value) in changes { values[name] = value } }
    }

    func replace(with new: [String: PropertyListValue]) {
        update { $0 = new }
    }

    private func update(_ body: (inout [String: PropertyListValue]) -> Void) {
        values.withLock { values in
            body(&values)
            hasNone.store(values.isEmpty, ordering: .releasing)
        }
    }
}
