internal import DurableFile
internal import Preferences

extension EtcdBackend {
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        defer {
            announceChanges()
            sendSoon()
        }
        return try turn.withLock { _ throws(PreferencesError) in
            let write = WriteQueue.Write(changes: changes, condition: condition)
            if mustQueue { return try enqueue(write) }
            // What may wait need not be tried for as long as the call may take: others wait for their turn.
            let isQueueing = configuration.offlineWrites == .queueing
            let end = isQueueing ? min(deadline, .now + configuration.attemptTimeout) : deadline
            do throws(WriteFailure) {
                let outcome = try send(write, isQueued: false, until: end)
                return PreferenceBackendCommit(outside: visible(outcome.outside), isStored: outcome.isStored)
            } catch {
                guard isQueueing, error.isPassing || error.isHeld else { throw error.error }
                if error.isHeld { noteRefusal(error.reason) }
                var write = write
                write.inDoubt = error.inDoubt
                do throws(PreferencesError) { return try enqueue(write) } catch let refusal {
                    throw error.inDoubt == nil ? refusal : error.error
                }
            }
        }
    }

    /// Why a write is not stored, or may not be.
    struct WriteFailure: Error {
        var error: PreferencesError
        /// Why the last request failed; `error` may say that the outcome is unknown.
        var reason: PreferencesError
        /// Whether no server could be reached that can store it.
        var isPassing = false
        /// Whether it was refused for no fault of its own, until somebody acts: the servers have no space left, the user has no
        /// permission, or something else than etcd answers.
        var isHeld = false
        /// The request that may have been done.
        var inDoubt: TransactionBuilder?

        init(_ error: PreferencesError, isPassing: Bool = false) {
            self.error = error
            reason = error
            self.isPassing = isPassing
        }

        init(_ reason: GatewayFailure, inDoubt: TransactionBuilder? = nil) {
            let error = PreferencesError(reason)
            self.error = inDoubt == nil ? error : PreferencesError(inDoubt: reason)
            self.reason = error
            self.inDoubt = inDoubt
            isPassing = reason.isPassing
            isHeld = !isPassing && !reason.isVerdict && error.code != .tooLarge
        }
    }

    struct Outcome {
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
    func send(
        _ write: WriteQueue.Write,
        isQueued: Bool,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Outcome {
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
    ) throws(WriteFailure) -> Outcome {
        var isCurrent = try readFirst(until: end)
        repeat {
            if let builder = inDoubt {
                if let stored = try send(builder, of: write, isRepeated: true, until: end) {
                    return commit(builder, at: stored, isQueued: isQueued)
                }
                inDoubt = nil
                isCurrent = true
            }
            switch try plan(write) {
            case .send(let builder):
                if let stored = try send(builder, of: write, isRepeated: false, until: end) {
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
            PreferencesError(.conflict, "others kept changing the same names for too long; nothing was changed"),
            isPassing: isQueued
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
                throw WriteFailure(error)
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
            throw WriteFailure(error.reason)
        }
        guard response.succeeded != true else { return true }
        try takeOutside(response, until: end)
        return false
    }

    /// Sends a request until it is answered; returns the revision at which it is stored, or nil if it was overtaken.
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
        guard response.succeeded != true else { return revision }
        guard isInDoubt else {
            client.record(.conflict)
            try takeOutside(response, until: end)
            return nil
        }
        do throws(WriteFailure) {
            if let stored = try find(builder, of: write, response, until: end) { return stored }
            try takeOutside(response, until: end)
            return nil
        } catch {
            // Known or not who stored it, the next write must be based on what is stored.
            do throws(WriteFailure) { try takeOutside(response, until: end) } catch {}  // the watch brings it
            throw error
        }
    }

    /// Returns the revision at which a write is stored of which etcd says that there is no space for it; nil if it isn't.
    ///
    /// A member looks for space before it proposes a transaction, and again after it has stored it: then with the same answer
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
        let response: RangeResponse = try read(.delta(of: keys, since: builder.revision), for: builder, until: end)
        try takeOutside(response, at: response.header?.revision.value ?? 0, until: end)
        let (isUntouched, isDone) = mirror.withLock { (builder.isUntouched(in: $0), write.isStored(in: $0.values)) }
        if isUntouched { return nil }
        try checkPlain(write)
        return isDone ? response.header?.revision.value : nil
    }

    /// Returns the mark if it was put after a write was built.
    private func newestMark(
        after builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> KeyValue? {
        let response: RangeResponse = try read(RangeRequest(key: keys.mark), for: builder, until: end)
        return response.kvs?.first { $0.modRevision.value > builder.base }
    }

    /// Reads what tells whether a write is stored; it stays in doubt if that fails.
    private func read(
        _ request: RangeRequest,
        for builder: TransactionBuilder,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> RangeResponse {
        do throws(GatewayClient.Failure) {
            return try client.call("/v3/kv/range", within: end - .now) { _ in request }
        } catch {
            throw WriteFailure(error.reason, inDoubt: builder)
        }
    }

    /// Returns the revision at which a repeated write was stored before it was found too late; nil if it wasn't.
    private func find(
        _ builder: TransactionBuilder,
        of write: WriteQueue.Write,
        _ response: TransactionResponse,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Int64? {
        guard builder.mark == nil else {
            // The repeated request has put the fence at this revision, the end of the history.
            return try find(builder, through: response.header?.revision.value ?? 0, until: end)
        }
        try takeOutside(response, until: end)
        if !mirror.withLock({ builder.isUntouched(in: $0) }) { try checkPlain(write) }
        return nil
    }

    /// Looks for a write in the history up to a revision at which the mark or the fence was put.
    private func find(
        _ builder: TransactionBuilder,
        through revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) -> Int64? {
        let history = History(of: builder, through: revision, client, configuration)
        do throws(GatewayFailure) { return try history.find(until: end) } catch {
            // Where the history was compacted, what was put last is still there.
            if !error.isPassing, let newest = try newestMark(after: builder, until: end), builder.isMade(by: newest) {
                return newest.modRevision.value
            }
            throw WriteFailure(error, inDoubt: builder)
        }
    }

    /// Throws unless a removal without a mark or a fence has done its work whoever removed the names.
    private func checkPlain(_ write: WriteQueue.Write) throws(WriteFailure) {
        guard write.isPlain else {
            throw WriteFailure(
                PreferencesError(
                    inDoubt: .notUnderstood(
                        "the names were removed, and without space for a mark it can't be told by whom"
                    )
                )
            )
        }
    }

    /// Reads all if nothing was read yet, since only then the mirror's revisions are those of etcd; returns whether it did.
    private func readFirst(until end: ContinuousClock.Instant) throws(WriteFailure) -> Bool {
        guard mirror.withLock({ $0.revision }) == 0 else { return false }
        do throws(GatewayClient.Failure) {
            _ = try readAll(until: end)
            return true
        } catch {
            throw WriteFailure(error.reason)
        }
    }

    /// Takes what others changed from the answer to a request of which a comparison failed.
    private func takeOutside(
        _ response: TransactionResponse,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) {
        let delta = response.responses?.first?.range ?? RangeResponse()
        try takeOutside(delta, at: response.header?.revision.value ?? 0, until: end)
    }

    private func takeOutside(
        _ delta: RangeResponse,
        at revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(WriteFailure) {
        do throws(GatewayClient.Failure) {
            try take(delta, at: revision, until: end)
        } catch {
            throw WriteFailure(error.reason)
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
