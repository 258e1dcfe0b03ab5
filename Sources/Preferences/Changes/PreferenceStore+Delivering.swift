internal import DurableFile

extension PreferenceStore {
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
                let announced = batch.needsAnnouncing ? state.subscribers(to: batch, at: .willSet) : []
                return (action, announced + state.subscribers(to: batch))
            }
            switch action {
            case .stop:
                return
            case .handOver:
                // Observers of an isolated store see the stores of its scope on that thread too.
                let rest: @Sendable () -> Void = { [self, isolation = Self.isolation] in
                    state.withLock { $0.queue.takeOver(by: .current) }
                    isolation.run { deliverRest(isOwnThread: true) }
                }
                if !WorkerThread.start("preferences", rest) { rest() }
                return
            case .deliver(let batch, let depth):
                AnswerDepth.answering(depth) {
                    for subscriber in subscribers { subscriber.receive(batch) }
                }
            }
        }
    }

    /// Tells those who want to know before of what this thread is about to set; no lock is held, so sets that race are
    /// told in either order, and one that is then refused was told too.
    func announce(_ changes: [String: PropertyListValue?]) throws(PreferencesError) {
        let thread = ThreadIdentity.current
        let (batch, subscribers, isLoop) = state.withLock { state -> (ChangeBatch?, [ChangeSubscription], Bool) in
            guard let batch = state.announcement(of: changes) else { return (nil, [], false) }
            let subscribers = state.subscribers(to: batch, at: .willSet)
            guard !subscribers.isEmpty else { return (nil, [], false) }
            let depth = state.announcing[thread, default: 0]
            guard depth < Self.announcementDepthLimit else { return (nil, [], true) }
            state.announcing[thread] = depth + 1
            return (batch, subscribers, false)
        }
        guard !isLoop else { throw PreferencesError(loopOver: changes, limit: Self.announcementDepthLimit) }
        guard let batch else { return }
        for subscriber in subscribers { subscriber.receive(batch) }
        state.withLock { state in
            let depth = state.announcing[thread, default: 1]
            state.announcing[thread] = depth > 1 ? depth - 1 : nil
        }
    }

    /// How often observers may set in answer to a change that was set in answer to … before it is called a loop.
    static var answerDepthLimit: Int { 1000 }

    /// Unlike a set inside a `didSet` observer, which waits for its turn, one inside a `willSet` observer nests on the
    /// stack.
    private static var announcementDepthLimit: Int { 50 }
}

extension PreferencesError {
    /// The error for observers that would set for ever.
    init(loopOver changes: [String: PropertyListValue?], limit: Int) {
        self.init(
            .feedbackLoop,
            name: changes.count == 1 ? changes.keys.first : nil,
            "observers answered each other's changes \(limit) times; this set was refused and changed nothing. "
                + "Let an observer set only what differs, and not what it observes"
        )
    }
}
