internal import Synchronization

/// One name's part in a batch.
struct ChangeEntry: Sendable {
    let name: String
    /// What might have answered before the change.
    let old: StoredCandidates
    /// What may answer after it.
    let new: StoredCandidates

    /// Whether the name reads as before, and only a value under a stronger layer's changed.
    ///
    /// That counts for those who can't read the stronger one.
    var isBelow: Bool { old.first?.value == new.first?.value }
}

/// Changes that happened as one: a set, a transaction, or what came from outside at once.
struct ChangeBatch: Sendable {
    let sequence: UInt64
    let origin: PreferenceChangeOrigin
    /// The number of the last subscription that was notified before the change, where it is for that moment.
    let announcedUpTo: UInt64
    private(set) var entries: [ChangeEntry] = []
    /// The names of which only a value under a stronger layer's changed.
    private(set) var entriesBelow: [ChangeEntry] = []

    /// Whether anybody subscribed, so that it is worth a delivery.
    var isObserved = false

    init(sequence: UInt64, origin: PreferenceChangeOrigin, announcedUpTo: UInt64 = 0) {
        self.sequence = sequence
        self.origin = origin
        self.announcedUpTo = announcedUpTo
    }

    mutating func append(_ entry: ChangeEntry) {
        if entry.isBelow { entriesBelow.append(entry) } else { entries.append(entry) }
    }

    func entry(for name: String) -> ChangeEntry? {
        entries.first { $0.name == name } ?? entriesBelow.first { $0.name == name }
    }
}

/// Where a change came from.
public enum PreferenceChangeOrigin: Sendable, Hashable {
    /// This process, through this library.
    case local
    /// Another process, a person with an editor, or a framework below the store.
    case external
}

/// When an observer is told of a change.
public enum PreferenceTiming: Sendable, Hashable {
    /// Once the new value is readable.
    case didSet
    /// Just before, while the old value still is.
    case willSet
}

/// Somebody who is told of changes, from the batch after `start` until cancelled.
final class ChangeSubscription: Sendable {
    /// Counts up over the whole process, so that it orders subscriptions by age.
    let identifier: UInt64
    /// The names; nil for all.
    let names: Set<String>?
    let timing: PreferenceTiming
    /// The store's sequence number when it began; earlier batches are not its own.
    let start: UInt64
    private let body: @Sendable (ChangeBatch) -> Void
    private let isCancelled = Atomic<Bool>(false)
    private static let count = Atomic<UInt64>(0)

    /// The identifier of the subscription that was made last.
    static var newest: UInt64 { count.load(ordering: .sequentiallyConsistent) }

    init(
        names: Set<String>?,
        timing: PreferenceTiming,
        after start: UInt64,
        _ body: @escaping @Sendable (ChangeBatch) -> Void
    ) {
        identifier = Self.count.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        self.names = names
        self.timing = timing
        self.start = start
        self.body = body
    }

    /// Tells of a batch unless cancelled; call without a lock.
    func receive(_ batch: ChangeBatch) {
        guard !isCancelled.load(ordering: .acquiring) else { return }
        body(batch)
    }

    /// No call of the body begins after this, except one that another thread had already chosen.
    func cancel() {
        isCancelled.store(true, ordering: .releasing)
    }
}
