internal import DurableFile
internal import Synchronization

extension StoreCore: ForkParticipant {
    var forkRanks: [ForkRank] { [.stores] }
    var forkOrder: UInt64 { id }

    func take(_ rank: ForkRank) -> Bool {
        guard state.take() else { return false }
        if making.take() { return true }
        state.release(inChild: false)
        return false
    }

    func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        making.release(inChild: inChild)
        state.release(inChild: inChild)
        return nil
    }

    func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        state.withLock { $0.startInChild() }
        // The next read of each name asks the sources, and these look at their files.
        madeLayers?.isPrepared.store(false, ordering: .releasing)
        return []
    }
}

extension StoreState {
    /// Forgets what threads of the parent were doing, and invalidates all slots.
    fileprivate mutating func startInChild() {
        if !announcing.isEmpty { announcing = announcing.filter { $0.key == .current } }
        queue.forgetThreads(mayResume: ForkGate.mayStartThreads)
        forEachNode { $0.startInChild() }
    }
}

/// The locks of what all stores share, as a participant of a `fork`.
final class SharedLocks: ForkParticipant {
    private init() {}

    private static let isAdded = Atomic(false)

    /// Adds them, at the first call.
    // Not by the initialization of a global: a thread that waits in one while another forks leaves it in creation in the child.
    static func add() {
        guard !isAdded.load(ordering: .relaxed), !isAdded.exchange(true, ordering: .relaxed) else { return }
        _ = ForkGate.add(Unmanaged.passRetained(SharedLocks()).takeUnretainedValue())
    }

    var forkRanks: [ForkRank] { [.registries, .leaves] }

    func take(_ rank: ForkRank) -> Bool {
        rank == .registries
            ? Self.take(SharedStores.take, SharedStores.release, and: FileStores.take)
            : Self.take(IssueReporter.take, IssueReporter.release, and: PreferenceSignal.take)
    }

    private static func take(_ first: () -> Bool, _ release: (_ inChild: Bool) -> Void, and second: () -> Bool) -> Bool
    {
        guard first() else { return false }
        if second() { return true }
        release(false)
        return false
    }

    func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        if rank == .registries {
            FileStores.release(inChild: inChild)
            SharedStores.release(inChild: inChild)
        } else {
            PreferenceSignal.release(inChild: inChild)
            IssueReporter.release(inChild: inChild)
        }
        return nil
    }

    func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        IssueReporter.forgetThreads()
        FileStores.startInChild()
        return []
    }
}
