import TestSupport
import Testing

@testable import Preferences

/// The order of deliveries, without threads and time.
struct DeliveryQueueTests {
    private let first = ThreadIdentity(value: 1)
    private let second = ThreadIdentity(value: 2)

    private func batch(_ sequence: UInt64) -> ChangeBatch {
        ChangeBatch(sequence: sequence, origin: .local)
    }

    private func claim(_ queue: inout DeliveryQueue, by thread: ThreadIdentity) -> Bool {
        queue.claim(by: thread)
    }

    private func deliver(_ queue: inout DeliveryQueue, isOwnThread: Bool = false) -> UInt64? {
        guard case .deliver(let batch, _) = queue.next(isOwnThread: isOwnThread) else { return nil }
        return batch.sequence
    }

    @Test
    func batchesAreDeliveredInTheirOrder() {
        var queue = DeliveryQueue()
        queue.enqueue(batch(1), setBy: first)
        queue.enqueue(batch(2), setBy: second)
        #expect(claim(&queue, by: first))
        same(deliver(&queue), 1)
        same(deliver(&queue), 2)
        same(deliver(&queue), nil)
    }

    @Test
    func oneThreadAtATimeDelivers() {
        var queue = DeliveryQueue()
        queue.enqueue(batch(1), setBy: first)
        #expect(claim(&queue, by: first))
        queue.enqueue(batch(2), setBy: second)
        #expect(!claim(&queue, by: second))
        #expect(!claim(&queue, by: first), "nor does the deliverer begin again further up its stack")
        same(deliver(&queue), 1)
        same(deliver(&queue), 2)
        same(deliver(&queue), nil)
        queue.enqueue(batch(3), setBy: second)
        #expect(claim(&queue, by: second))
    }

    @Test
    func nothingToDeliverIsNotClaimed() {
        var queue = DeliveryQueue()
        #expect(!claim(&queue, by: first))
    }

    @Test
    func delivererHandsOverAfterItsShareOfForeignBatches() {
        var queue = DeliveryQueue()
        queue.enqueue(batch(0), setBy: first)
        #expect(claim(&queue, by: first))
        for sequence in 1...100 { queue.enqueue(batch(UInt64(sequence)), setBy: second) }
        for sequence in 0...UInt64(DeliveryQueue.foreignLimit) { same(deliver(&queue), sequence) }
        guard case .handOver = queue.next() else {
            Issue.record("the deliverer goes on for ever")
            return
        }
        #expect(!claim(&queue, by: second), "the rest is promised to the store's own thread")
        queue.resume(on: ThreadIdentity(value: 3))
        for sequence in UInt64(DeliveryQueue.foreignLimit + 1)...100 {
            same(deliver(&queue, isOwnThread: true), sequence)
        }
        same(deliver(&queue, isOwnThread: true), nil)
    }

    @Test
    func batchIsDeliveredWithItsDepth() {
        var queue = DeliveryQueue()
        queue.enqueue(batch(0), setBy: first)
        queue.enqueue(batch(1), setBy: second, depth: 7)
        #expect(claim(&queue, by: first))
        for expected in [0, 7] {
            guard case .deliver(_, let depth) = queue.next() else {
                Issue.record("nothing waits")
                return
            }
            same(depth, expected)
        }
    }
}
