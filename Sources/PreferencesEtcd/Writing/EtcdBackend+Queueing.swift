internal import DurableFile
internal import Preferences

extension EtcdBackend {
    /// Sends what waits, unless another thread writes now, which does it.
    func sendQueue() {
        guard queue.withLock({ $0.count }) > 0 else { return }
        _ = turn.withLockIfAvailable { _ in sendQueueInTurn() }
    }

    /// Whether a write has to wait: behind others, or since no server could be reached a moment ago.
    var mustQueue: Bool {
        guard configuration.offlineWrites == .queueing else { return false }
        let isConnected = monitor.status.isConnected
        if isConnected { sendQueueInTurn() }
        return !isConnected || queue.withLock { $0.count } > 0
    }

    func enqueue(_ write: WriteQueue.Write) throws(PreferencesError) -> PreferenceBackendCommit {
        let (stored, outside) = mirror.withLock { ($0.values, $0.drain()) }
        let shown = visible(outside)
        // What may be stored already was true when it was sent; the mirror may show it.
        let mayWait = write.inDoubt != nil || queue.withLock { write.condition.holds(for: $0.view(of: stored)) }
        guard mayWait else { return PreferenceBackendCommit(outside: shown, isStored: false) }
        perform(queue.withLock { $0.appending(write) })
        let status = monitor.status
        if status.refusal?.code == .noSpace, write.removesOnly {
            sendRemovals()
        } else if status.isConnected, status.refusal == nil {
            // Else it would wait for the next event or silence.
            watch.probeNow()
        }
        return PreferenceBackendCommit(outside: shown, isStored: true)
    }

    /// Keeps the reason why a write has to wait; reported when the turn is over, as no lock is held while calling out.
    func noteRefusal(_ error: PreferencesError) {
        let status = monitor.status
        monitor.refuses(error)
        guard status.refusal?.code != error.code, status.error?.code != error.code else { return }
        let problem = PreferencesError(
            error.code,
            "etcd doesn't take what is set; it is kept, and sent as soon as that is put right",
            cause: error
        )
        mirror.withLock { $0.note(problem) }
    }

    private func sendQueueInTurn() {
        while let (number, write) = queue.withLock({ $0.first }) {
            guard sendWaiting(number, write) else {
                if monitor.status.refusal?.code == .noSpace { sendRemovals() }
                return
            }
        }
    }

    /// Sends the removals that need not wait for what there is no space for; they are what makes space.
    private func sendRemovals() {
        for (number, write) in queue.withLock({ $0.independentRemovals }) {
            guard sendWaiting(number, write) else { return }
        }
    }

    /// Sends one of the queue; returns whether that is over.
    private func sendWaiting(_ number: Int, _ write: WriteQueue.Write) -> Bool {
        var problem: PreferencesError?
        do throws(WriteFailure) {
            let outcome = try send(write, isQueued: true)
            // What needs no space says nothing about it.
            if !write.removesOnly || monitor.status.refusal?.code != .noSpace { monitor.refuses(nil) }
            if !outcome.isStored {
                client.record(.dropped)
                problem = overtaken(write)
            }
        } catch {
            if error.isPassing || error.isHeld {
                var write = write
                write.inDoubt = error.inDoubt
                perform([number: write])
                if error.isHeld { noteRefusal(error.error) }
                return false
            }
            problem = error.error
        }
        if let problem { mirror.withLock { $0.note(problem) } }
        let names = perform([number: nil])
        // The store shows what was set; it may be told otherwise now.
        mirror.withLock { $0.tell(names) }
        return true
    }

    private func overtaken(_ write: WriteQueue.Write) -> PreferencesError {
        PreferencesError(
            .conflict,
            "a change that waited for etcd is dropped, as others changed what it was based on: "
                + write.changes.keys.sorted().joined(separator: ", ")
        )
    }

    @discardableResult
    private func perform(_ step: WriteQueue.Step) -> Set<String> {
        let (names, count) = queue.withLock { ($0.perform(step), $0.count) }
        monitor.waits(count)
        if count == 0 { monitor.refuses(nil) }
        return names
    }
}
