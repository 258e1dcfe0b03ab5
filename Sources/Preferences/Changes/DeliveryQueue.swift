internal import DurableFile

/// The order of deliveries: which batch is next, which thread delivers, and when it may stop.
///
/// One thread at a time delivers. A batch that is enqueued meanwhile waits for that thread, whoever set it, so
/// observers see the store's order and nobody waits. Pure: it holds no lock, calls nobody and knows no time.
struct DeliveryQueue {
    /// How often observers may set in answer to a change that was set in answer to … before it is called a loop.
    static let depthLimit = 1000
    /// How many batches of others a thread delivers before it hands the rest on.
    static let foreignLimit = 64

    /// What the deliverer does next, once it has released the lock.
    enum Action {
        case deliver(ChangeBatch)
        /// Let a thread of the store's own go on, which calls `takeOver`.
        case handOver
        case stop
    }

    private enum Deliverer: Equatable {
        case nobody
        case thread(ThreadIdentity)
        case nextThread
    }

    private struct Entry {
        let batch: ChangeBatch
        let setter: ThreadIdentity
        let depth: Int
    }

    private var entries = FirstInFirstOut<Entry>()
    private var deliverer = Deliverer.nobody
    private var depth = 0
    private var foreignCount = 0

    /// Whether a set by `thread` would be one more link in a chain of observers that has no end.
    func isLoop(setBy thread: ThreadIdentity) -> Bool {
        deliverer == .thread(thread) && depth >= Self.depthLimit
    }

    /// Adds a batch that `thread` made.
    mutating func enqueue(_ batch: ChangeBatch, setBy thread: ThreadIdentity) {
        entries.append(Entry(batch: batch, setter: thread, depth: deliverer == .thread(thread) ? depth + 1 : 0))
    }

    /// Makes `thread` the deliverer; false where another is, or it is already, or nothing waits.
    mutating func claim(by thread: ThreadIdentity) -> Bool {
        guard deliverer == .nobody, entries.count > 0 else { return false }
        begin(thread)
        return true
    }

    /// Makes the store's own thread the deliverer, after `handOver`.
    mutating func takeOver(by thread: ThreadIdentity) {
        precondition(deliverer == .nextThread, "only after handOver")
        begin(thread)
    }

    private mutating func begin(_ thread: ThreadIdentity) {
        deliverer = .thread(thread)
        foreignCount = 0
    }

    /// What the deliverer does next.
    mutating func next(isOwnThread: Bool = false) -> Action {
        guard case .thread(let thread) = deliverer, let entry = entries.first else {
            depth = 0
            deliverer = .nobody
            return .stop
        }
        if entry.setter != thread, !isOwnThread {
            guard foreignCount < Self.foreignLimit else {
                deliverer = .nextThread
                depth = 0
                return .handOver
            }
            foreignCount += 1
        }
        _ = entries.popFirst()
        depth = entry.depth
        return .deliver(entry.batch)
    }
}
