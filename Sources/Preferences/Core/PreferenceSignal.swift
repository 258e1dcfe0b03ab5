internal import CPreferences
public import Observation
internal import Synchronization

/// The observable state of one name of a store, tracked by Observation.
///
/// The time between two changes is an epoch, and a read registers with the key path of its epoch. So a change may be signalled twice, at once
/// and from the main actor, for a closure that runs there and installs its tracking when it returns: readers of the new value aren't
/// notified by the second one.
///
/// Not generic: a key path literal in generic code is built at each use, which costs a hundred times as much as this access.
@usableFromInline
package final class PreferenceSignal: Observable, Sendable {
    private let epoch = Atomic<Int>(0)
    /// Whether there was a read in this epoch; guarded by the publish lock, as `readEpochs` and `changesSinceRead`.
    private let isRead = Atomic<Bool>(false)
    private let readEpochs = Atomic<UInt8>(0)
    private let changesSinceRead = Atomic<UInt8>(2)
    /// The epochs to signal, as bits.
    private let pending = Atomic<UInt8>(0)
    /// The thread that signals: two could both call a tracking that ends with its first signal.
    private let sender = Atomic<UInt>(0)
    /// The epochs that the main actor is going to signal.
    private let waiting = Atomic<UInt8>(0)

    private var first: Void { () }
    private var second: Void { () }
    private var third: Void { () }
    private static let epochCount = 3

    private typealias EpochKeyPath = Unmanaged<KeyPath<PreferenceSignal, Void>>
    // Pointers to immortal key paths: counting references to them took half of a read.
    nonisolated(unsafe) private let keyPaths = PreferenceSignal.allKeyPaths
    nonisolated(unsafe) private static let allKeyPaths: UnsafePointer<EpochKeyPath> = {
        let keyPaths: [KeyPath<PreferenceSignal, Void>] = [\.first, \.second, \.third]
        let place = UnsafeMutablePointer<EpochKeyPath>.allocate(capacity: keyPaths.count)
        for (index, keyPath) in keyPaths.enumerated() { (place + index).initialize(to: .passRetained(keyPath)) }
        return UnsafePointer(place)
    }()

    // The last stored property: its size is known at run time only.
    private let registrar = ObservationRegistrar()

    init() {}

    /// Registers the name with the tracking closure that runs on this thread, if any.
    @usableFromInline
    func access() {
        keyPaths[epoch.load(ordering: .acquiring)]._withUnsafeGuaranteedRef { registrar.access(self, keyPath: $0) }
    }

    var currentEpoch: Int { epoch.load(ordering: .acquiring) }

    /// Notes a read; returns the epoch, with which the reader must have registered.
    func noteRead() -> Int {
        let current = epoch.load(ordering: .relaxed)
        if !isRead.load(ordering: .relaxed) {
            isRead.store(true, ordering: .relaxed)
            changesSinceRead.store(0, ordering: .relaxed)
            readEpochs.bitwiseOr(1 << UInt8(current), ordering: .relaxed)
        }
        return current
    }

    /// Ends the epoch after a change; returns the epochs to signal, as bits, now and once more from the main actor.
    ///
    /// A tracking may be installed long after the read, so each change signals to all epochs that had reads. The main actor does it once more
    /// for two changes, as a tracking on it is installed by then.
    func endEpoch() -> (now: UInt8, again: UInt8) {
        let epochs = readEpochs.load(ordering: .relaxed)
        let changes = changesSinceRead.load(ordering: .relaxed)
        guard changes < 2 else { return (epochs, 0) }
        changesSinceRead.store(changes + 1, ordering: .relaxed)
        if isRead.exchange(false, ordering: .relaxed) {
            epoch.store((epoch.load(ordering: .relaxed) + 1) % Self.epochCount, ordering: .releasing)
        }
        let again = epochs & ~(1 << UInt8(epoch.load(ordering: .relaxed)))
        return (epochs, again)
    }

    /// Whether a tracking might wait for the next change.
    var isTracked: Bool { changesSinceRead.load(ordering: .relaxed) < 2 }

    /// Whether two changes were signalled since the last read.
    var isSignalledTwice: Bool { changesSinceRead.load(ordering: .relaxed) == 2 }

    // MARK: Signalling

    /// The longest that a thread waits for another one that signals, in nanoseconds; then that one signals this thread's epochs, too.
    private static let patience: Int64 = 20_000_000

    /// Whether the main actor is yet to signal.
    package var isWaiting: Bool { waiting.load(ordering: .acquiring) != 0 }

    /// Notifies the readers of these epochs, now and once more from the main actor.
    func send(_ epochs: (now: UInt8, again: UInt8), on pool: Pool) {
        sendNow(epochs.now)
        if epochs.again == 0 { return }
        guard waiting.bitwiseOr(epochs.again, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        let isolation = PreferenceIsolation.current
        pool.run { self.sendFromMainActor(pool, isolation) }
    }

    /// Starts the task on a thread of the pool, and only if a descriptor is left: at its first task, libdispatch ends a process that has none.
    private func sendFromMainActor(_ pool: Pool, _ isolation: PreferenceIsolation) {
        guard Descriptors.areLeft else {
            return pool.run(after: 1_000_000_000) { self.sendFromMainActor(pool, isolation) }
        }
        Task.detached { @MainActor in
            let epochs = self.waiting.exchange(0, ordering: .acquiringAndReleasing)
            // The readers see the stores of the setter.
            isolation.run { self.sendNow(epochs) }
        }
    }

    private func sendNow(_ epochs: UInt8) {
        pending.bitwiseOr(epochs, ordering: .sequentiallyConsistent)
        let thread = preferences_thread()
        repeat {
            let other = sender.compareExchange(expected: 0, desired: thread, ordering: .sequentiallyConsistent)
            guard other.exchanged else {
                // This thread signals further up the stack, and goes on there; for another one it waits, but not for its readers' code.
                if other.original == thread || !waitForSender() { return }
                continue
            }
            while case let sent = pending.exchange(0, ordering: .acquiringAndReleasing), sent != 0 { signal(sent) }
            sender.store(0, ordering: .sequentiallyConsistent)
        } while pending.load(ordering: .sequentiallyConsistent) != 0
    }

    private func signal(_ epochs: UInt8) {
        for epoch in 0..<Self.epochCount where epochs & 1 << UInt8(epoch) != 0 {
            keyPaths[epoch]._withUnsafeGuaranteedRef { keyPath in
                registrar.willSet(self, keyPath: keyPath)
                registrar.didSet(self, keyPath: keyPath)
            }
        }
    }

    /// Waits until no thread signals; returns false if that takes too long.
    private func waitForSender() -> Bool {
        let start = preferences_now()
        var pauses = 0
        while case let other = sender.load(ordering: .acquiring), other != 0 {
            if preferences_now() - start > Self.patience { return false }
            pauses += 1
            if pauses < 16 {
                for _ in 0..<64 { preferences_relax() }
            } else {
                withUnsafePointer(to: sender) { preferences_wait($0, UInt32(truncatingIfNeeded: other), 100_000) }
            }
        }
        return true
    }
}
