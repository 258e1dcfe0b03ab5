/// The order of deliveries: which batch is next, which thread delivers, and when it may stop.
///
/// One thread at a time delivers. A batch that any thread enqueues during that time waits for the delivering thread. So
/// observers see the store's order, and no thread blocks. The type is pure: it holds no lock, calls no closure and reads no clock.
struct DeliveryQueue {
    /// The number of batches of other threads that a thread delivers before it hands the rest over.
    static let foreignLimit = 64

    /// The next step of the delivering thread, after it has released the lock.
    enum Action {
        /// Deliver the batch; `depth` is the number of changes that led to it, each made by an observer of the one before.
        case deliver(ChangeBatch, depth: Int)
        /// Continue on a thread of the store, which calls `resume(on:)`.
        case handOver
        case stop
    }

    private enum Deliverer: Equatable {
        case noThread
        case thread(ThreadIdentity)
        case nextThread
    }

    private struct Entry {
        let batch: ChangeBatch
        let setter: ThreadIdentity
        let depth: Int
    }

    private var entries = FirstInFirstOut<Entry>()
    private var deliverer = Deliverer.noThread
    private var foreignCount = 0

    /// Adds a batch that `thread` made; `depth` is the number of changes that led to it.
    mutating func enqueue(_ batch: ChangeBatch, setBy thread: ThreadIdentity, depth: Int = 0) {
        entries.append(Entry(batch: batch, setter: thread, depth: depth))
    }

    /// Lets `thread` deliver; returns false if a thread (this or another) delivers already, or if the queue is empty.
    mutating func claim(by thread: ThreadIdentity) -> Bool {
        guard deliverer == .noThread, entries.count > 0 else { return false }
        begin(thread)
        return true
    }

    /// Has the batches wait, as if `thread` delivered; returns false if a thread delivers already, which then goes on.
    mutating func pause(by thread: ThreadIdentity) -> Bool {
        guard deliverer == .noThread else { return false }
        begin(thread)
        return true
    }

    /// Ends a pause: the store's own thread delivers, as after the action of that name.
    mutating func handOver() { deliverer = .nextThread }

    /// Lets the store's own thread deliver, after `handOver`.
    mutating func resume(on thread: ThreadIdentity) {
        precondition(deliverer == .nextThread, "only after handOver")
        begin(thread)
    }

    private mutating func begin(_ thread: ThreadIdentity) {
        deliverer = .thread(thread)
        foreignCount = 0
    }

    /// Returns the next step of the delivering thread.
    mutating func next(isOwnThread: Bool = false) -> Action {
        guard case .thread(let thread) = deliverer, let entry = entries.first else {
            deliverer = .noThread
            return .stop
        }
        if entry.setter != thread, !isOwnThread {
            guard foreignCount < Self.foreignLimit else {
                deliverer = .nextThread
                return .handOver
            }
            foreignCount += 1
        }
        _ = entries.popFirst()
        return .deliver(entry.batch, depth: entry.depth)
    }

    /// Lets another thread deliver in a child of `fork` if the one that did so isn't there.
    ///
    /// - Parameter mayResume: Whether the child may start the store's own thread.
    mutating func forgetThreads(mayResume: Bool) {
        switch deliverer {
        case .thread(let thread) where thread != .current: deliverer = .noThread
        case .nextThread where !mayResume: deliverer = .noThread
        default: break
        }
    }
}

/// A queue whose operations take constant time (amortized), whatever its length.
struct FirstInFirstOut<Element> {
    private var slots: [Element?] = []
    private var head = 0

    init() {}

    var count: Int { slots.count - head }
    var first: Element? { head < slots.count ? slots[head] : nil }

    /// The elements, oldest first.
    var elements: [Element] { slots[head...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        // Releases the element at once, and its slot when enough slots are free to make moving the rest worthwhile.
        slots[head] = nil
        head += 1
        if head == slots.count {
            removeAll()
        } else if head >= 64, head * 2 > slots.count {
            slots.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes the first element for which `isRemoved` is true, and returns it.
    mutating func removeFirst(where isRemoved: (Element) -> Bool) -> Element? {
        let index = slots[head...].firstIndex { $0.map(isRemoved) ?? false }
        return index.flatMap { slots.remove(at: $0) }
    }

    mutating func removeAll() {
        slots.removeAll(keepingCapacity: slots.capacity <= 64)
        head = 0
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
