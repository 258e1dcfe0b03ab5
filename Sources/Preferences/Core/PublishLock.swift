internal import Synchronization

/// The lock of all names, cells, tables, subscriptions and queues of a connected set of sources: those that some store shows together. It is
/// a leaf: held for a few hundred instructions, never while code of a caller runs, and nothing waits under it. A `fork` holds all of them,
/// so that a child can still read.
///
/// Each source has one. When a store connects two sets, the lock of one set leads to the other's from then on; sets never separate.
final class PublishLock: @unchecked Sendable {  // the process's lock guards `successor` and `rank`
    /// In memory that is not counted, so that a thread follows the locks, and `fork` the list, without becoming an owner.
    private struct Place: ~Copyable {
        let word = LockWord()
        /// The one that is used instead; set once, while the process's lock and those of both are held.
        let successor = Atomic<UnsafeMutablePointer<Place>?>(nil)
        // The list of all, guarded by the process's lock.
        var next: UnsafeMutablePointer<Place>?
        var previous: UnsafeMutablePointer<Place>?
    }

    private let place = UnsafeMutablePointer<Place>.allocate(capacity: 1)
    /// Keeps the place that is used instead.
    private var successor: PublishLock?
    /// At most the logarithm of the number of sources that have led here, and at least the number of steps from any of them.
    private var rank = 0

    nonisolated(unsafe) private static var first: UnsafeMutablePointer<Place>?

    init() {
        place.initialize(to: Place())
        Process.lock.withLock { _ in
            place.pointee.next = Self.first
            Self.first?.pointee.previous = place
            Self.first = place
        }
    }

    deinit {
        Process.lock.withLock { _ in
            let (next, previous) = (place.pointee.next, place.pointee.previous)
            next?.pointee.previous = previous
            if let previous { previous.pointee.next = next } else { Self.first = next }
        }
        place.deinitialize(count: 1)
        place.deallocate()
    }

    /// Runs `body` under the lock of the set; the caller has a source of it, or a store.
    @inline(__always)
    func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let held = lock()
        defer { held.pointee.word.unlock() }
        return try body()
    }

    @inline(__always)
    private func lock() -> UnsafeMutablePointer<Place> {
        var used = place
        while true {
            while let successor = used.pointee.successor.load(ordering: .acquiring) { used = successor }
            used.pointee.word.lock()
            // The set might have been merged since.
            if used.pointee.successor.load(ordering: .relaxed) == nil { return used }
            used.pointee.word.unlock()
        }
    }

    /// Makes the sets of two locks one.
    func connect(_ other: PublishLock) {
        Process.lock.withLock { _ in
            var (large, small) = (last, other.last)
            guard large !== small else { return }
            if large.rank < small.rank { (large, small) = (small, large) }
            if large.rank == small.rank { large.rank += 1 }
            // Only who has the process's lock takes two.
            large.place.pointee.word.lock()
            small.place.pointee.word.lock()
            small.successor = large
            small.place.pointee.successor.store(large.place, ordering: .releasing)
            small.place.pointee.word.unlock()
            large.place.pointee.word.unlock()
        }
    }

    /// The lock of the set; call under the process's lock.
    private var last: PublishLock {
        var used = self
        while let successor = used.successor { used = successor }
        return used
    }

    // MARK: fork

    /// Takes the process's lock, then those of all sets in the order of the list.
    static func lockAll() {
        Process.lock.word.lock()
        forEachUsed { $0.lock() }
    }

    /// Gives them back, as locks of the process that calls.
    static func unlockAll() {
        func leave(_ word: borrowing LockWord) {
            word.renew()
            word.unlock()
        }
        forEachUsed(leave)
        leave(Process.lock.word)
    }

    private static func forEachUsed(_ body: (borrowing LockWord) -> Void) {
        var next = first
        while let place = next {
            if place.pointee.successor.load(ordering: .relaxed) == nil { body(place.pointee.word) }
            next = place.pointee.next
        }
    }
}
