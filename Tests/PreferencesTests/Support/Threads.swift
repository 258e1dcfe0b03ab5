import FileTestSupport
import Foundation
import Testing

@testable import Preferences

/// Runs `body` on a number of threads, which begin at the same time, and returns when the last one has ended and released it.
///
/// Threads of their own: tasks would share as few threads as there are processors.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) async {
    let (arrived, ended) = (Counter(), Counter())
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        for thread in 0..<count {
            // Taken out to be run, so that no thread keeps what it uses, such as a store, while it comes to its end.
            let work = Lock([body])
            let isStarted = Pool.startThread {
                arrived.next()
                while arrived.value < count { pauseThread(for: .microseconds(1)) }
                work.withLock({ $0.popLast() })?(thread)
                if ended.next() == count { continuation.resume() }
            }
            #expect(isStarted)
        }
    }
}

/// Runs `body` on a new thread with a stack of that many bytes, and returns when it has ended.
func onThread(stackSize: Int, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let thread = Thread {
            body()
            continuation.resume()
        }
        thread.stackSize = stackSize
        thread.start()
    }
}
