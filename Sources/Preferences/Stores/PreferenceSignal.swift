internal import DurableFile
public import Observation
internal import Synchronization

/// What Observation tracks for one name of a store.
///
/// Not generic: a key path literal in generic code is built anew at each use, which costs a hundred times this access.
@usableFromInline
final class PreferenceSignal: Observable, Sendable {
    /// Between two changes is an epoch; a read registers with the key path of its own, so that a signal that is sent
    /// once more reaches only those who read the old value.
    private let epoch = Atomic<Int>(0)
    /// Whether anybody read since the epoch began; else it need not end.
    private let isRead = Atomic<Bool>(false)
    /// How many changes came since, up to two.
    private let changesSinceRead = Atomic<UInt8>(2)
    /// The epochs in which anybody ever read, as bits: only these can have trackings.
    private let readEpochs = Atomic<UInt8>(0)
    /// The epochs whose signals the main actor will send, as bits.
    private let waitingEpochs = Atomic<UInt8>(0)
    /// The epochs whose signals are to be sent by the thread that sends just now, and a bit that says that one does.
    private let pendingEpochs = Atomic<UInt8>(0)
    private static let isSending: UInt8 = 1 << 7

    // Epochs take turns with these. Where the main actor is kept busy by more changes than that, some who read the new
    // value are told of it once too often.
    private var first: Void { () }
    private var second: Void { () }
    private var third: Void { () }
    private static let epochCount = 3

    private typealias EpochKeyPath = Unmanaged<KeyPath<PreferenceSignal, Void>>
    // Made once and never freed, and held here as a pointer: counting references to the key paths, and asking each time
    // whether they are made, took half of a read. They are immutable, if not marked Sendable.
    nonisolated(unsafe) private let keyPaths = PreferenceSignal.allKeyPaths
    nonisolated(unsafe) private static let allKeyPaths: UnsafePointer<EpochKeyPath> = {
        let keyPaths: [KeyPath<PreferenceSignal, Void>] = [\.first, \.second, \.third]
        let place = UnsafeMutablePointer<EpochKeyPath>.allocate(capacity: keyPaths.count)
        for (index, keyPath) in keyPaths.enumerated() { (place + index).initialize(to: .passRetained(keyPath)) }
        return UnsafePointer(place)
    }()

    // The last, as its size is known at run time only, and so are the places of what follows.
    private let registrar = ObservationRegistrar()

    init() {}

    /// Registers the name with the tracking closure that runs on this thread, if any.
    @usableFromInline
    func access() {
        keyPaths[epoch.load(ordering: .acquiring)]._withUnsafeGuaranteedRef { registrar.access(self, keyPath: $0) }
    }

    /// The epoch that a read registers with just now.
    var currentEpoch: Int { epoch.load(ordering: .acquiring) }

    /// Notes that a value is being read, and returns its epoch; call under the store's lock.
    func noteRead() -> Int {
        let current = epoch.load(ordering: .relaxed)
        if !isRead.load(ordering: .relaxed) {
            isRead.store(true, ordering: .relaxed)
            changesSinceRead.store(0, ordering: .relaxed)
            readEpochs.bitwiseOr(1 << UInt8(current), ordering: .relaxed)
        }
        return current
    }

    /// Whether whoever read was told of a change after that, or never will be.
    var isForgotten: Bool { changesSinceRead.load(ordering: .relaxed) == 2 }

    /// Whether anybody may have to be told of changes.
    var isEverRead: Bool { readEpochs.load(ordering: .relaxed) != 0 }

    /// Ends the epoch of those who read the old value, and returns it; nil where nobody did.
    ///
    /// Call under the store's lock once the new value is readable.
    func endEpoch() -> Int? {
        if changesSinceRead.load(ordering: .relaxed) < 2 { changesSinceRead.wrappingAdd(1, ordering: .relaxed) }
        guard isRead.load(ordering: .relaxed) else { return nil }
        isRead.store(false, ordering: .relaxed)
        let ended = epoch.load(ordering: .relaxed)
        epoch.store((ended + 1) % Self.epochCount, ordering: .releasing)
        return ended
    }

    /// Tells all who read, also those whose tracking was installed too late for the change that ended their epoch.
    func send() {
        send(readEpochs.load(ordering: .relaxed))
    }

    /// Tells those who read in these epochs.
    ///
    /// One thread at a time: two would both find a tracking that ends with its first signal, and call it twice. One
    /// that finds another sending, or itself further up its stack, leaves the rest to that one.
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
        /// Nil where nobody had read in it: then only a tracking of an earlier epoch, installed late, is told.
        let epoch: Int?
    }

    mutating func endEpoch(of signal: PreferenceSignal) {
        ended.append(EndedEpoch(signal: signal, epoch: signal.endEpoch()))
    }

    /// Tells those who read the old values, and again from the main actor if the caller isn't on it.
    ///
    /// A tracking closure that runs on the main actor just now, and read an old value, installs its tracking only when
    /// it ends: the first signal would be lost on it.
    func send() {
        ended.forEach { $0.signal.send() }
        guard ended.firstResult({ $0.epoch }) != nil, !ThreadIdentity.isOnMainActor else { return }
        PreferenceSignal.sendFromMainActor(ended)
    }
}

extension PreferenceSignal {
    /// Signals that the main actor will send; each once, however long it is kept busy.
    ///
    /// With the stores that the setter saw: those who are told read with these, not with the ones of whoever came
    /// first.
    private static let waiting = Lock<[(signal: PreferenceSignal, isolation: PreferenceIsolation)]>([])

    fileprivate static func sendFromMainActor(_ ended: ShortList<PreferenceSignals.EndedEpoch>) {
        let isolation = PreferenceIsolation.current
        let isFirst = waiting.withLock { waiting in
            let isFirst = waiting.isEmpty
            ended.forEach { ended in
                guard let epoch = ended.epoch else { return }
                let bit: UInt8 = 1 << UInt8(epoch)
                let before = ended.signal.waitingEpochs.bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue
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
