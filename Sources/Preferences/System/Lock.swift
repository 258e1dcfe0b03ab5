internal import CPreferences
public import Synchronization

/// A lock of one word that a running thread can take at any time, over futex(2).
///
/// After Drepper, "Futexes Are Tricky", the third mutex. `Synchronization.Mutex` on Linux inherits priorities, and so the kernel hands it
/// over to a thread that sleeps: with more threads than processors, each use then costs a switch.
@usableFromInline
package struct LockWord: ~Copyable, Sendable {
    /// 0 is free, 1 is held, 2 is held while threads might sleep or have left something to the holder.
    @usableFromInline
    let word = Atomic<UInt32>(0)
    /// The process that made it: in a child of `fork`, the thread that has the lock might not exist.
    private let generation: Atomic<UInt32>

    @usableFromInline
    init() { generation = Atomic(preferences_generation()) }

    @inlinable
    borrowing func tryLock() -> Bool {
        word.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
    }

    @inlinable
    borrowing func lock() {
        if !tryLock() { lockSlowly() }
    }

    /// Returns whether another thread has marked the lock.
    @inlinable
    @discardableResult
    borrowing func unlock() -> Bool {
        guard word.exchange(0, ordering: .acquiringAndReleasing) == 2 else { return false }
        wakeOne()
        return true
    }

    /// Takes the lock, or marks it: then the holder's `unlock` returns true and sees what this thread wrote before.
    borrowing func lockOrMark() -> Bool { word.exchange(2, ordering: .acquiringAndReleasing) == 0 }

    @usableFromInline
    @inline(never)
    borrowing func lockSlowly() { _ = lockSlowly(until: .never) }

    /// Waits for a few microseconds, then sleeps; returns false if the deadline has passed.
    ///
    /// The pauses grow, so that the thread that has the lock uses it many times before another processor asks for its cache line again.
    borrowing func lockSlowly(until deadline: PreferenceDeadline) -> Bool {
        guard !deadline.isNow else { return tryLock() }
        var pauses = 64
        while pauses < 512 {
            for _ in 0..<pauses { preferences_relax() }
            if word.load(ordering: .relaxed) == 0, tryLock() { return true }
            pauses *= 2
        }
        while !lockOrMark() {
            if isOfParent { return true }
            let rest = deadline.rest
            guard rest != 0 else { return false }
            withUnsafePointer(to: word) { preferences_wait($0, 2, rest) }
        }
        return true
    }

    private var isOfParent: Bool { generation.load(ordering: .relaxed) != preferences_generation() }

    /// Makes it a lock of this process; only its holder may.
    borrowing func renew() { generation.store(preferences_generation(), ordering: .relaxed) }

    @usableFromInline
    @inline(never)
    borrowing func wakeOne() { withUnsafePointer(to: word) { preferences_wake($0) } }
}

/// A value that one thread at a time can use; never held while code of a caller runs.
///
/// It is stored in its owner, without an allocation, and isn't recursive.
@usableFromInline
package struct Lock<State: ~Copyable>: ~Copyable, @unchecked Sendable {  // `word` guards every use of `state`
    @usableFromInline
    let word = LockWord()
    // Gives a `let` a fixed address, as in `Synchronization.Mutex`.
    @usableFromInline
    let state: _Cell<State>

    /// Creates an unlocked lock around its first value.
    @inlinable
    package init(_ initial: consuming sending State) { state = _Cell(initial) }

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
}
