import DurableFile

/// Counts from 1, on any thread.
package final class Counter: Sendable {
    private let count = Lock(0)
    package init() {}

    package var value: Int { count.withLock { $0 } }

    @discardableResult
    package func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
