internal import DurableFile
internal import Preferences

extension EtcdBackend {
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        let write = WriteQueue.Write(changes: changes, condition: condition)
        try checkScopes(of: write)
        defer {
            announceChanges()
            sendSoon()
        }
        return try writeLock.withLock { _ throws(PreferenceError) in
            if mustQueue { return try enqueue(write) }
            // A write that can be queued gets a single attempt's time, as other calls wait for `writeLock`.
            let isQueueing = configuration.offlineWrites == .queueing
            let end = isQueueing ? min(deadline, .now + configuration.attemptTimeout) : deadline
            do throws(WriteFailure) {
                let isStored = try send(write, isQueued: false, until: end)
                // A server has answered, so the watch needn't pause for longer.
                if !monitor.status.isConnected { watch.probeNow() }
                return PreferenceBackendCommit(isStored: isStored)
            } catch {
                guard isQueueing, error.isTemporary || error.isHeld else { throw error.error }
                if error.isHeld { noteRefusal(error.reason) }
                var write = write
                write.inDoubt = error.inDoubt
                do throws(PreferenceError) { return try enqueue(write) } catch let refusal {
                    throw error.inDoubt == nil ? refusal : error.error
                }
            }
        }
    }

    /// The reason why a write isn't stored, or why that is unknown.
    struct WriteFailure: Error {
        /// The error to throw.
        var error: PreferenceError
        /// The error of the last request, while `error` may say that the outcome is unknown.
        var reason: PreferenceError
        /// Whether no server that can store it could be reached.
        var isTemporary = false
        /// Whether it was rejected for a cause that an operator has to remove: the servers have no space, the user has no
        /// permission, or the endpoint is not etcd's gateway.
        var isHeld = false
        /// The request that etcd may have executed.
        var inDoubt: TransactionBuilder?

        init(_ error: PreferenceError, isTemporary: Bool = false) {
            self.error = error
            reason = error
            self.isTemporary = isTemporary
        }

        init(_ reason: GatewayFailure, inDoubt: TransactionBuilder? = nil) {
            let error = PreferenceError(reason)
            self.error = inDoubt == nil ? error : PreferenceError(inDoubt: reason)
            self.reason = error
            self.inDoubt = inDoubt
            isTemporary = reason.isTemporary
            isHeld = !isTemporary && !reason.isRequestError && error.code != .tooLarge
        }
    }

    private enum Plan {
        /// The condition doesn't hold for the mirror; the request, of comparisons alone, checks whether etcd agrees.
        case rejected(TransactionBuilder)
        /// The mirror has the values already; the request, of comparisons alone, checks whether etcd agrees.
        case unchanged(TransactionBuilder)
        /// The schema in the mirror forbids a value; the request, of comparisons alone, checks whether etcd has the same schema, and the
        /// values from which the forbidden one may have been computed.
        case forbidden(TransactionBuilder, PreferenceError)
        case send(TransactionBuilder)

        var builder: TransactionBuilder {
            switch self {
            case .rejected(let builder), .unchanged(let builder), .forbidden(let builder, _), .send(let builder):
                builder
            }
        }
    }

    /// Stores a write; returns false if its condition doesn't hold for the stored values.
    func send(
        _ write: WriteQueue.Write,
        isQueued: Bool,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Bool {
        var inDoubt = write.inDoubt
        do throws(WriteFailure) {
            return try send(write, isQueued: isQueued, until: end, &inDoubt)
        } catch {
            var error = error
            error.inDoubt = error.inDoubt ?? inDoubt
            throw error
        }
    }

    private func send(
        _ write: WriteQueue.Write,
        isQueued: Bool,
        until end: ContinuousClock.Instant,
        _ inDoubt: inout TransactionBuilder?
    ) throws(WriteFailure) -> Bool {
        var isCurrent = try readFirst(until: end)
        var refused: TransactionBuilder?
        var conflicts = 0
        repeat {
            if let builder = inDoubt {
                if let stored = try send(builder, of: write, isRepeated: true, until: end) {
                    commit(builder, at: stored, isQueued: isQueued)
                    return true
                }
                inDoubt = nil
                isCurrent = true
            }
            let plan = try plan(write)
            if refused?.comparesSame(as: plan.builder) ?? false {
                // The answer to the same comparisons explained nothing: the history is another one, and the revisions are wrong.
                try readAgain(until: end)
                (refused, isCurrent) = (nil, true)
                continue
            }
            refused = plan.builder
            switch plan {
            case .send(let builder):
                if let stored = try send(builder, of: write, isRepeated: false, until: end) {
                    commit(builder, at: stored, isQueued: isQueued)
                    return true
                }
                conflicts += 1
                pause(afterConflicts: conflicts, until: end)
            case .rejected(let builder):
                if !isCurrent, try !confirm(builder, until: end) { break }
                return false
            case .unchanged(let builder):
                if !isCurrent, try !confirm(builder, until: end) { break }
                // If the watch has changed a value since, the store must not take its own for the newer one.
                let isCurrent = mirror.withLock { mirror in
                    guard write.isStored(in: mirror) else { return false }
                    if !isQueued { noteApplied() }
                    return true
                }
                if isCurrent { return true }
            case .forbidden(let builder, let error):
                if !isCurrent, try !confirm(builder, until: end) { break }
                throw WriteFailure(error)
            }
            // A comparison failed, and the mirror has the stored values by the answer.
            isCurrent = true
        } while ContinuousClock.now < end
        throw WriteFailure(
            PreferenceError(
                .conflict,
                "other processes kept changing the same values until the timeout; nothing was changed. Try again"
            ),
            isTemporary: isQueued
        )
    }

    /// Waits after several conflicts in a row, so that writers of the same names don't keep each other from being stored; the next
    /// request is planned afterwards, with the changes that the watch has delivered.
    private func pause(afterConflicts count: Int, until end: ContinuousClock.Instant) {
        let pause = RetryPause.pause(afterConflicts: count, random: configuration.random())
        if pause > .zero, .now + pause < end { Pause.sleep(microseconds: UInt32(pause / .microseconds(1))) }
    }

    private func plan(_ write: WriteQueue.Write) throws(WriteFailure) -> Plan {
        let mirror = mirror.withLock { $0 }
        func builder(
            _ changes: [String: PropertyListValue?],
            among names: some Sequence<String>,
            if condition: PreferenceCondition,
            mark: WriteMark?
        ) throws(WriteFailure) -> TransactionBuilder {
            do throws(PreferenceError) {
                return try TransactionBuilder(
                    changes,
                    among: names,
                    if: condition,
                    on: mirror,
                    mark: mark,
                    limit: configuration.maximumOperations
                )
            } catch {
                throw WriteFailure(error)
            }
        }
        // One name for which the condition doesn't hold is enough to compare.
        if let name = write.condition.firstBroken(in: mirror.values) {
            return .rejected(try builder([:], among: [name], if: .none, mark: nil))
        }
        let names = write.changes.keys
        if write.isStored(in: mirror) {
            return .unchanged(try builder([:], among: names, if: write.condition, mark: nil))
        }
        let changes = mirror.missing(write.changes)
        if let error = refusal(of: changes, by: mirror.values[PreferenceStore.schemaName]) {
            return .forbidden(
                try builder([:], among: [PreferenceStore.schemaName], if: write.condition, mark: nil),
                error
            )
        }
        let mark = WriteMark(changes.keys, reason: configuration.reason)
        let compared = comparedNames(of: write, changes, on: mirror)
        return .send(try builder(changes, among: compared, if: write.condition, mark: mark))
    }

    /// Returns whether the comparisons of a request that changes nothing hold; if not, merges what is stored.
    private func confirm(
        _ builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Bool {
        let response: TransactionResponse
        do throws(GatewayClient.Failure) {
            response = try client.call("/v3/kv/txn", within: end - .now) { _ in builder.request(isRepeated: false) }
        } catch {
            throw WriteFailure(error.reason)
        }
        guard response.succeeded != true else { return true }
        try mergeExternalChanges(response, to: builder, until: end)
        return false
    }

    /// Sends a request until it is answered; returns the revision at which it is stored, or `nil` after a conflict.
    private func send(
        _ builder: TransactionBuilder,
        of write: WriteQueue.Write,
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
            isInDoubt = isInDoubt || error.isInDoubt
            if error.reason.isOutOfSpace {
                if let stored = try findStored(builder, of: write, until: end) { return stored }
                if let unmarked = builder.unmarked {
                    return try send(unmarked, of: write, isRepeated: isInDoubt, until: end)
                }
            }
            throw WriteFailure(error.reason, inDoubt: isInDoubt ? builder : nil)
        }
        let revision = response.header?.revision.value ?? 0
        guard response.succeeded != true else {
            if let mark = builder.markKeyValue(at: revision) {
                mirror.withLock { if $0.histories == builder.histories { $0.note(mark: mark, at: revision) } }
            }
            return revision
        }
        guard isInDoubt else {
            client.record(.conflict)
            try mergeExternalChanges(response, to: builder, until: end)
            return nil
        }
        do throws(WriteFailure) {
            if let stored = try find(builder, of: write, response, until: end) { return stored }
            try mergeExternalChanges(response, to: builder, until: end)
            return nil
        } catch {
            // The next write must be based on the stored values, even if their writer is unknown. If they can't be read, the watch
            // delivers them.
            do throws(WriteFailure) { try mergeExternalChanges(response, to: builder, until: end) } catch {}
            throw error
        }
    }

    /// Returns the revision at which a write is stored although etcd answered that it has no space, or `nil` if it isn't.
    ///
    /// A member checks the space before it proposes a transaction, and again after it has stored it; the answer is the same
    /// (`quotaApplierV3.Txn` of etcd 3.4 to 3.6).
    private func findStored(
        _ builder: TransactionBuilder,
        of write: WriteQueue.Write,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Int64? {
        guard builder.mark == nil else {
            guard let newest = try newestMark(after: builder, until: end) else { return nil }
            if builder.isMade(by: newest) { return newest.modRevision.value }
            return try find(builder, through: newest.modRevision.value, until: end)
        }
        let deltas = keys.ranges.map { RangeRequest.delta(of: $0, since: builder.revision) }
        let response = try read(deltas, for: builder, until: end)
        try mergeExternalChanges(response, to: builder, at: response.header?.revision.value ?? 0, until: end)
        let (isUntouched, isDone) = mirror.withLock { (builder.isUntouched(in: $0), write.isStored(in: $0)) }
        if isUntouched { return nil }
        try checkPlain(write)
        return isDone ? response.header?.revision.value : nil
    }

    /// Returns the suite's mark if it was put after the revision that a write is based on.
    private func newestMark(
        after builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> KeyValue? {
        let response = try read([RangeRequest(key: keys.mark)], for: builder, until: end)
        return response.kvs?.first { $0.modRevision.value > builder.base }
    }

    /// Sends reads that find out whether a write is stored; if they fail, the write stays in doubt.
    private func read(
        _ requests: [RangeRequest],
        for builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> RangeResponse {
        do throws(GatewayClient.Failure) {
            return try client.read(requests, within: end - .now)
        } catch {
            throw WriteFailure(error.reason, inDoubt: builder)
        }
    }

    /// Returns the revision at which a write was stored before its repetition came too late, or `nil` if it wasn't stored.
    private func find(
        _ builder: TransactionBuilder,
        of write: WriteQueue.Write,
        _ response: TransactionResponse,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Int64? {
        guard builder.mark == nil else {
            // The repeated request has put the fence at this revision, at which the history ends.
            return try find(builder, through: response.header?.revision.value ?? 0, until: end)
        }
        try mergeExternalChanges(response, to: builder, until: end)
        if !mirror.withLock({ builder.isUntouched(in: $0) }) { try checkPlain(write) }
        return nil
    }

    /// Searches the history for a write, up to a revision at which the mark or the fence was put.
    private func find(
        _ builder: TransactionBuilder,
        through revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Int64? {
        do throws(GatewayFailure) {
            // A store of some scopes searches the history of the mark alone, in which the fence isn't.
            let last = keys.isPartial ? try markRevision(at: revision, until: end) : revision
            if last > builder.base {
                return try History(of: builder, through: last, client, configuration).find(until: end)
            }
            // The write puts the mark, so it isn't stored, unless the mark was removed since.
            if last > 0 { return nil }
            if try markRevision(at: builder.base, until: end) == 0 { return nil }
        } catch {
            // If the history was compacted, the current mark may still be that of the write.
            if !error.isTemporary, let newest = try newestMark(after: builder, until: end), builder.isMade(by: newest) {
                return newest.modRevision.value
            }
            throw WriteFailure(error, inDoubt: builder)
        }
        throw WriteFailure(
            PreferenceError(
                inDoubt: .notUnderstood("the mark that names the process which wrote the names was removed")
            )
        )
    }

    /// Returns the revision of the mark as it was at a revision; zero if there was none.
    private func markRevision(
        at revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(GatewayFailure) -> Int64 {
        var request = RangeRequest(key: keys.mark)
        // Zero would be the current revision.
        request.revision = GatewayInteger(max(revision, 1))
        do throws(GatewayClient.Failure) {
            return try client.read([request], within: end - .now).kvs?.first?.modRevision.value ?? 0
        } catch {
            throw error.reason
        }
    }

    /// Throws if a removal without a mark has a condition: the names are gone, and it is unknown which process removed them.
    private func checkPlain(_ write: WriteQueue.Write) throws(WriteFailure) {
        guard write.isPlain else {
            throw WriteFailure(
                PreferenceError(
                    inDoubt: .notUnderstood(
                        "etcd has no space for the mark that names the process which removed the names"
                    )
                )
            )
        }
    }

    /// Reads the suite if it was never read, as the mirror has no revisions until then; returns whether it did after this call began.
    private func readFirst(until end: ContinuousClock.Instant) throws(WriteFailure) -> Bool {
        do throws(GatewayFailure) { try verifyHistory(until: end) } catch { throw WriteFailure(error) }
        guard mirror.withLock({ $0.revision }) == 0 else { return false }
        let start = ContinuousClock.now
        // The read may be another thread's, or continue one that failed; what has changed since must be noticed.
        do throws(GatewayClient.Failure) { return try readAll(until: end).begin >= start } catch {
            throw WriteFailure(error.reason)
        }
    }

    private func readAgain(until end: ContinuousClock.Instant) throws(WriteFailure) {
        do throws(GatewayClient.Failure) { _ = try readAll(until: end, since: .now) } catch {
            throw WriteFailure(error.reason)
        }
    }

    /// Merges the external changes in the answer to a transaction whose comparisons failed.
    private func mergeExternalChanges(
        _ response: TransactionResponse,
        to builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) {
        try mergeExternalChanges(
            response.joinedRanges(keys.ranges.count),
            to: builder,
            at: response.header?.revision.value ?? 0,
            until: end
        )
    }

    private func mergeExternalChanges(
        _ delta: RangeResponse,
        to builder: TransactionBuilder,
        at revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) {
        do throws(GatewayClient.Failure) {
            try merge(delta, at: revision, of: builder.histories, until: end)
        } catch {
            throw WriteFailure(error.reason)
        }
    }

    private func commit(_ builder: TransactionBuilder, at revision: Int64, isQueued: Bool) {
        let isOfHistory = mirror.withLock { mirror in
            let isOfHistory = mirror.histories == builder.histories
            mirror.commit(builder.changes, at: isOfHistory ? revision : nil)
            if !isQueued { noteApplied(at: isOfHistory ? revision : nil) }
            return isOfHistory
        }
        // The suite may have been read already, before the write was stored, and must be read again.
        if !isOfHistory { watch.endHistory() }
    }
}

extension PreferenceCondition {
    /// Returns a name for which the condition doesn't hold, or `nil` if it holds.
    fileprivate func firstBroken(in contents: [String: PropertyListValue]) -> String? {
        if let name = values.first(where: { contents[$0.key] != $0.value })?.key { return name }
        guard isComplete else { return nil }
        let noOther = PreferenceCondition(values: [:], isComplete: true, prefix: prefix)
        return contents.first { values[$0.key] == nil && !noOther.holds(for: [$0.key: $0.value]) }?.key
    }
}
