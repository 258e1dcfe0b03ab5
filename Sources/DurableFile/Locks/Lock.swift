#if !PTHREAD_LOCK
public import Synchronization

/// A value that one thread at a time can use, behind a mutex.
///
/// It is not recursive. It is never held while code of a caller runs.
@usableFromInline
package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<State>

    /// Creates an unlocked lock around its first value.
    @inlinable
    package init(_ initial: consuming sending State) {
        mutex = Mutex(initial)
    }

    /// Runs `body` with the value while no other thread can.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }

    /// Runs `body` as `withLock` does, or returns nil at once if another thread holds the lock.
    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable(body)
    }
}
#endif

// The thread sanitizer knows pthread locks but not the futex behind `Synchronization.Mutex` on Linux, and reports false
// races; its runs build with `-Xswiftc -DPTHREAD_LOCK`.
#if PTHREAD_LOCK
/// A value that one thread at a time can use; the variant for runs under the thread sanitizer.
@usableFromInline
package struct Lock<State: ~Copyable>: ~Copyable, @unchecked Sendable {  // guarded by `mutex`
    @usableFromInline
    let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline
    let state: UnsafeMutablePointer<State>

    @inlinable
    package init(_ initial: consuming sending State) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        state = .allocate(capacity: 1)
        state.initialize(to: initial)
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }

    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
}
#endif
