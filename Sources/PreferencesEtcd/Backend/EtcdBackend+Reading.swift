internal import Preferences

extension EtcdBackend {
    struct Reading {
        /// A read of the whole suite.
        struct Completed {
            var revision: Int64
            /// The time of its first request; the values may have changed since.
            var begin: ContinuousClock.Instant
        }

        var isRunning = false
        /// The number of reads that were completed.
        var count = 0
        var last: Completed?
        /// A read that failed after some pages, while the mirror has no values of etcd.
        var unfinished: SuiteRead?
    }

    /// The age up to which an unfinished read is continued, and another thread's read is used by a call that allows that.
    static let longestAge = Duration.seconds(30)

    /// Reads the whole suite into the mirror until a deadline, or waits for another thread that does so.
    ///
    /// If the first read of all fails, the next continues with the missing page.
    ///
    /// - Parameter begin: The time before which the read must not have begun.
    func readAll(
        until end: ContinuousClock.Instant,
        since begin: ContinuousClock.Instant = .now - longestAge
    ) throws(GatewayClient.Failure) -> Reading.Completed {
        try readAll(since: begin) { end }
    }

    /// Reads the whole suite into the mirror; fails if a page takes longer than `timeout`.
    func readAll(within timeout: Duration) throws(GatewayClient.Failure) -> Reading.Completed {
        try readAll(since: .now - Self.longestAge) { .now + timeout }
    }

    /// Reads and merges what was put or removed since the mirror's revision, which the watch has yet to deliver; the whole suite if it was
    /// not read yet or the cluster was restored.
    func readChanges(until end: ContinuousClock.Instant) throws(GatewayClient.Failure) {
        let (since, place, isVerified) = mirror.withLock { ($0.revision, $0.place, $0.isVerified) }
        let begin = ContinuousClock.now
        if since > 0, isVerified {
            let delta = try client.read(.delta(of: keys.names, since: since), within: end - .now)
            let revision = delta.header?.revision.value ?? 0
            if revision >= place.newest { return try merge(delta, at: revision, of: place.histories, until: end) }
        }
        _ = try readAll(until: end, since: begin)
    }

    private func readAll(
        since begin: ContinuousClock.Instant,
        _ end: () -> ContinuousClock.Instant
    ) throws(GatewayClient.Failure) -> Reading.Completed {
        let waitEnd = end()
        let count = reading.withLock { $0.count }
        let other: Result<Reading.Completed, GatewayFailure>? = reading.wait { reading in
            if reading.count > count, let last = reading.last, last.begin >= begin { return .done(.success(last)) }
            guard reading.isRunning else {
                reading.isRunning = true
                return .done(nil)
            }
            let rest = waitEnd - .now
            return rest > .zero
                ? .until(rest)
                : .done(
                    .failure(
                        .transient("another thread is still reading the suite, and the time for this call is over")
                    )
                )
        }
        switch other {
        case .success(let completed): return completed
        case .failure(let failure): throw GatewayClient.Failure(reason: failure, isInDoubt: false)
        case nil: break
        }
        var completed: Reading.Completed?
        defer {
            reading.signal { reading in
                reading.isRunning = false
                guard let completed else { return }
                reading.count += 1
                reading.last = completed
            }
        }
        let result = try readAlone(since: begin, end)
        completed = result
        return result
    }

    private func readAlone(
        since begin: ContinuousClock.Instant,
        _ end: () -> ContinuousClock.Instant
    ) throws(GatewayClient.Failure) -> Reading.Completed {
        // Two clusters might answer in turn, so the number of attempts is limited.
        for attempt in 1...3 {
            var (unfinished, known, histories) = mirror.withLock { mirror in
                (reading.withLock { exchange(&$0.unfinished, with: nil) }, mirror.newest, mirror.histories)
            }
            if unfinished.map({ $0.begin < begin }) ?? false { unfinished = nil }
            var read = unfinished ?? SuiteRead(keys, known: known)
            guard try finish(&read, of: histories, end) else { continue }
            if read.revision < read.known {
                noteOtherHistory()
                histories = forgetRevisions()
            }
            // If the mirror advanced during the requests, the answer is out of date and the suite is read again. Others may change it
            // faster than it can be read; then the mirror, which is complete up to a newer revision of the same history, is enough.
            let revision: Int64? = mirror.withLock { mirror in
                guard histories == mirror.histories else { return nil }
                if mirror.replace(with: read.keyValues, at: read.revision, of: read.cluster) {
                    mirror.note(mark: read.mark, at: read.revision)
                    return read.revision
                }
                return attempt == 3 ? mirror.revision : nil
            }
            if let revision { return Reading.Completed(revision: revision, begin: read.begin) }
        }
        throw GatewayClient.Failure(
            reason: .transient(
                "the history changed during each attempt to read the suite; the endpoints may lead to different clusters"
            ),
            isInDoubt: false
        )
    }

    /// Requests the missing pages; returns false if the read can't be continued, and has to start again.
    private func finish(
        _ read: inout SuiteRead,
        of histories: Int,
        _ end: () -> ContinuousClock.Instant
    ) throws(GatewayClient.Failure) -> Bool {
        while !read.isComplete {
            let request = read.request
            do throws(GatewayClient.Failure) {
                let page: RangeResponse = try client.call("/v3/kv/range", within: end() - .now, isPage: true) { _ in
                    request
                }
                guard read.add(page), histories == mirror.withLock({ $0.histories }) else { return false }
            } catch {
                if read.isBegun, error.reason.isCompacted { return false }
                // A store with values continues with these, and might not read the suite again for a long time.
                mirror.withLock { [read] mirror in
                    guard mirror.revision == 0, read.isBegun, histories == mirror.histories else { return }
                    reading.withLock { $0.unfinished = read }
                }
                throw error
            }
        }
        return true
    }

    /// Drops what depends on the cluster's history, as another one has answered; returns the number of histories that have ended.
    @discardableResult
    func forgetRevisions() -> Int {
        mirror.withLock { mirror in
            mirror.forgetRevisions()
            reading.withLock { $0.unfinished = nil }
            recordedRevision.withLock { $0 = 0 }
            return mirror.histories
        }
    }

    /// Checks, before the first write after a start from the cache, whether its history is the cluster's; if not, forgets the revisions.
    func verifyHistory(until end: ContinuousClock.Instant) throws(GatewayFailure) {
        let (isVerified, place) = mirror.withLock { ($0.isVerified, $0.place) }
        guard !isVerified else { return }
        func ask(_ request: RangeRequest) throws(GatewayFailure) -> RangeResponse {
            do throws(GatewayClient.Failure) {
                return try client.call("/v3/kv/range", within: end - .now) { _ in request }
            } catch { throw error.reason }
        }
        let newest = try ask(RangeRequest(key: keys.mark))
        // The answer of another cluster has made the store forget the revisions already.
        guard !mirror.withLock({ $0.isVerified }) else { return }
        let history = place.history(of: newest.kvs?.first, at: newest.header?.revision.value ?? 0)
        guard try isSame(history, as: place, ask) else {
            forgetRevisions()
            watch.endHistory()
            return
        }
        mirror.withLock { $0.verify() }
    }

    /// Records that the cluster was restored or replaced; it is reported after the call that found it, once a minute at most,
    /// as two clusters might answer in turn.
    func noteOtherHistory() {
        let isDue = otherHistoryReported.withLock { reported in
            guard reported.map({ .now - $0 > .seconds(60) }) ?? true else { return false }
            reported = .now
            return true
        }
        guard isDue else { return }
        mirror.withLock {
            $0.note(
                PreferenceError(
                    .notDurable,
                    "etcd was restored from an older state or replaced by another cluster, so changes that it had stored may be "
                        + "lost; the values are read again. If the endpoints lead to different clusters, correct them"
                )
            )
        }
    }

    /// Merges the names that were put since the mirror's revision; if the count shows removals, reads which names remain.
    ///
    /// If the history has ended since the request, the whole suite is read: names that weren't put since a revision of that history may
    /// have other values.
    ///
    /// - Parameter histories: The number of histories that had ended at the request.
    func merge(
        _ delta: RangeResponse,
        at revision: Int64,
        of histories: Int,
        until end: ContinuousClock.Instant
    ) throws(GatewayClient.Failure) {
        func merge(_ change: (inout Mirror) -> Bool) throws(GatewayClient.Failure) -> Bool {
            if let isMerged = mirror.withLock({ $0.histories == histories ? change(&$0) : nil }) { return isMerged }
            _ = try readAll(until: end, since: .now)
            return true
        }
        guard try !merge({ $0.merge(delta, at: revision) }) else { return }
        let names: RangeResponse
        do throws(GatewayClient.Failure) {
            names = try client.read(.names(of: keys.names, at: revision), within: end - .now)
        } catch {
            guard error.reason.isCompacted else { throw error }
            // The read of another thread may be older than the answer.
            _ = try readAll(until: end, since: .now)
            return
        }
        _ = try merge { mirror in
            mirror.merge(delta, keeping: Set((names.kvs ?? []).map(\.key)), at: revision)
            return true
        }
    }
}
