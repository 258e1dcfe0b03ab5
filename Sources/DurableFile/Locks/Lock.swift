public import Synchronization

/// A value that one thread at a time can use.
///
/// It is stored in its owner, without an allocation. It isn't recursive, and is never held while code of a caller runs.
@usableFromInline
package struct Lock<State: ~Copyable>: ~Copyable, @unchecked Sendable {  // `word` guards every use of `state`
    @usableFromInline
    let word = LockWord()
    // Gives a `let` a fixed address, as in `Synchronization.Mutex`.
    @usableFromInline
    let state: _Cell<State>

    /// Creates an unlocked lock around its first value.
    @inlinable
    package init(_ initial: consuming sending State) {
        state = _Cell(initial)
    }

    /// Runs `body` with the value while no other thread can.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        word.lock()
        defer { word.unlock() }
        // A variable of its own: the thread sanitizer takes `&state._address.pointee` for an access to the whole lock.
        let place = state._address
        return try body(&place.pointee)
    }

    /// Runs `body` as `withLock` does, or returns nil at once if another thread holds the lock.
    @inlinable
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard word.tryLock() else { return nil }
        defer { word.unlock() }
        let place = state._address
        return try body(&place.pointee)
    }

    // MARK: Forking

    /// Takes the lock unless another thread has it, and returns whether it did; `release(inChild:)` must follow.
    package borrowing func take() -> Bool { word.tryLock() }

    /// Releases the lock after a `fork`; in the child, which has none of the parent's threads, whichever thread had it.
    package borrowing func release(inChild: Bool) {
        if inChild { word.reset() } else { word.unlock() }
    }

    /// Replaces the value in a child of `fork`, where a thread of the parent might have been changing it. The old value is never
    /// released.
    package borrowing func reset(to value: consuming sending State) {
        word.reset()
        state._address.initialize(to: value)
    }
}
