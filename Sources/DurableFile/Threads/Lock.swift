#if !PTHREAD_LOCK
public import Synchronization

/// A value that one thread at a time may use; the only lock of the package.
///
/// Not recursive. Never held while code of a caller runs.
@usableFromInline
package struct Lock<State: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<State>

    /// Makes an unlocked lock around its first value.
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

    /// As `withLock`, or nil at once where another thread holds the lock.
    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable(body)
    }
}
#endif
