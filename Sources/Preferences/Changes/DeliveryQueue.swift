/// The order of deliveries: which batch is next, which thread delivers, and when it may stop.
///
/// One thread at a time delivers. A batch that is enqueued meanwhile waits for that thread, whoever set it, so
/// observers see the store's order and nobody waits. Pure: it holds no lock, calls nobody and knows no time.
struct DeliveryQueue {
    /// How many batches of others a thread delivers before it hands the rest on.
    static let foreignLimit = 64

    /// What the deliverer does next, once it has released the lock.
    enum Action {
        /// With how many changes led to it, each an answer to the one before.
        case deliver(ChangeBatch, depth: Int)
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
    private var foreignCount = 0

    /// Adds a batch that `thread` made in answer to so many others.
    mutating func enqueue(_ batch: ChangeBatch, setBy thread: ThreadIdentity, depth: Int = 0) {
        entries.append(Entry(batch: batch, setter: thread, depth: depth))
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
            deliverer = .nobody
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
}

/// Elements that are taken in the order in which they came, each in constant time however many wait.
package struct FirstInFirstOut<Element> {
    private var slots: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { slots.count - head }
    package var first: Element? { head < slots.count ? slots[head] : nil }

    /// In their order.
    package var elements: [Element] { slots[head...].compactMap { $0 } }

    package mutating func append(_ element: Element) {
        slots.append(element)
    }

    package mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        // What was taken is let go of at once, its place when it is worth moving the rest.
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
    package mutating func removeFirst(where isRemoved: (Element) -> Bool) -> Element? {
        let index = slots[head...].firstIndex { $0.map(isRemoved) ?? false }
        return index.flatMap { slots.remove(at: $0) }
    }

    package mutating func removeAll() {
        slots.removeAll(keepingCapacity: slots.capacity <= 64)
        head = 0
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
