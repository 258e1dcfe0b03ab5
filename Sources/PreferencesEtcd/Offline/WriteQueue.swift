internal import Preferences

/// The writes that wait to be sent, in the order in which they were made.
///
/// A plain write replaces the values that earlier plain ones set for its names, so repeated sets of a few names remain a few writes.
struct WriteQueue: Sendable {
    struct Write: Sendable {
        var changes: [String: PropertyListValue?]
        var condition: PreferenceCondition
        /// The request that etcd may already have executed.
        var inDoubt: TransactionBuilder?
        /// Whether an earlier run of the program may have sent it.
        var mayBeStored = false

        /// Whether it has no condition.
        var isPlain: Bool { condition.values.isEmpty && !condition.isComplete }
        var removesOnly: Bool { changes.values.allSatisfy { $0 == nil } }
        /// The names that it sets or compares, except for those that a complete condition requires to be absent.
        var names: Set<String> { Set(changes.keys).union(condition.values.keys) }

        func isStored(in mirror: Mirror) -> Bool { mirror.missing(changes).isEmpty }
    }

    /// A change of the queue: writes to insert or replace by number, and `nil` for those to remove.
    typealias Step = [Int: Write?]

    private var writes: [Int: Write] = [:]
    /// A number that no write is below.
    private var head = 0
    private var next = 0
    /// The numbers of the writes that set a name, in order.
    private var setters: [String: [Int]] = [:]
    /// The number of the last write whose condition has a name, and of the last whose condition is complete.
    private var readers: [String: Int] = [:]
    private var lastComplete = -1
    /// The values that the queued writes set, by name.
    private(set) var overlay: [String: PropertyListValue?] = [:]

    var count: Int { writes.count }
    var names: [String] { overlay.keys.sorted() }

    /// The first write and its number.
    var first: (number: Int, write: Write)? {
        mutating get {
            while head < next {
                if let write = writes[head] { return (head, write) }
                head += 1
            }
            return nil
        }
    }

    /// The removals that share no name with an earlier write other than such removals, in order.
    var independentRemovals: [(number: Int, write: Write)] {
        var removals: [(number: Int, write: Write)] = []
        var blocked: Set<String> = []
        for (number, write) in writes.sorted(by: { $0.key < $1.key }) {
            if write.removesOnly, !write.condition.isComplete, blocked.isDisjoint(with: write.names) {
                removals.append((number, write))
            } else {
                guard !write.condition.isComplete else { break }
                blocked.formUnion(write.names)
            }
        }
        return removals
    }

    /// Returns the values that the store shows: the stored ones, overridden by the queued ones.
    func view(of stored: [String: PropertyListValue]) -> [String: PropertyListValue] {
        var values = stored
        for (name, value) in overlay { values[name] = value }
        return values
    }

    /// Returns the step that appends a write.
    func appending(_ write: Write) -> Step {
        var step: Step = [next: write]
        guard write.isPlain else { return step }
        for name in write.changes.keys {
            guard let number = setters[name]?.last, var earlier = step[number] ?? writes[number], earlier.isPlain,
                earlier.inDoubt == nil, !earlier.mayBeStored, max(readers[name] ?? -1, lastComplete) < number
            else { continue }
            earlier.changes[name] = nil
            step.updateValue(earlier.changes.isEmpty ? nil : earlier, forKey: number)
        }
        return step
    }

    /// Reserves the numbers up to `number` for the writes of a file, of which some can't be read.
    mutating func reserve(through number: Int) { next = max(next, number + 1) }

    /// Returns the number of writes after a step.
    func count(after step: Step) -> Int {
        step.reduce(count) { $0 + ($1.value == nil ? 0 : 1) - (writes[$1.key] == nil ? 0 : 1) }
    }

    /// Applies a step; returns the names that no write sets any more.
    @discardableResult
    mutating func apply(_ step: Step) -> Set<String> {
        var names: Set<String> = []
        for (number, write) in step.sorted(by: { $0.key < $1.key }) {
            if let old = writes.removeValue(forKey: number) {
                for name in old.changes.keys {
                    setters[name]?.removeAll { $0 == number }
                    names.insert(name)
                }
            }
            if let write { insert(write, number, &names) }
        }
        for name in names {
            if let number = setters[name]?.last, let value = writes[number]?.changes[name] {
                overlay.updateValue(value, forKey: name)
            } else {
                overlay.removeValue(forKey: name)
                setters[name] = nil
            }
        }
        if writes.isEmpty { (readers, lastComplete) = ([:], -1) }
        return names.filter { overlay[$0] == nil }
    }

    private mutating func insert(_ write: Write, _ number: Int, _ names: inout Set<String>) {
        (head, next) = (writes.isEmpty ? number : min(head, number), max(next, number + 1))
        writes[number] = write
        for name in write.changes.keys {
            var numbers = setters[name] ?? []
            numbers.insert(number, at: numbers.firstIndex { $0 > number } ?? numbers.count)
            setters[name] = numbers
            names.insert(name)
        }
        for name in write.condition.values.keys { readers[name] = max(number, readers[name] ?? -1) }
        if write.condition.isComplete { lastComplete = max(number, lastComplete) }
    }
}
