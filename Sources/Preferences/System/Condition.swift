internal import CPreferences
internal import Synchronization

/// A value under a lock, for whose changes threads wait.
package final class Condition<State>: @unchecked Sendable {  // `lock` guards `state`
    private let lock = LockWord()
    private var state: State
    /// Counts the changes; the threads sleep on it.
    private let changes = Atomic<UInt32>(0)

    package init(_ initial: State) { state = initial }

    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// Changes the value and wakes all threads that wait.
    package func signal<Result>(_ body: (inout State) -> Result) -> Result {
        defer {
            changes.wrappingAdd(1, ordering: .releasing)
            withUnsafePointer(to: changes) { preferences_wake_all($0) }
        }
        return withLock(body)
    }

    package enum Wait<Result> {
        case done(Result)
        /// Wait at most this long; for ever if nil.
        case until(Duration?)
    }

    /// Waits until `body` returns a result; calls it at once, after each `signal`, and when the time that it returned is over.
    package func wait<Result>(_ body: (inout State) -> Wait<Result>) -> Result {
        while true {
            let seen = changes.load(ordering: .acquiring)
            switch withLock(body) {
            case .done(let result): return result
            case .until(let limit):
                withUnsafePointer(to: changes) {
                    preferences_wait($0, seen, limit.map { max(0, $0.nanoseconds) } ?? -1)
                }
            }
        }
    }
}
