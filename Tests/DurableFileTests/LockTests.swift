import DurableFile
import Testing

struct LockTests {
    @Test
    func heldLockIsNotAvailable() {
        let lock = Lock(1)
        let inner = lock.withLock { _ in lock.withLockIfAvailable { $0 } }
        #expect(inner == nil)
        #expect(lock.withLockIfAvailable { $0 } == 1)
    }
}
