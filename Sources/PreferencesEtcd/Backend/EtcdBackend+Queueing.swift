internal import DurableFile
internal import Preferences

extension EtcdBackend {
    /// Sends the queued writes, unless another thread is writing to etcd.
    func sendQueue() {
        // The lock is released after each write, so that a call of the store needn't wait for the whole queue.
        while writeLock.withLockIfAvailable({ _ in sendFirst(until: nil) }) == true {}
    }

    /// Requests that the watch's thread sends the queued writes, if the store is connected and etcd doesn't reject them.
    func sendSoon() {
        let status = monitor.status
        if status.isConnected, status.refusal == nil, queue.withLock({ $0.count }) > 0 { watch.probeNow() }
    }

    /// Whether a write has to be queued: because earlier writes are queued, or because the store is known to be disconnected.
    ///
    /// After a start from the cache, a write is tried before the first connection: its condition must hold for the newest values.
    var mustQueue: Bool {
        guard configuration.offlineWrites == .queueing else { return false }
        let status = monitor.status
        return !status.isConnected && status.error != nil || queue.withLock { $0.count } > 0
    }

    func enqueue(_ write: WriteQueue.Write) throws(PreferenceError) -> PreferenceBackendCommit {
        let stored = mirror.withLock { $0.values }
        // A write that may already be stored met its condition when it was sent, and the mirror may include it.
        let isAccepted = write.inDoubt != nil || queue.withLock { write.condition.holds(for: $0.view(of: stored)) }
        guard isAccepted else { return PreferenceBackendCommit(isStored: false) }
        if write.inDoubt == nil, let error = refusal(ofQueued: write, in: stored) { throw error }
        var write = write
        // A value that was merged into the newest known one is stored when it is sent, as a plain one is.
        if write.condition.isOfMerge, write.inDoubt == nil { write.condition = .none }
        let (step, count) = queue.withLock { queue in
            let step = queue.appending(write)
            return (step, queue.count(after: step))
        }
        guard count <= configuration.maximumWaitingWrites else {
            throw PreferenceError(
                .unavailable,
                "\(count - 1) writes are queued, as many as maximumWaitingWrites allows; nothing was changed. Wait until etcd "
                    + "can be reached, or allow more"
            )
        }
        try queueFile?.write(step)
        WaitingStores.add(self)
        perform(step, isOwn: true)
        if monitor.status.refusal?.code == .noSpace, write.removesOnly { sendRemovals(until: deadline) }
        return PreferenceBackendCommit()
    }

    /// Loads the writes that an earlier run of the program left in the queue's file.
    ///
    /// - Throws: `misuse` for a write of a name that this run doesn't read: it could not be compared or shown, and if it were skipped, it
    ///   could be stored by a later run, after newer ones.
    func loadQueue(_ host: PreferenceBackendHost) throws(PreferenceError) {
        guard let queueFile, queue.withLock({ $0.count }) == 0 else { return }
        let (step, lastNumber) = try queueFile.load(host.report)
        for case (_, let write?) in step.sorted(by: { $0.key < $1.key }) {
            guard let name = unreadName(of: write) else { continue }
            throw PreferenceError(
                .misuse,
                "a queued write of \"\(name)\" in \(queueFile.path) is of a scope that this store doesn't read; it is kept. List the id in "
                    + "the configuration's scopes until it is sent, or remove the file to drop its writes"
            )
        }
        queue.withLock { $0.reserve(through: lastNumber) }
        perform(step)
    }

    /// Records why a write has to wait; it is reported after `writeLock` is released, as no lock is held while calling out.
    func noteRefusal(_ error: PreferenceError) {
        let status = monitor.status
        monitor.setRefusal(error)
        guard status.refusal?.code != error.code, status.error?.code != error.code else { return }
        let problem = PreferenceError(
            error.code,
            "etcd rejected a queued write; it is kept, and is sent when the cause is corrected",
            cause: error
        )
        mirror.withLock { $0.note(problem) }
    }

    /// Sends the queued writes until none is left or one can't be sent; blocks, also while another thread is writing.
    func sendAll(until end: ContinuousClock.Instant?) {
        while writeLock.withLock({ _ in sendFirst(until: end) }) {}
    }

    /// Sends the first queued write; returns whether the next one may be sent.
    private func sendFirst(until end: ContinuousClock.Instant?) -> Bool {
        guard let (number, write) = queue.withLock({ $0.first }), end.map({ ContinuousClock.now < $0 }) ?? true
        else { return false }
        guard sendWaiting(number, write, until: end) else {
            if monitor.status.refusal?.code == .noSpace { sendRemovals(until: end) }
            return false
        }
        return true
    }

    /// Sends the removals that don't depend on earlier writes, as they need no space and make some.
    private func sendRemovals(until end: ContinuousClock.Instant?) {
        for (number, write) in queue.withLock({ $0.independentRemovals }) {
            guard sendWaiting(number, write, until: end) else { return }
        }
    }

    /// Sends a queued write; returns whether it left the queue, stored or dropped.
    private func sendWaiting(
        _ number: Int,
        _ write: WriteQueue.Write,
        until end: ContinuousClock.Instant?
    ) -> Bool {
        let own = ContinuousClock.now + configuration.timeout
        var problem: PreferenceError?
        // If the program ends before the answer, the next run must not mistake this change for an external one.
        var sent = write
        sent.mayBeStored = true
        if !write.isPlain, !write.mayBeStored { keep([number: sent]) }
        do throws(WriteFailure) {
            let isStored = try send(write, isQueued: true, until: min(end ?? own, own))
            // A removal needs no space, so it doesn't show that there is some again.
            if !write.removesOnly || monitor.status.refusal?.code != .noSpace { monitor.setRefusal(nil) }
            if !isStored { problem = droppedError(write) }
        } catch {
            if error.isTemporary || error.isHeld {
                var write = write
                write.inDoubt = error.inDoubt
                perform([number: write])
                if !write.isPlain { keep([number: write]) }
                if error.isHeld { noteRefusal(error.reason) }
                return false
            }
            problem = error.error.code == .invalid ? forbiddenError(write, error.error) : error.error
        }
        if let problem {
            client.record(.dropped)
            mirror.withLock { $0.note(problem) }
        }
        keep([number: nil])
        let names = perform([number: nil])
        // The store showed the queued values, and the stored ones may differ.
        mirror.withLock { $0.passOn(names) }
        return true
    }

    private func forbiddenError(_ write: WriteQueue.Write, _ reason: PreferenceError) -> PreferenceError {
        PreferenceError(
            .invalid,
            name: reason.name,
            "a queued change was dropped, as the suite's schema forbids it: \(write.changes.keys.sorted().joined(separator: ", "))",
            cause: reason
        )
    }

    private func droppedError(_ write: WriteQueue.Write) -> PreferenceError {
        let names = write.changes.keys.sorted().joined(separator: ", ")
        return write.mayBeStored
            ? PreferenceError(
                .outcomeUnknown,
                "the program ended while it sent a change to etcd, and it is unknown whether that was stored; read the values "
                    + "again: \(names)"
            )
            : PreferenceError(
                .conflict,
                "a queued change was dropped, as another process changed the values that it depends on: \(names)"
            )
    }

    /// Writes a step into the queue's file; an error is reported, as no caller is left to throw it to.
    private func keep(_ step: WriteQueue.Step) {
        do throws(PreferenceError) { try queueFile?.write(step) } catch {
            mirror.withLock { $0.note(error) }
        }
    }

    /// Performs a step in the queue; returns the names whose values it changes.
    ///
    /// - Parameter isOwn: Whether the changes of the store's current call are queued by it.
    @discardableResult
    private func perform(_ step: WriteQueue.Step, isOwn: Bool = false) -> Set<String> {
        // Under the mirror's lock, because later external changes of the names are hidden.
        let (names, count) = mirror.withLock { _ in
            if isOwn { noteApplied() }
            return queue.withLock { ($0.apply(step), $0.count) }
        }
        monitor.setWaitingWrites(count)
        if count == 0 { monitor.setRefusal(nil) }
        return names
    }
}

/// The backends that have queued writes, so that unsent ones can be reported when the process ends.
enum WaitingStores {
    private struct Store {
        weak var backend: EtcdBackend?
    }

    private static let stores = Lock<[ObjectIdentifier: Store]>([:])
    private static let registration: Void = {
        // Without the lock: each strong reference made here may be the last, and `deinit` takes the lock.
        atexit {
            for store in WaitingStores.stores.withLock({ $0.values }) {
                store.backend?.reportUnsentWrites(atEndOf: "program")
            }
        }
    }()

    static func add(_ backend: EtcdBackend) {
        registration
        stores.withLock { $0[ObjectIdentifier(backend)] = Store(backend: backend) }
    }

    static func remove(_ backend: EtcdBackend) {
        _ = stores.withLock { $0.removeValue(forKey: ObjectIdentifier(backend)) }
    }
}
