#if canImport(Darwin)
public import Darwin
public import Synchronization

/// The system's lock of one word, whose waiters lend their priority to its owner (os_unfair_lock(3)).
@usableFromInline
struct LockWord: ~Copyable {
    @usableFromInline
    let word: _Cell<os_unfair_lock>

    @inlinable
    init() { word = _Cell(os_unfair_lock()) }

    @inlinable
    borrowing func lock() { os_unfair_lock_lock(word._address) }

    @inlinable
    borrowing func tryLock() -> Bool { os_unfair_lock_trylock(word._address) }

    @inlinable
    borrowing func unlock() { os_unfair_lock_unlock(word._address) }

    /// Makes the lock free in a child of `fork`, which isn't the thread that the lock knows.
    borrowing func reset() { word._address.initialize(to: os_unfair_lock()) }
}
#endif

#if !canImport(Darwin)
internal import CDurableFile
public import Synchronization

/// A lock of one word that a running thread can take at any time, over futex(2).
///
/// After Drepper, "Futexes Are Tricky", the third mutex. `Synchronization.Mutex` on Linux inherits priorities, and so
/// the kernel hands it over to a thread that sleeps: with more threads than processors, each use then costs a switch.
@usableFromInline
struct LockWord: ~Copyable {
    /// 0 is free, 1 is held, 2 is held while threads might sleep.
    // Not a cell of an `Atomic`, which would look up its type among all in the process when the first lock is destroyed.
    @usableFromInline
    let cell = _Cell<UInt32>(0)

    @inlinable
    init() {}

    @inlinable
    var word: UnsafeMutablePointer<Atomic<UInt32>> {
        UnsafeMutableRawPointer(cell._address).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    @inlinable
    borrowing func lock() {
        if !tryLock() { lockSlowly() }
    }

    @inlinable
    borrowing func tryLock() -> Bool {
        word.pointee.compareExchange(
            expected: 0,
            desired: 1,
            successOrdering: .acquiring,
            failureOrdering: .relaxed
        ).exchanged
    }

    @inlinable
    borrowing func unlock() {
        if word.pointee.exchange(0, ordering: .releasing) == 2 { wakeOne() }
    }

    /// Makes the lock free in a child of `fork`, where no other thread has it or waits for it.
    borrowing func reset() { word.pointee.store(0, ordering: .releasing) }

    /// Waits for a few microseconds, then sleeps.
    ///
    /// The pauses grow, so that the thread that has the lock uses it many times before another processor asks for its
    /// cache line again. With shorter ones, eight threads on two processors read a text half as often.
    @usableFromInline
    @inline(never)
    borrowing func lockSlowly() {
        var pauses = 64
        while pauses < 512 {
            for _ in 0..<pauses { durable_file_relax() }
            if word.pointee.load(ordering: .relaxed) == 0, tryLock() { return }
            pauses *= 2
        }
        while word.pointee.exchange(2, ordering: .acquiring) != 0 {
            durable_file_futex_wait(word, 2)
        }
    }

    @usableFromInline
    @inline(never)
    borrowing func wakeOne() {
        durable_file_futex_wake(word)
    }
}
#endif
