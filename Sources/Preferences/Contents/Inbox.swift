/// The stored changes that a source has yet to publish, in the order in which they were stored.
///
/// A backend adds external changes as it learns of them, and the source, or a file, the source's own when they are stored. Only
/// the source takes changes out, with its turn.
package struct Inbox: Sendable {
    /// Changes that are published together.
    package struct Batch: Sendable {
        fileprivate(set) var changes: ValueChanges
        fileprivate let position: Int64?
        package let isOwn: Bool

        package var dictionary: [String: PropertyListValue?] { changes.dictionary }

        fileprivate subscript(name: String) -> PropertyListValue?? {
            switch changes {
            case .one(let only, let value): only == name ? .some(value) : nil
            case .several(let changes): changes[name]
            }
        }
    }

    private var batches: [Batch] = []
    /// Own changes before all batches, as their differences from the published values. Most sets need no batch.
    private(set) var first = ShortList<ValueChange>()
    /// The batch that is being published.
    private var current: Batch?
    /// The changes that the backend is storing, until it has stored them.
    private var pending: [String: PropertyListValue?]?

    package init() {}

    /// Whether there is nothing left to publish.
    package var isEmpty: Bool { batches.isEmpty && first.isEmpty }

    /// Whether everything is published.
    var isDone: Bool { isEmpty && current == nil }

    /// Whether external changes are left to publish.
    var hasExternalChanges: Bool { batches.contains { !$0.isOwn } }

    /// Returns the last change of a name, also if it is being published; nil if there is none.
    subscript(name: String) -> PropertyListValue?? {
        for batch in batches.reversed() { if let value = batch[name] { return value } }
        if let change = first.firstResult({ $0.name == name ? $0 : nil }) { return .some(change.new) }
        return current.flatMap { $0[name] }
    }

    /// The last change of each name, as `subscript` returns it.
    var changes: [String: PropertyListValue?] {
        let before = current?.dictionary ?? [:]
        return batches.reduce(into: before.merging(first.dictionary) { $1 }) { $0.merge($1.dictionary) { $1 } }
    }

    // MARK: Adding

    /// Adds external changes.
    ///
    /// - Parameters:
    ///   - changes: The new values; nil means removed.
    ///   - position: Their position among all changes, if the backend numbers these: they precede changes with a higher one. Other
    ///     changes follow those that were added before.
    package mutating func add(_ changes: [String: PropertyListValue?], at position: Int64? = nil) {
        if !changes.isEmpty { add(.several(changes), at: position) }
    }

    /// Adds external changes, as the other method does.
    mutating func add(_ changes: ValueChanges, at position: Int64? = nil) {
        if position == nil, let last = batches.last, !last.isOwn, last.position == nil {
            batches[batches.count - 1].changes = .several(last.dictionary.merging(changes.dictionary) { $1 })
        } else {
            insert(Batch(changes: changes, position: position, isOwn: false))
        }
    }

    /// Records the changes that the backend is asked to store; nil when it has not stored them.
    package mutating func begin(_ changes: [String: PropertyListValue?]?) { pending = changes }

    /// Adds the changes that the backend was asked to store unless they were added before, as they are stored now.
    package mutating func addOwn(at position: Int64? = nil) {
        guard let changes = exchange(&pending, with: nil) else { return }
        if let position {
            // The backend has read all values at this position, so the store's own changes are among them.
            for index in batches.indices where batches[index].position == position {
                var external = batches[index].dictionary
                for name in changes.keys { external[name] = nil }
                batches[index].changes = .several(external)
            }
        }
        insert(Batch(changes: .several(changes), position: position, isOwn: true))
    }

    /// Adds own changes that are stored.
    mutating func addOwn(_ changes: ValueChanges) {
        batches.append(Batch(changes: changes, position: nil, isOwn: true))
    }

    /// Adds own changes as their differences from the published values; returns false if there are others before them.
    mutating func addFirst(_ changes: ShortList<ValueChange>) -> Bool {
        guard isDone else { return false }
        first = changes
        return true
    }

    private mutating func insert(_ batch: Batch) {
        var index = batches.endIndex
        if let position = batch.position {
            while index > 0, let other = batches[index - 1].position, other > position { index -= 1 }
        }
        batches.insert(batch, at: index)
    }

    // MARK: Taking

    /// Records that `first` is published.
    mutating func removeFirst() { first = .empty }

    /// Removes and returns the next batch; the next call means that it is published.
    package mutating func next() -> Batch? {
        if !first.isEmpty {
            current = Batch(changes: .several(exchange(&first, with: .empty).dictionary), position: nil, isOwn: true)
        } else {
            current = batches.isEmpty ? nil : batches.removeFirst()
        }
        return current
    }
}
