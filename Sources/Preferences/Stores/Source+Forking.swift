internal import CDurableFile
internal import DurableFile
internal import Synchronization

// A source in a `fork`, and in its child.

extension Source: ForkParticipant {
    var forkRanks: [ForkRank] { [.turns, .sources, .values] }
    var forkOrder: UInt64 { id }

    func take(_ rank: ForkRank) -> Bool {
        switch rank {
        case .turns: takeTurn()
        case .sources: state.take()
        default: values.take()
        }
    }

    private func takeTurn() -> Bool {
        let (thread, forks) = (ThreadIdentity.current, durable_file_fork_count())
        switch state.withLock({ $0.turn.claim(by: thread, in: forks, orWait: nil) }) {
        case .granted: isTurnForked = true
        // A backend forks while the source calls it.
        case .held: isTurnForked = false
        case .busy, .waiting: return false
        }
        return true
    }

    func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        switch rank {
        case .turns: return releaseTurn(inChild: inChild)
        case .sources: state.release(inChild: inChild)
        default: values.release(inChild: inChild)
        }
        return nil
    }

    private func releaseTurn(inChild: Bool) -> WorkerQueue.Job? {
        guard !inChild else {
            state.withLock { $0.turn.resetInChild() }
            return nil
        }
        guard isTurnForked else { return nil }
        isTurnForked = false
        let (waiter, isCatchingUp) = state.withLock { $0.turn.releaseAfterFork() }
        waiter?.signal { $0 = true }
        guard let isCatchingUp else { return nil }
        return { [weak self] in self?.applyExternalChanges(catchingUp: isCatchingUp) }
    }

    func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        isTurnForked = false
        state.withLock { $0.forgetCalls() }
        if looksAfterFork, isOpen { isOpenAttempted.store(false, ordering: .releasing) }
        return []
    }

    /// Whether the values are read again in a child of `fork`: those of files, which nothing watches there yet, and of copies of them. A
    /// network's connection stays the parent's, and a backend that is queried by name is asked again anyway.
    var looksAfterFork: Bool { backend != nil && !isSlow && !isQueriedByName }

    /// Reads what other programs have changed since this process was forked, and watches the files again; does nothing at a source that
    /// isn't read again in a child.
    ///
    /// A thread of the library notifies observers, because the reading thread may hold a lock; this one does if there can't be another.
    @inline(never)
    func lookAfterFork(_ call: StoreCall?) throws(PreferenceError) {
        guard looksAfterFork else { return }
        if let file { file.resume() } else { Watcher.shared.resume() }
        try withTurn(.read, call) { (notifications) throws(PreferenceError) in
            defer {
                publishStored(nil, into: &notifications)
                if ForkGate.mayStartThreads {
                    notifications.sendOnLibraryThread()
                    notifications = DeferredNotifications()
                }
            }
            do throws(PreferenceError) {
                try catchUpBackend()
                state.withLock { $0.lastFailure = nil }
            } catch {
                if state.withLock({ $0.noteFailure(error) }) { reportFromBackend(error) }
            }
        }
    }
}
