internal import DurableFile

extension StoreCore {
    /// Delivers the queued batches, unless another thread delivers, or this thread does further up its stack.
    func deliver() {
        let thread = ThreadIdentity.current
        guard state.withLock({ $0.queue.claim(by: thread) }) else { return }
        deliverRest(isOwnThread: false)
    }

    /// Delivers until the queue is empty, or until this thread has delivered enough batches of other threads.
    private func deliverRest(isOwnThread: Bool) {
        while true {
            // While other threads keep setting, that never ends.
            if isOwnThread { ForkGate.pauseIfClosed() }
            let (action, subscribers) = state.withLock { state -> (DeliveryQueue.Action, [ChangeSubscription]) in
                let action = state.queue.next(isOwnThread: isOwnThread)
                guard case .deliver(let batch, _) = action else { return (action, []) }
                return (action, state.subscribers(to: batch))
            }
            switch action {
            case .stop:
                return
            case .handOver:
                deliverRestOnLibraryThread()
                return
            case .deliver(let batch, let depth):
                FeedbackDepth.reacting(toChangeAt: depth) { batch.deliver(to: subscribers) }
            }
        }
    }

    private func deliverRestOnLibraryThread() {
        // Makes observers of an isolated store see the stores of its scope on that thread, too.
        WorkerQueue().run { [self, isolation = PreferenceIsolation.current] in
            state.withLock { $0.queue.resume(on: .current) }
            isolation.run { deliverRest(isOwnThread: true) }
        }
    }

    /// Has batches wait until this thread ends the pause; returns false if another thread delivers them, or this one does up its stack.
    package func pauseDelivery() -> Bool { state.withLock { $0.queue.pause(by: .current) } }

    /// Delivers what has waited.
    ///
    /// - Parameter isElsewhere: Whether a thread of the library does so, as this one must not run the observers yet.
    package func endPauseOfDelivery(elsewhere isElsewhere: Bool) {
        guard isElsewhere else { return deliverRest(isOwnThread: false) }
        state.withLock { $0.queue.handOver() }
        deliverRestOnLibraryThread()
    }

    /// Notifies `willSet` observers of the changes that this thread is about to make, if their subscriptions' numbers are up
    /// to `newest`.
    ///
    /// No lock is held: sets that race are announced in either order, and a set that then fails was announced as well.
    func announce(
        _ changes: ValueChanges,
        in source: Source,
        upTo newest: UInt64
    ) throws(PreferenceError) {
        let thread = ThreadIdentity.current
        let list = layers
        let (announcement, isLoop) = state.withLock { state in
            guard let announcement = state.announcement(of: changes, in: source, list, upTo: newest) else {
                return (nil as StoreState.Announcement?, false)
            }
            let depth = state.announcing[thread, default: 0]
            guard depth < Self.announcementDepthLimit else { return (nil, true) }
            state.announcing[thread] = depth + 1
            return (announcement, false)
        }
        guard !isLoop else { throw PreferenceError(loopOver: changes, limit: Self.announcementDepthLimit) }
        guard let announcement else { return }
        // An observer whose call waits for its actor doesn't nest on this stack; the sets that it makes count by this depth.
        FeedbackDepth.reacting(toChangeAt: FeedbackDepth.current) {
            announcement.batch.deliver(to: announcement.subscribers)
        }
        state.withLock { state in
            let depth = state.announcing[thread, default: 1]
            state.announcing[thread] = depth > 1 ? depth - 1 : nil
        }
    }

    /// The limit of nested announcements: a set inside a `didSet` observer is queued, but one inside a `willSet` observer
    /// nests on the stack.
    private static var announcementDepthLimit: Int { 50 }
}

extension PreferenceError {
    /// Creates the error for observers that would react to each other's sets for ever.
    init(loopOver changes: ValueChanges, limit: Int) {
        self.init(
            .feedbackLoop,
            name: changes.onlyName,
            "observers answered each other's changes \(limit) times; this write was rejected and nothing was changed. "
                + "Let an observer set a value only if it differs, and not the preference that it observes"
        )
    }
}
