import Synchronization

/// Counts from 1, on any thread.
package final class Counter: Sendable {
    private let count = Atomic(0)
    package init() {}

    package var value: Int { count.load(ordering: .acquiring) }

    @discardableResult
    package func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
