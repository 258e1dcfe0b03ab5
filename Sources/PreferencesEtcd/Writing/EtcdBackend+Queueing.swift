internal import DurableFile
internal import Preferences

extension EtcdBackend {
    /// Sends what waits, unless another thread writes now, which does it.
    func sendQueue() {
        // The turn is free between two, so that a set need not wait for all.
        while turn.withLockIfAvailable({ _ in sendFirst(until: nil) }) == true {}
    }

    /// Has what waits be sent by the watch's thread, if a server can be reached that takes it.
    func sendSoon() {
        let status = monitor.status
        if status.isConnected, status.refusal == nil, queue.withLock({ $0.count }) > 0 { watch.probeNow() }
    }

    /// Whether a write has to wait: behind others, or since no server could be reached a moment ago.
    var mustQueue: Bool {
        guard configuration.offlineWrites == .queueing else { return false }
        return !monitor.status.isConnected || queue.withLock { $0.count } > 0
    }

    func enqueue(_ write: WriteQueue.Write) throws(PreferencesError) -> PreferenceBackendCommit {
        let stored = mirror.withLock { $0.values }
        // What may be stored already was true when it was sent; the mirror may show it.
        let mayWait = write.inDoubt != nil || queue.withLock { write.condition.holds(for: $0.view(of: stored)) }
        guard mayWait else {
            return PreferenceBackendCommit(outside: visible(mirror.withLock { $0.drain() }), isStored: false)
        }
        let (step, count) = queue.withLock { queue in
            let step = queue.appending(write)
            return (step, queue.count(after: step))
        }
        guard count <= configuration.maximumWaitingWrites else {
            throw PreferencesError(
                .unavailable,
                "\(count - 1) writes wait for etcd, as many as maximumWaitingWrites allows; nothing was changed. Wait until it "
                    + "can be reached, or allow more"
            )
        }
        try queueFile?.write(step)
        WaitingStores.add(self)
        let shown = visible(mirror.withLock { $0.drain() })
        perform(step)
        if monitor.status.refusal?.code == .noSpace, write.removesOnly { sendRemovals(until: deadline) }
        return PreferenceBackendCommit(outside: shown, isStored: true)
    }

    /// Takes what an earlier run of the program left.
    func loadQueue(_ host: PreferenceBackendHost) throws(PreferencesError) {
        guard let queueFile, queue.withLock({ $0.count }) == 0 else { return }
        let (step, lastNumber) = try queueFile.load(host.report)
        queue.withLock { $0.reserve(through: lastNumber) }
        perform(step)
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

    /// Sends what waits until all is sent or can't be, after the writes that are under way; blocks.
    func sendAll(until end: ContinuousClock.Instant?) {
        while turn.withLock({ _ in sendFirst(until: end) }) {}
    }

    /// Sends the first that waits; returns whether the next one may be sent.
    private func sendFirst(until end: ContinuousClock.Instant?) -> Bool {
        guard let (number, write) = queue.withLock({ $0.first }), end.map({ ContinuousClock.now < $0 }) ?? true
        else { return false }
        guard sendWaiting(number, write, until: end) else {
            if monitor.status.refusal?.code == .noSpace { sendRemovals(until: end) }
            return false
        }
        return true
    }

    /// Sends the removals that need not wait for what there is no space for; they are what makes space.
    private func sendRemovals(until end: ContinuousClock.Instant?) {
        for (number, write) in queue.withLock({ $0.independentRemovals }) {
            guard sendWaiting(number, write, until: end) else { return }
        }
    }

    /// Sends one of the queue; returns whether that is over.
    private func sendWaiting(
        _ number: Int,
        _ write: WriteQueue.Write,
        until end: ContinuousClock.Instant?
    ) -> Bool {
        let own = ContinuousClock.now + configuration.timeout
        var problem: PreferencesError?
        // If the program ends before the answer, the next one must not take its own change for that of others.
        var sent = write
        sent.mayBeStored = true
        if !write.isPlain, !write.mayBeStored { keep([number: sent]) }
        do throws(WriteFailure) {
            let outcome = try send(write, isQueued: true, until: min(end ?? own, own))
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
                if !write.isPlain { keep([number: write]) }
                if error.isHeld { noteRefusal(error.reason) }
                return false
            }
            problem = error.error
        }
        if let problem { mirror.withLock { $0.note(problem) } }
        keep([number: nil])
        let names = perform([number: nil])
        // The store shows what was set; it may be told otherwise now.
        mirror.withLock { $0.tell(names) }
        return true
    }

    private func overtaken(_ write: WriteQueue.Write) -> PreferencesError {
        let names = write.changes.keys.sorted().joined(separator: ", ")
        return write.mayBeStored
            ? PreferencesError(
                .outcomeUnknown,
                "a change was sent to etcd when the program ended, and can't be told from what others stored; read it again: \(names)"
            )
            : PreferencesError(
                .conflict,
                "a change that waited for etcd is dropped, as others changed what it was based on: \(names)"
            )
    }

    /// Writes a step into the queue's file; if that fails it is reported, as nothing can be thrown.
    private func keep(_ step: WriteQueue.Step) {
        do throws(PreferencesError) { try queueFile?.write(step) } catch {
            mirror.withLock { $0.note(error) }
        }
    }

    @discardableResult
    private func perform(_ step: WriteQueue.Step) -> Set<String> {
        let (names, count) = queue.withLock { ($0.perform(step), $0.count) }
        monitor.waits(count)
        if count == 0 { monitor.refuses(nil) }
        return names
    }
}

/// The stores of the process in which writes waited, so that its end can be reported to them.
enum WaitingStores {
    private struct Store {
        weak var backend: EtcdBackend?
    }

    private static let stores = Lock<[ObjectIdentifier: Store]>([:])
    private static let registration: Void = {
        // Each is looked at without the lock: it may be the last reference.
        atexit { for store in WaitingStores.stores.withLock({ $0.values }) { store.backend?.reportEnd(of: "program") } }
    }()

    static func add(_ backend: EtcdBackend) {
        registration
        stores.withLock { $0[ObjectIdentifier(backend)] = Store(backend: backend) }
    }

    static func remove(_ backend: EtcdBackend) {
        _ = stores.withLock { $0.removeValue(forKey: ObjectIdentifier(backend)) }
    }
}
