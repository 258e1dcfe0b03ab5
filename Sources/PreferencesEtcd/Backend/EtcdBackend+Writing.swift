internal import Preferences

extension EtcdBackend {
    /// The changes of a body, and the names that it has read; nil for all.
    struct Write {
        var changes: [String: PropertyListValue?]
        var reads: Set<String>?

        /// Whether it changes the names whatever they have.
        var isPlain: Bool { reads?.isEmpty ?? false }
        /// The names that must be as the body saw them; nil for all.
        var names: Set<String>? { reads?.union(changes.keys) }
    }

    private enum Plan {
        /// The mirror has the values already; the request, of comparisons alone, checks whether etcd agrees.
        case unchanged(TransactionBuilder)
        /// The schema in the mirror forbids a value; the request, of comparisons alone, checks whether etcd has the same schema, and the
        /// values from which the forbidden one may have been computed.
        case forbidden(TransactionBuilder, PreferenceError)
        case send(TransactionBuilder)

        var builder: TransactionBuilder {
            switch self {
            case .unchanged(let builder), .forbidden(let builder, _), .send(let builder): builder
            }
        }
    }

    /// The state of a call of `change`.
    private struct Attempts {
        let end: ContinuousClock.Instant
        /// Whether the mirror has the values of etcd as they were after the call began.
        var isCurrent = false
        /// The last request whose comparisons failed.
        var refused: TransactionBuilder?
        var conflicts = 0
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        try checkThreadMayBlock()
        defer { announceChanges() }
        var attempts = Attempts(end: .now + deadline.remaining)
        attempts.isCurrent = try readFirst(until: attempts.end)
        repeat {
            let (snapshot, update) = mirror.withLock { mirror in
                let update = mirror.drainChanges()
                return (mirror, update)
            }
            var write = Write(changes: [:])
            do {
                for change in try body(update) { write.changes.updateValue(change.value, forKey: change.name) }
            } catch {
                // What it has read may be old.
                guard !attempts.isCurrent, hasLearned(until: attempts.end) else { throw error }
                attempts.isCurrent = true
                continue
            }
            write.reads = host.withLock { $0 }.flatMap { $0.reads() }
            if write.names?.isEmpty ?? false { return }
            if try store(write, on: snapshot, &attempts) {
                // A server has answered, so the watch needn't pause for longer.
                if !monitor.status.isConnected { watch.probeNow() }
                return
            }
        } while ContinuousClock.now < attempts.end
        throw PreferenceError(
            .conflict,
            "other processes kept changing the same values until the timeout; nothing was changed. Try again"
        )
    }

    /// Reads what others have changed; returns whether there is anything that the store hasn't got.
    private func hasLearned(until end: ContinuousClock.Instant) -> Bool {
        do throws(GatewayClient.Failure) { try readChanges(until: end) } catch { return false }
        return mirror.withLock { $0.hasChanges }
    }

    /// Makes one attempt; returns false after a conflict, when the mirror has what etcd has.
    private func store(
        _ write: Write,
        on snapshot: Mirror,
        _ attempts: inout Attempts
    ) throws(PreferenceError) -> Bool {
        let end = attempts.end
        let plan = try plan(write, on: snapshot)
        if attempts.refused?.comparesSame(as: plan.builder) ?? false {
            // The answer to the same comparisons explained nothing: the history is another one, and the revisions are wrong.
            try readAgain(until: end)
            (attempts.refused, attempts.isCurrent) = (nil, true)
            return false
        }
        attempts.refused = plan.builder
        defer { attempts.isCurrent = true }
        switch plan {
        case .send(let builder):
            if let stored = try send(builder, of: write, isRepeated: false, until: end) {
                commit(builder, at: stored)
                return true
            }
            attempts.conflicts += 1
            pause(afterConflicts: attempts.conflicts, until: end)
            return false
        case .unchanged(let builder):
            return attempts.isCurrent ? true : try confirm(builder, until: end)
        case .forbidden(let builder, let error):
            if !attempts.isCurrent, try !confirm(builder, until: end) { return false }
            throw error
        }
    }

    /// Waits after several conflicts in a row, so that writers of the same names don't keep each other from being stored; the next
    /// request is planned afterwards, with the changes that the watch has delivered.
    private func pause(afterConflicts count: Int, until end: ContinuousClock.Instant) {
        let pause = RetryPause.pause(afterConflicts: count, random: configuration.random())
        if pause > .zero, .now + pause < end { pauseThread(for: pause) }
    }

    private func plan(_ write: Write, on mirror: Mirror) throws(PreferenceError) -> Plan {
        func builder(
            _ changes: [String: PropertyListValue?] = [:],
            among names: Set<String>?,
            mark: WriteMark? = nil
        ) throws(PreferenceError) -> TransactionBuilder {
            try TransactionBuilder(
                changes,
                among: names,
                on: mirror,
                mark: mark,
                limit: configuration.maximumOperations
            )
        }
        let changes = mirror.missing(write.changes)
        if changes.isEmpty { return .unchanged(try builder(among: write.names)) }
        if let error = refusal(of: changes, by: mirror.values[PreferenceStore.schemaName]) {
            return .forbidden(try builder(among: write.reads?.union([PreferenceStore.schemaName])), error)
        }
        let mark = WriteMark(changes.keys, reason: configuration.reason)
        return .send(try builder(changes, among: comparedNames(of: write, changes, on: mirror), mark: mark))
    }

    /// Returns whether the comparisons of a request that changes nothing hold; if not, merges what is stored.
    private func confirm(
        _ builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) -> Bool {
        let response: TransactionResponse
        do throws(GatewayClient.Failure) {
            response = try client.call("/v3/kv/txn", within: end - .now) { _ in builder.request(isRepeated: false) }
        } catch {
            throw PreferenceError(error.reason)
        }
        guard response.succeeded != true else { return true }
        try mergeExternalChanges(response, to: builder, until: end)
        return false
    }

    /// Sends a request until it is answered; returns the revision at which it is stored, or `nil` after a conflict.
    private func send(
        _ builder: TransactionBuilder,
        of write: Write,
        isRepeated: Bool,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) -> Int64? {
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
            throw isInDoubt ? PreferenceError(inDoubt: error.reason) : PreferenceError(error.reason)
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
        do throws(PreferenceError) {
            if let stored = try find(builder, of: write, response, until: end) { return stored }
            try mergeExternalChanges(response, to: builder, until: end)
            return nil
        } catch {
            // The next write must be based on the stored values, even if their writer is unknown. If they can't be read, the watch
            // delivers them.
            do throws(PreferenceError) { try mergeExternalChanges(response, to: builder, until: end) } catch {}
            throw error
        }
    }

    /// Returns the revision at which a write is stored although etcd answered that it has no space, or `nil` if it isn't.
    ///
    /// A member checks the space before it proposes a transaction, and again after it has stored it; the answer is the same
    /// (`quotaApplierV3.Txn` of etcd 3.4 to 3.6).
    private func findStored(
        _ builder: TransactionBuilder,
        of write: Write,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) -> Int64? {
        guard builder.mark == nil else {
            guard let newest = try newestMark(after: builder, until: end) else { return nil }
            if builder.isMade(by: newest) { return newest.modRevision.value }
            return try find(builder, through: newest.modRevision.value, until: end)
        }
        let response = try read(.delta(of: keys.names, since: builder.revision), until: end)
        try mergeExternalChanges(response, to: builder, at: response.header?.revision.value ?? 0, until: end)
        let (isUntouched, isDone) = mirror.withLock { (builder.isUntouched(in: $0), $0.missing(write.changes).isEmpty) }
        if isUntouched { return nil }
        try checkPlain(write)
        return isDone ? response.header?.revision.value : nil
    }

    /// Returns the suite's mark if it was put after the revision that a write is based on.
    private func newestMark(
        after builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) -> KeyValue? {
        let response = try read(RangeRequest(key: keys.mark), until: end)
        return response.kvs?.first { $0.modRevision.value > builder.base }
    }

    /// Sends a read that finds out whether a write is stored; if it fails, the write stays in doubt.
    private func read(
        _ request: RangeRequest,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) -> RangeResponse {
        do throws(GatewayClient.Failure) { return try client.read(request, within: end - .now) } catch {
            throw PreferenceError(inDoubt: error.reason)
        }
    }

    /// Returns the revision at which a write was stored before its repetition came too late, or `nil` if it wasn't stored.
    private func find(
        _ builder: TransactionBuilder,
        of write: Write,
        _ response: TransactionResponse,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) -> Int64? {
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
    ) throws(PreferenceError) -> Int64? {
        guard revision > builder.base else { return nil }
        do throws(GatewayFailure) {
            return try History(of: builder, through: revision, client, configuration).find(until: end)
        } catch {
            // If the history was compacted, the current mark may still be that of the write.
            if !error.isTemporary, let newest = try newestMark(after: builder, until: end), builder.isMade(by: newest) {
                return newest.modRevision.value
            }
            throw PreferenceError(inDoubt: error)
        }
    }

    /// Throws if a removal without a mark depends on what was read: the names are gone, and it is unknown which process removed them.
    private func checkPlain(_ write: Write) throws(PreferenceError) {
        guard write.isPlain else {
            throw PreferenceError(
                inDoubt: .notUnderstood("etcd has no space for the mark that names the process which removed the names")
            )
        }
    }

    /// Reads the suite if it was never read, as the mirror has no revisions until then; returns whether it did after this call began.
    private func readFirst(until end: ContinuousClock.Instant) throws(PreferenceError) -> Bool {
        do throws(GatewayFailure) { try verifyHistory(until: end) } catch { throw PreferenceError(error) }
        guard mirror.withLock({ $0.revision }) == 0 else { return false }
        let start = ContinuousClock.now
        // The read may be another thread's, or continue one that failed; what has changed since must be noticed.
        do throws(GatewayClient.Failure) { return try readAll(until: end).begin >= start } catch {
            throw PreferenceError(error.reason)
        }
    }

    private func readAgain(until end: ContinuousClock.Instant) throws(PreferenceError) {
        do throws(GatewayClient.Failure) { _ = try readAll(until: end, since: .now) } catch {
            throw PreferenceError(error.reason)
        }
    }

    /// Merges the external changes in the answer to a transaction whose comparisons failed.
    private func mergeExternalChanges(
        _ response: TransactionResponse,
        to builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(PreferenceError) {
        try mergeExternalChanges(
            response.joinedRanges(1),
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
    ) throws(PreferenceError) {
        do throws(GatewayClient.Failure) {
            try merge(delta, at: revision, of: builder.histories, until: end)
        } catch {
            throw PreferenceError(error.reason)
        }
    }

    private func commit(_ builder: TransactionBuilder, at revision: Int64) {
        let isOfHistory = mirror.withLock { mirror in
            let isOfHistory = mirror.histories == builder.histories
            mirror.commit(builder.changes, at: isOfHistory ? revision : nil)
            if isOfHistory, builder.comparesAll { mirror.advance(to: revision) }
            return isOfHistory
        }
        // The suite may have been read already, before the write was stored, and must be read again.
        if !isOfHistory { watch.endHistory() }
    }
}
