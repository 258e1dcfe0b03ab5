internal import DurableFile
internal import Preferences

extension EtcdBackend {
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        defer { announceChanges() }
        return try turn.withLock { _ throws(PreferencesError) in
            if mustQueue { return enqueue(.init(changes: changes, condition: condition)) }
            let write = WriteQueue.Write(changes: changes, condition: condition)
            do throws(WriteFailure) {
                let outcome = try send(write, isQueued: false)
                return PreferenceBackendCommit(outside: visible(outcome.outside), isStored: outcome.isStored)
            } catch {
                guard configuration.offlineWrites == .queueing, error.isPassing else {
                    if !error.isPassing { takeOutside() }
                    throw error.error
                }
                var write = write
                write.inDoubt = error.inDoubt
                return enqueue(write)
            }
        }
    }

    /// Sends what waits, unless somebody else writes just now, who does it.
    func sendQueue() {
        guard queue.withLock({ $0.count }) > 0 else { return }
        _ = turn.withLockIfAvailable { _ in sendQueueInTurn() }
    }

    /// Whether a write has to wait: behind others, or as nobody could be reached a moment ago.
    private var mustQueue: Bool {
        guard configuration.offlineWrites == .queueing else { return false }
        let isConnected = monitor.status.isConnected
        if isConnected { sendQueueInTurn() }
        return !isConnected || queue.withLock { $0.count } > 0
    }

    private func enqueue(_ write: WriteQueue.Write) -> PreferenceBackendCommit {
        let (stored, outside) = mirror.withLock { ($0.values, $0.drain()) }
        let shown = visible(outside)
        // What may be stored already was true when it was sent; the mirror may show it.
        let mayWait = write.inDoubt != nil || queue.withLock { write.condition.holds(for: $0.view(of: stored)) }
        guard mayWait else {
            return PreferenceBackendCommit(outside: shown, isStored: false)
        }
        monitor.waits(
            queue.withLock { queue in
                queue.append(write)
                return queue.count
            }
        )
        // Else it would wait for the next event or silence.
        if monitor.status.isConnected { watch.probeNow() }
        return PreferenceBackendCommit(outside: shown, isStored: true)
    }

    private func sendQueueInTurn() {
        // What went wrong is told when the turn is over: no lock is held while calling out.
        while let write = queue.withLock({ $0.first }) {
            var problem: PreferencesError?
            do throws(WriteFailure) {
                let outcome = try send(write, isQueued: true)
                if !outcome.isStored {
                    client.record(.dropped)
                    problem = PreferencesError(
                        .conflict,
                        "a change that waited for etcd is dropped, as others changed what it was based on: "
                            + write.changes.keys.sorted().joined(separator: ", ")
                    )
                }
            } catch {
                if error.isPassing { return }
                problem = error.error
            }
            if let problem { mirror.withLock { $0.note(problem) } }
            let (names, count) = queue.withLock { ($0.removeFirst(), $0.count) }
            // The store shows what was set; it may be told otherwise now.
            mirror.withLock { $0.tell(names) }
            monitor.waits(count)
        }
    }

    // MARK: One write

    private struct WriteFailure: Error {
        var error: PreferencesError
        var isPassing = false
        /// The request of which nobody knows whether it was done.
        var inDoubt: TransactionBuilder?
    }

    private struct Outcome {
        var outside: [String: PropertyListValue?]
        var isStored: Bool
    }

    private enum Plan {
        case refused
        case unchanged
        case send(TransactionBuilder)
    }

    /// Stores a write, or finds that its condition is not true of what is stored.
    ///
    /// Of one that was queued what others changed is left to be told; there is no answer to tell it with.
    private func send(_ write: WriteQueue.Write, isQueued: Bool) throws(WriteFailure) -> Outcome {
        let end = ContinuousClock.now + configuration.timeout
        var inDoubt = write.inDoubt
        var isCurrent = false
        repeat {
            if let builder = inDoubt {
                inDoubt = nil
                if let stored = try send(builder, isRepeated: true, until: end) {
                    return commit(builder, of: write, at: stored, isQueued: isQueued)
                }
                isCurrent = true
            }
            switch try plan(write) {
            case .send(let builder):
                if let stored = try send(builder, isRepeated: false, until: end) {
                    return commit(builder, of: write, at: stored, isQueued: isQueued)
                }
                isCurrent = true
            case .refused where !isCurrent, .unchanged where !isCurrent:
                try catchUp(until: end)
                isCurrent = true
            case .refused:
                return Outcome(outside: isQueued ? [:] : mirror.withLock { $0.drain() }, isStored: false)
            case .unchanged:
                // Of what the watch took in since, the store must not think that its own value came later.
                let outside = mirror.withLock { mirror -> [String: PropertyListValue?]? in
                    guard write.isStored(in: mirror.values) else { return nil }
                    return isQueued ? [:] : mirror.drain()
                }
                if let outside { return Outcome(outside: outside, isStored: true) }
            }
        } while ContinuousClock.now < end
        throw WriteFailure(
            error: PreferencesError(.conflict, "others kept changing the same names for too long; nothing was changed")
        )
    }

    private func plan(_ write: WriteQueue.Write) throws(WriteFailure) -> Plan {
        let mirror = mirror.withLock { $0 }
        guard write.condition.holds(for: mirror.values) else { return .refused }
        guard !write.isStored(in: mirror.values) else { return .unchanged }
        let changes = write.changes.filter { mirror.values[$0.key] != $0.value }
        do throws(PreferencesError) {
            return .send(
                try TransactionBuilder(
                    changes,
                    among: write.changes.keys,
                    if: write.condition,
                    on: mirror,
                    mark: WriteMark(),
                    limit: configuration.maximumOperations
                )
            )
        } catch {
            throw WriteFailure(error: error)
        }
    }

    /// Sends a request until it is answered; gives the revision where it is stored, or nil where somebody else was faster.
    private func send(
        _ builder: TransactionBuilder,
        isRepeated: Bool,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Int64? {
        var isInDoubt = isRepeated
        let response: TransactionResponse
        do throws(GatewayClient.Failure) {
            response = try client.call("/v3/kv/txn", within: end - .now) { isAgain in
                isInDoubt = isRepeated || isAgain
                return builder.request(isRepeated: isInDoubt)
            }
        } catch {
            throw failure(error, builder, isInDoubt: isInDoubt)
        }
        let revision = response.header?.revision.value ?? 0
        let delta = response.responses?.first?.range ?? RangeResponse()
        if response.succeeded == true {
            // What it was built on was the state just before.
            takeOrReadLater(delta, at: revision - 1)
            return revision
        }
        takeOrReadLater(delta, at: revision)
        guard isInDoubt else {
            client.record(.conflict)
            return nil
        }
        // The repeated request has put it there, with nothing else.
        mirror.withLock { $0.noteMark(at: revision) }
        do throws(GatewayFailure) {
            let history = History(of: builder, through: revision, client, configuration)
            return try history.find(until: end)
        } catch {
            throw WriteFailure(error: PreferencesError(inDoubt: error), isPassing: error.isPassing, inDoubt: builder)
        }
    }

    private func failure(
        _ failure: GatewayClient.Failure,
        _ builder: TransactionBuilder,
        isInDoubt: Bool
    ) -> WriteFailure {
        guard failure.isInDoubt || isInDoubt else {
            return WriteFailure(error: PreferencesError(failure.reason), isPassing: failure.reason.isPassing)
        }
        return WriteFailure(
            error: PreferencesError(inDoubt: failure.reason),
            isPassing: failure.reason.isPassing,
            inDoubt: builder
        )
    }

    private func catchUp(until end: ContinuousClock.Instant) throws(WriteFailure) {
        do throws(GatewayClient.Failure) {
            let base = mirror.withLock { $0.revision }
            guard base > 0 else {
                _ = try readAll()
                return
            }
            let delta: RangeResponse = try client.call("/v3/kv/range", within: end - .now) { _ in
                RangeRequest.delta(of: keys, since: base)
            }
            try take(delta, at: delta.header?.revision.value ?? 0)
        } catch {
            throw WriteFailure(error: PreferencesError(error.reason), isPassing: error.reason.isPassing)
        }
    }

    /// Takes what others changed before a write that was refused.
    private func takeOutside() {
        do throws(WriteFailure) {
            try catchUp(until: .now + configuration.attemptTimeout)
        } catch {
            // The watch tells it later.
        }
    }

    /// What is stored is stored, also where it can't be found out just now what others removed.
    private func takeOrReadLater(_ delta: RangeResponse, at revision: Int64) {
        do throws(GatewayClient.Failure) { try take(delta, at: revision) } catch { watch.readAnew() }
    }

    private func commit(
        _ builder: TransactionBuilder,
        of write: WriteQueue.Write,
        at revision: Int64,
        isQueued: Bool
    ) -> Outcome {
        let outside = mirror.withLock { mirror -> [String: PropertyListValue?] in
            let outside = mirror.commit(write.changes, at: revision)
            if builder.mark != nil { mirror.noteMark(at: revision) }
            guard isQueued else { return outside }
            mirror.tellFirst(outside)
            return [:]
        }
        return Outcome(outside: outside, isStored: true)
    }
}
