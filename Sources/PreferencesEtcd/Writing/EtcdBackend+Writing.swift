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
                guard configuration.offlineWrites == .queueing, error.isPassing else { throw error.error }
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
        /// The condition is not true of the mirror, as the request of comparisons confirms.
        case refused(TransactionBuilder)
        /// The mirror holds the values already, as the request of comparisons confirms.
        case unchanged(TransactionBuilder)
        case send(TransactionBuilder)
    }

    /// Stores a write, or finds that its condition is not true of what is stored.
    ///
    /// Of one that was queued what others changed stays pending; there is no answer to return it with.
    private func send(_ write: WriteQueue.Write, isQueued: Bool) throws(WriteFailure) -> Outcome {
        let end = ContinuousClock.now + configuration.timeout
        var inDoubt = write.inDoubt
        var isCurrent = try readFirst()
        repeat {
            if let builder = inDoubt {
                inDoubt = nil
                if let stored = try send(builder, isRepeated: true, until: end) {
                    return commit(builder, at: stored, isQueued: isQueued)
                }
                isCurrent = true
            }
            switch try plan(write) {
            case .send(let builder):
                if let stored = try send(builder, isRepeated: false, until: end) {
                    return commit(builder, at: stored, isQueued: isQueued)
                }
            case .refused(let builder):
                if !isCurrent, try !confirm(builder, until: end) { break }
                return Outcome(outside: isQueued ? [:] : mirror.withLock { $0.drain() }, isStored: false)
            case .unchanged(let builder):
                if !isCurrent, try !confirm(builder, until: end) { break }
                // Of what the watch took in since, the store must not think that its own value came later.
                let outside = mirror.withLock { mirror -> [String: PropertyListValue?]? in
                    guard write.isStored(in: mirror.values) else { return nil }
                    return isQueued ? [:] : mirror.drain()
                }
                if let outside { return Outcome(outside: outside, isStored: true) }
            }
            // A comparison failed, and the answer told what is stored.
            isCurrent = true
        } while ContinuousClock.now < end
        throw WriteFailure(
            error: PreferencesError(.conflict, "others kept changing the same names for too long; nothing was changed")
        )
    }

    private func plan(_ write: WriteQueue.Write) throws(WriteFailure) -> Plan {
        let mirror = mirror.withLock { $0 }
        func builder(
            _ changes: [String: PropertyListValue?],
            among names: some Sequence<String>,
            if condition: PreferenceCondition,
            mark: WriteMark?
        ) throws(WriteFailure) -> TransactionBuilder {
            do throws(PreferencesError) {
                return try TransactionBuilder(
                    changes,
                    among: names,
                    if: condition,
                    on: mirror,
                    mark: mark,
                    limit: configuration.maximumOperations
                )
            } catch {
                throw WriteFailure(error: error)
            }
        }
        // One name whose value breaks the condition tells that as well as all.
        if let name = write.condition.firstBroken(in: mirror.values) {
            return .refused(try builder([:], among: [name], if: .none, mark: nil))
        }
        let names = write.changes.keys
        if write.isStored(in: mirror.values) {
            return .unchanged(try builder([:], among: names, if: write.condition, mark: nil))
        }
        let changes = write.changes.filter { mirror.values[$0.key] != $0.value }
        return .send(try builder(changes, among: names, if: write.condition, mark: WriteMark()))
    }

    /// Returns whether the keys of a request that changes nothing are as the mirror has them.
    private func confirm(
        _ builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Bool {
        let response: TransactionResponse
        do throws(GatewayClient.Failure) {
            response = try client.call("/v3/kv/txn", within: end - .now) { _ in builder.request(isRepeated: false) }
        } catch {
            throw WriteFailure(error: PreferencesError(error.reason), isPassing: error.reason.isPassing)
        }
        guard response.succeeded != true else { return true }
        try takeOutside(response)
        return false
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
        guard response.succeeded != true else { return revision }
        guard isInDoubt else {
            client.record(.conflict)
            try takeOutside(response)
            return nil
        }
        // The repeated request has put the fence at this revision, the end of the history.
        do throws(GatewayFailure) {
            let history = History(of: builder, through: revision, client, configuration)
            if let stored = try history.find(until: end) { return stored }
        } catch {
            throw WriteFailure(error: PreferencesError(inDoubt: error), isPassing: error.isPassing, inDoubt: builder)
        }
        try takeOutside(response)
        return nil
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

    /// Reads all if nothing was read yet, since only then the mirror's revisions are those of etcd; returns whether it did.
    private func readFirst() throws(WriteFailure) -> Bool {
        guard mirror.withLock({ $0.revision }) == 0 else { return false }
        do throws(GatewayClient.Failure) {
            _ = try readAll()
            return true
        } catch {
            throw WriteFailure(error: PreferencesError(error.reason), isPassing: error.reason.isPassing)
        }
    }

    /// Takes what others changed from the answer to a request of which a comparison failed.
    private func takeOutside(_ response: TransactionResponse) throws(WriteFailure) {
        let delta = response.responses?.first?.range ?? RangeResponse()
        do throws(GatewayClient.Failure) {
            try take(delta, at: response.header?.revision.value ?? 0)
        } catch {
            throw WriteFailure(error: PreferencesError(error.reason), isPassing: error.reason.isPassing)
        }
    }

    private func commit(_ builder: TransactionBuilder, at revision: Int64, isQueued: Bool) -> Outcome {
        let outside = mirror.withLock { mirror -> [String: PropertyListValue?] in
            let outside = mirror.commit(builder.changes, at: revision)
            guard isQueued else { return outside }
            mirror.tellFirst(outside)
            return [:]
        }
        return Outcome(outside: outside, isStored: true)
    }
}

extension PreferenceCondition {
    /// Returns a name of which the condition is not true, or nil if it holds.
    fileprivate func firstBroken(in contents: [String: PropertyListValue]) -> String? {
        if let name = values.first(where: { contents[$0.key] != $0.value })?.key { return name }
        guard isComplete else { return nil }
        let noOther = PreferenceCondition(values: [:], isComplete: true, prefix: prefix)
        return contents.first { values[$0.key] == nil && !noOther.holds(for: [$0.key: $0.value]) }?.key
    }
}
