internal import CDurableFile

/// A lock on which a thread can wait until another one signals a change of the state.
package final class Condition<State>: @unchecked Sendable {  // every use of `state` is between lock and unlock
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State
    private var forks = durable_file_fork_count()

    package init(_ initial: State) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        durable_file_condition_init(condition)
        state = initial
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock()
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Updates the state and wakes all waiting threads.
    package func signal<Result>(_ body: (inout State) -> Result) -> Result {
        // After the unlock, as a woken thread would otherwise wait for the lock at once.
        defer { pthread_cond_broadcast(condition) }
        return withLock(body)
    }

    /// Waits until `body` returns a result; calls it at once, after each `signal` and when the time that it returned is
    /// over.
    package func wait<Result>(_ body: (inout State) -> Wait<Result>) -> Result {
        lock()
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result): return result
            case .until(let duration?): wait(atMost: duration)
            case .until(nil): pthread_cond_wait(condition, mutex)
            }
        }
    }

    private func lock() {
        let current = durable_file_fork_count()
        if forks != current {
            // A child of `fork` doesn't have the threads that hold the lock or wait for it, and would wait for them for
            // ever. The child's first call is on its only thread.
            reset()
        }
        pthread_mutex_lock(mutex)
    }

    private func reset() {
        forks = durable_file_fork_count()
        pthread_mutex_init(mutex, nil)
        durable_file_condition_init(condition)
    }

    // MARK: Forking

    /// Takes the lock unless another thread has it, and returns whether it did; `release(inChild:)` must follow.
    func take() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    /// Releases the lock after a `fork`, and wakes all waiting threads; in the child there are none, and no other thread has the lock.
    func release(inChild: Bool) {
        if inChild {
            reset()
        } else {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(condition)
        }
    }

    package enum Wait<Result> {
        case done(Result)
        /// Wait at most this long; for ever if nil.
        case until(Duration?)
    }

    private func wait(atMost duration: Duration) {
        let (seconds, attoseconds) = duration.components
        durable_file_condition_wait(condition, mutex, max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
