internal import Synchronization

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
