import DurableFile
import FileTestSupport
import TestSupport
import Testing

struct LockTests {
    @Test
    func heldLockIsNotAvailable() {
        let lock = Lock(1)
        let inner = lock.withLock { _ in lock.withLockIfAvailable { $0 } }
        same(inner, nil)
        same(lock.withLockIfAvailable { $0 }, 1)
    }

    /// More threads than most machines have processors: some are interrupted while they hold the lock, others sleep.
    @Test
    func eachUseByManyThreadsCountsOnce() async {
        let (threads, uses) = (16, 20_000)
        let sum = Lock(0)
        let tries = Lock((done: 0, refused: 0))
        let ended = Counter()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            for _ in 0..<threads {
                let isStarted = WorkerQueue.startThread("test") {
                    for _ in 0..<uses {
                        sum.withLock { $0 += 1 }
                        if tries.withLockIfAvailable({ $0.done += 1 }) == nil { tries.withLock { $0.refused += 1 } }
                    }
                    if ended.next() == threads { continuation.resume() }
                }
                #expect(isStarted)
            }
        }
        same(sum.withLock { $0 }, threads * uses)
        same(tries.withLock { $0.done + $0.refused }, threads * uses)
    }
}
