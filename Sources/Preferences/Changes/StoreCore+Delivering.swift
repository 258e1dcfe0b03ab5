internal import DurableFile

extension StoreCore {
    /// Delivers what waits, unless another thread does, or this one further up its stack.
    func deliver() {
        let thread = ThreadIdentity.current
        guard state.withLock({ $0.queue.claim(by: thread) }) else { return }
        deliverRest(isOwnThread: false)
    }

    /// What a deliverer does until nothing waits, or it has done enough for others.
    private func deliverRest(isOwnThread: Bool) {
        while true {
            let (action, subscribers) = state.withLock { state -> (DeliveryQueue.Action, [ChangeSubscription]) in
                let action = state.queue.next(isOwnThread: isOwnThread)
                guard case .deliver(let batch, _) = action else { return (action, []) }
                return (action, state.subscribers(to: batch))
            }
            switch action {
            case .stop:
                return
            case .handOver:
                // Observers of an isolated store see the stores of its scope on that thread too.
                let rest: @Sendable () -> Void = { [self, isolation = PreferenceIsolation.current] in
                    state.withLock { $0.queue.takeOver(by: .current) }
                    isolation.run { deliverRest(isOwnThread: true) }
                }
                WorkerQueue().run(rest)
                return
            case .deliver(let batch, let depth):
                AnswerDepth.answering(depth) {
                    for subscriber in subscribers { subscriber.receive(batch) }
                }
            }
        }
    }

    /// Notifies those who want to know before of what this thread is about to set; no lock is held, so sets that race are
    /// announced in either order, and one that is then refused was announced too.
    func announce(
        _ changes: ValueChanges,
        in source: Source,
        upTo newest: UInt64
    ) throws(PreferencesError) {
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
        guard !isLoop else { throw PreferencesError(loopOver: changes, limit: Self.announcementDepthLimit) }
        guard let announcement else { return }
        // An observer whose call has to wait for its actor doesn't nest on this stack, so its answers count here.
        AnswerDepth.answering(AnswerDepth.current) {
            for subscriber in announcement.subscribers { subscriber.receive(announcement.batch) }
        }
        state.withLock { state in
            let depth = state.announcing[thread, default: 1]
            state.announcing[thread] = depth > 1 ? depth - 1 : nil
        }
    }

    /// Unlike a set inside a `didSet` observer, which waits for its turn, one inside a `willSet` observer nests on the
    /// stack.
    private static var announcementDepthLimit: Int { 50 }
}

extension PreferencesError {
    /// The error for observers that would set for ever.
    init(loopOver changes: ValueChanges, limit: Int) {
        self.init(
            .feedbackLoop,
            name: changes.onlyName,
            "observers answered each other's changes \(limit) times; this set was refused and changed nothing. "
                + "Let an observer set only what differs, and not what it observes"
        )
    }
}
