internal import Preferences

/// Writes that wait for an endpoint, in the order in which they were made.
struct WriteQueue: Sendable {
    struct Write: Sendable {
        var changes: [String: PropertyListValue?]
        var condition: PreferenceCondition
        /// The request that may have been done already.
        var inDoubt: TransactionBuilder?

        func isStored(in values: [String: PropertyListValue]) -> Bool {
            changes.allSatisfy { values[$0.key] == $0.value }
        }
    }

    private var writes = FirstInFirstOut<Write>()
    /// What the waiting writes make of the values.
    private(set) var overlay: [String: PropertyListValue?] = [:]

    var count: Int { writes.count }
    var first: Write? { writes.first }

    /// What the store shows, given what is stored.
    func view(of stored: [String: PropertyListValue]) -> [String: PropertyListValue] {
        var values = stored
        for (name, value) in overlay { values[name] = value }
        return values
    }

    mutating func append(_ write: Write) {
        writes.append(write)
        overlay.merge(write.changes) { $1 }
    }

    /// Takes the first one out; gives the names that none of the others sets.
    mutating func removeFirst() -> Set<String> {
        guard let first = writes.popFirst() else { return [] }
        overlay = [:]
        // Few wait, or nobody is in a hurry.
        var rest = writes
        while let write = rest.popFirst() { overlay.merge(write.changes) { $1 } }
        return Set(first.changes.keys).subtracting(overlay.keys)
    }
}
