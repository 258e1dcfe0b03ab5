internal import DurableFile
public import Observation
internal import Synchronization

/// The observable state of one name of a store, tracked by Observation.
///
/// Not generic: a key path literal in generic code is built at each use, which costs a hundred times as much as this access.
@usableFromInline
package final class PreferenceSignal: Observable, Sendable {
    /// The time between two changes is an epoch. A read registers with the key path of its epoch, so that a signal that is sent
    /// twice reaches only readers of the old value.
    private let epoch = Atomic<Int>(0)
    /// Whether there was a read since the epoch began; otherwise the epoch need not end.
    private let isRead = Atomic<Bool>(false)
    /// The number of changes since the last read, up to two.
    private let changesSinceRead = Atomic<UInt8>(2)
    /// The epochs with any read so far, as bits: only in these can a tracking closure be registered.
    private let readEpochs = Atomic<UInt8>(0)
    /// The epochs that ended by changes that were not signalled so far, as bits: each is being compared, or didn't alter what was read.
    private let unsentEpochs = Atomic<UInt8>(0)
    /// Whether there may be readers whom no reading of a cell stands for.
    private let hasOtherReaders = Atomic<Bool>(false)
    /// The epochs whose signals the main actor is going to send, as bits.
    private let waitingEpochs = Atomic<UInt8>(0)
    /// The epochs whose signals are pending, as bits, and a bit that is set while a thread is sending them.
    private let pendingEpochs = Atomic<UInt8>(0)
    private static let isSending: UInt8 = 1 << 7

    // Epochs use these in turn. If more changes than that come while the main actor is busy, some readers of the new value are
    // notified once too often.
    private var first: Void { () }
    private var second: Void { () }
    private var third: Void { () }
    private static let epochCount = 3

    private typealias EpochKeyPath = Unmanaged<KeyPath<PreferenceSignal, Void>>
    // Created once, never freed, and held as a pointer: counting references to the key paths and checking each time whether
    // they exist took half of a read. Key paths are immutable, although not marked `Sendable`.
    nonisolated(unsafe) private let keyPaths = PreferenceSignal.allKeyPaths
    nonisolated(unsafe) private static let allKeyPaths: UnsafePointer<EpochKeyPath> = {
        let keyPaths: [KeyPath<PreferenceSignal, Void>] = [\.first, \.second, \.third]
        let place = UnsafeMutablePointer<EpochKeyPath>.allocate(capacity: keyPaths.count)
        for (index, keyPath) in keyPaths.enumerated() { (place + index).initialize(to: .passRetained(keyPath)) }
        return UnsafePointer(place)
    }()

    // The last stored property: its size is known at run time only, and so are the offsets of all properties after it.
    private let registrar = ObservationRegistrar()

    init() {}

    /// Registers the name with the tracking closure that runs on this thread, if any.
    @usableFromInline
    func access() {
        keyPaths[epoch.load(ordering: .acquiring)]._withUnsafeGuaranteedRef { registrar.access(self, keyPath: $0) }
    }

    /// The epoch that a read registers with.
    var currentEpoch: Int { epoch.load(ordering: .acquiring) }

    /// Records a read and returns the epoch; call under the store's lock.
    ///
    /// - Parameter isOfValue: Whether only the value is read, in a cell that has a reading, so that changes which don't alter it need no signal.
    func noteRead(isOfValue: Bool) -> Int {
        if !isOfValue { noteOtherReaders() }
        let current = epoch.load(ordering: .relaxed)
        if !isRead.load(ordering: .relaxed) {
            isRead.store(true, ordering: .relaxed)
            changesSinceRead.store(0, ordering: .relaxed)
            readEpochs.bitwiseOr(1 << UInt8(current), ordering: .relaxed)
        }
        return current
    }

    /// Records that there are readers whom no reading of a cell stands for, so that the next change is signalled in any case.
    func noteOtherReaders() { hasOtherReaders.store(true, ordering: .sequentiallyConsistent) }

    /// Returns whether there are such readers; the caller signals the change.
    func takeOtherReaders() -> Bool { hasOtherReaders.exchange(false, ordering: .sequentiallyConsistent) }

    /// Whether readers wait for a signal, as a change was not signalled.
    private var hasWaitingReaders: Bool { unsentEpochs.load(ordering: .relaxed) != 0 }

    /// Whether a change may have to be signalled that doesn't alter the strongest stored value: readers wait, who therefore don't record
    /// which value they would use, or have read something else than the value.
    var mayNeedChangesBelow: Bool { hasWaitingReaders || hasOtherReaders.load(ordering: .sequentiallyConsistent) }

    /// Whether all readers were notified of a later change, or will never be.
    var hasNotifiedReaders: Bool { changesSinceRead.load(ordering: .relaxed) == 2 && !hasWaitingReaders }

    /// Whether there may be readers to notify of changes.
    var isEverRead: Bool { readEpochs.load(ordering: .relaxed) != 0 }

    /// Ends the epoch of the readers of the old value, if it had reads, and returns the epochs that the change is to be signalled to, as bits.
    ///
    /// Call under the store's lock, after the new value became readable.
    func endEpoch() -> UInt8 {
        if changesSinceRead.load(ordering: .relaxed) < 2 { changesSinceRead.wrappingAdd(1, ordering: .relaxed) }
        if isRead.load(ordering: .relaxed) {
            isRead.store(false, ordering: .relaxed)
            let ended = epoch.load(ordering: .relaxed)
            epoch.store((ended + 1) % Self.epochCount, ordering: .releasing)
            unsentEpochs.bitwiseOr(1 << UInt8(ended), ordering: .relaxed)
        }
        return unsentEpochs.load(ordering: .relaxed)
    }

    /// Records that the epochs are signalled.
    fileprivate func noteSent(_ epochs: UInt8) { unsentEpochs.bitwiseAnd(~epochs, ordering: .relaxed) }

    /// Records that a change isn't signalled to the epochs, whose readers wait for the next one.
    fileprivate func noteUnsent(_ epochs: UInt8) {
        unsentEpochs.bitwiseOr(epochs, ordering: .relaxed)
        changesSinceRead.store(0, ordering: .relaxed)
    }

    /// Notifies all readers, including those whose tracking was installed after the change that ended their epoch.
    package func send() {
        send(readEpochs.load(ordering: .relaxed))
    }

    /// Notifies the readers of these epochs.
    ///
    /// Only one thread sends at a time: two could both find a tracking that ends with its first signal, and call it twice. A
    /// thread that finds another one sending, or itself further up the stack, leaves its epochs to that one.
    fileprivate func send(_ epochs: UInt8) {
        let before = pendingEpochs.bitwiseOr(epochs | Self.isSending, ordering: .acquiringAndReleasing).oldValue
        guard before & Self.isSending == 0 else { return }
        repeat {
            let pending = pendingEpochs.exchange(Self.isSending, ordering: .acquiringAndReleasing)
            for epoch in 0..<Self.epochCount where pending & 1 << UInt8(epoch) != 0 {
                keyPaths[epoch]._withUnsafeGuaranteedRef { keyPath in
                    registrar.willSet(self, keyPath: keyPath)
                    registrar.didSet(self, keyPath: keyPath)
                }
            }
        } while !pendingEpochs.compareExchange(
            expected: Self.isSending,
            desired: 0,
            ordering: .acquiringAndReleasing
        ).exchanged
    }
}

/// The signals of a change, to be sent without a lock.
struct PreferenceSignals: Sendable {
    private var ended = ShortList<EndedEpoch>()

    fileprivate struct EndedEpoch {
        let signal: PreferenceSignal
        /// The ended epochs, as bits; none if there were no reads. Then only a tracking of an earlier epoch that was installed late is
        /// notified.
        let epochs: UInt8
        /// The readings of the name's cells; kept until the signal is sent, because they must be released without a lock.
        var readings = ShortList<CellReading>()
        /// The change that is compared with what was read, unless it is signalled in any case.
        var change: ComparedChange?

        /// Returns whether the change is to be signalled; otherwise the readers wait on.
        func isShown() -> Bool {
            guard let entry = change?.entry, readings.firstResult({ $0.isChanged(entry) ? true : nil }) == nil else {
                return true
            }
            signal.noteUnsent(epochs)
            return false
        }
    }

    // A class, as most changes need none, and `nil` is copied for little.
    fileprivate final class ComparedChange: Sendable {
        let entry: ChangeEntry

        init(_ entry: ChangeEntry) { self.entry = entry }
    }

    /// Ends the epoch of a name's readers, to whom a change is signalled unless it shows them the same as before.
    ///
    /// - Parameters:
    ///   - plain: Returns the change of the stored value, if there is only one layer.
    ///   - entry: Returns the change of the values of all layers.
    mutating func endEpoch(of node: PreferenceNode, _ plain: () -> ValueChange?, _ entry: () -> ChangeEntry) {
        var end = EndedEpoch(signal: node.signal, epochs: node.signal.endEpoch())
        defer { ended.append(end) }
        guard end.epochs != 0 else { return }
        let plain = plain()
        let change = plain == nil ? entry() : nil
        let (old, new) = (change?.old.first?.value ?? plain?.old, change?.new.first?.value ?? plain?.new)
        let (readings, isSignalled) = node.readings(from: old, to: new)
        end.readings = readings
        if !isSignalled { end.change = ComparedChange(change ?? entry()) }
    }

    /// Ends the epoch of a name's readers, to whom a signal is sent in any case.
    mutating func endEpoch(of node: PreferenceNode) {
        ended.append(EndedEpoch(signal: node.signal, epochs: node.signal.endEpoch()))
    }

    /// Notifies the readers of the old values, now and again from the main actor; those to whom the same is shown as before wait on.
    ///
    /// A tracking closure that is running on the main actor and has read an old value installs its tracking only when it
    /// returns, so it would miss the first signal. The caller may be such a closure.
    func send() {
        let shown = ended.filter { $0.isShown() }
        shown.forEach { $0.signal.noteSent($0.epochs) }
        shown.forEach { $0.signal.send() }
        guard shown.firstResult({ $0.epochs == 0 ? nil : $0.epochs }) != nil else { return }
        PreferenceSignal.sendFromMainActor(shown)
    }
}

extension PreferenceSignal {
    /// The signals that the main actor is going to send, each only once however long the main actor is busy.
    ///
    /// Each has the isolation of the setter that added it, so that the notified readers see that setter's stores and not those
    /// of the setter that started the task.
    private static let waiting = Lock<[(signal: PreferenceSignal, isolation: PreferenceIsolation)]>([])

    static func take() -> Bool { waiting.take() }
    static func release(inChild: Bool) { waiting.release(inChild: inChild) }

    fileprivate static func sendFromMainActor(_ ended: ShortList<PreferenceSignals.EndedEpoch>) {
        let isolation = PreferenceIsolation.current
        let isFirst = waiting.withLock { waiting in
            let isFirst = waiting.isEmpty
            ended.forEach { ended in
                guard ended.epochs != 0 else { return }
                let before = ended.signal.waitingEpochs.bitwiseOr(ended.epochs, ordering: .acquiringAndReleasing)
                    .oldValue
                if before == 0 { waiting.append((ended.signal, isolation)) }
            }
            return isFirst && !waiting.isEmpty
        }
        guard isFirst else { return }
        Task.detached { @MainActor in
            let waiting = waiting.withLock { exchange(&$0, with: []) }
            for (signal, isolation) in waiting {
                let epochs = signal.waitingEpochs.exchange(0, ordering: .acquiringAndReleasing)
                isolation.run { signal.send(epochs) }
            }
        }
    }
}
