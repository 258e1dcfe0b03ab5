internal import Synchronization

/// The change of one name in a batch.
package struct ChangeEntry: Sendable {
    package let name: String
    /// The stored values of the layers before the change, the strongest layer's first.
    let old: StoredCandidates
    /// The stored values of the layers after it.
    let new: StoredCandidates
    /// Whether the values are those of a preference's name and of its former names together.
    var isOfSeveralNames = false

    /// Whether the first candidate's value is unchanged, so that only a value below it differs.
    ///
    /// Only a preference that can't read the stronger layer's value sees such a change.
    var isBelow: Bool { old.first?.value == new.first?.value }
}

/// The changes of one set, of one transaction, or of one external change, delivered together.
package struct ChangeBatch: Sendable {
    let sequence: UInt64
    let origin: PreferenceChangeOrigin
    /// The identifier of the newest subscription that was notified before the change, if this batch is such an announcement.
    let announcedUpTo: UInt64
    private(set) var entries: [ChangeEntry] = []
    /// The names whose first candidate is unchanged and that differ only below it.
    private(set) var entriesBelow: [ChangeEntry] = []
    /// The changes of single names that belong to a preference with former names, whose own change is among the others.
    private(set) var entriesOfStoredNames: [ChangeEntry] = []

    /// Whether the batch has a subscriber and so must be delivered.
    var isObserved = false

    init(sequence: UInt64, origin: PreferenceChangeOrigin, announcedUpTo: UInt64 = 0) {
        self.sequence = sequence
        self.origin = origin
        self.announcedUpTo = announcedUpTo
    }

    /// The changes of stored names, for observers of the whole store.
    package var stored: [ChangeEntry] {
        entries.filter { !$0.isOfSeveralNames } + entriesOfStoredNames.filter { !$0.isBelow }
    }

    mutating func append(stored entry: ChangeEntry) { entriesOfStoredNames.append(entry) }

    mutating func append(_ entry: ChangeEntry) {
        if entry.isBelow { entriesBelow.append(entry) } else { entries.append(entry) }
    }

    /// Passes the batch to each subscriber, in their order, on this thread; call it without a lock.
    func deliver(to subscribers: [ChangeSubscription]) {
        let decoded = subscribers.count > 1 ? DecodedChanges() : nil
        for subscriber in subscribers { subscriber.receive(self, decoded) }
    }

    func entry(for name: String) -> ChangeEntry? {
        entries.first { $0.name == name } ?? entriesBelow.first { $0.name == name }
    }
}

/// The changes of a batch as its subscribers have decoded them, so that those of one type decode a change once.
final class DecodedChanges: @unchecked Sendable {  // used by the thread that delivers only
    private var changes: [AnyDecodedChange] = []

    func change(for cell: ObjectIdentifier) -> AnyDecodedChange? { changes.first { $0.cell == cell } }

    func append(_ change: AnyDecodedChange) { changes.append(change) }
}

/// A decoded change; its only subclass has the values.
class AnyDecodedChange: @unchecked Sendable {  // constants of types that are `Sendable`
    /// The cell that is shared by all declarations that decode the change to the same values.
    let cell: ObjectIdentifier

    init(cell: ObjectIdentifier) { self.cell = cell }
}

/// The origin of a change.
public enum PreferenceChangeOrigin: Sendable, Hashable {
    /// This process, through this library.
    case local
    /// Another process, a text editor, or a framework below the store.
    case external
}

/// The time at which an observer is notified of a change.
public enum PreferenceTiming: Sendable, Hashable {
    /// After the new value can be read.
    case didSet
    /// Just before the change, while the old value can still be read.
    case willSet
}

/// A subscriber, notified of the batches after `start` until it is cancelled.
final class ChangeSubscription: Sendable {
    /// Counts up over the whole process, and so orders subscriptions by age.
    let identifier: UInt64
    /// The observed names; `nil` for all.
    let names: Set<String>?
    let timing: PreferenceTiming
    /// The store's sequence number when the subscription began; it gets later batches only.
    let start: UInt64
    private let body: @Sendable (ChangeBatch, DecodedChanges?) -> Void
    private let isCancelled = Atomic<Bool>(false)
    private static let count = Atomic<UInt64>(0)

    /// The identifier of the newest subscription.
    static var newest: UInt64 { count.load(ordering: .sequentiallyConsistent) }

    init(
        names: Set<String>?,
        timing: PreferenceTiming,
        after start: UInt64,
        _ body: @escaping @Sendable (ChangeBatch, DecodedChanges?) -> Void
    ) {
        identifier = Self.count.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        self.names = names
        self.timing = timing
        self.start = start
        self.body = body
    }

    /// Calls the body with a batch, and with what its subscribers have decoded if there are several, unless the subscription is cancelled;
    /// call it without a lock.
    fileprivate func receive(_ batch: ChangeBatch, _ decoded: DecodedChanges?) {
        guard !isCancelled.load(ordering: .acquiring) else { return }
        body(batch, decoded)
    }

    /// Prevents further calls of the body, except one that another thread has already begun to make.
    func cancel() {
        isCancelled.store(true, ordering: .releasing)
    }
}

// In the order of their identifiers, so that one of many is found quickly.
extension [ChangeSubscription] {
    mutating func add(_ subscription: ChangeSubscription) {
        insert(subscription, at: place(of: subscription))
    }

    mutating func remove(_ subscription: ChangeSubscription) {
        let place = place(of: subscription)
        if place < count, self[place] === subscription { remove(at: place) }
    }

    /// Returns the index of the first subscription that isn't older than this one.
    private func place(of subscription: ChangeSubscription) -> Int {
        var range = 0..<count
        // Usually it is the newest one.
        guard let last, last.identifier >= subscription.identifier else { return count }
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            if self[middle].identifier < subscription.identifier {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}
