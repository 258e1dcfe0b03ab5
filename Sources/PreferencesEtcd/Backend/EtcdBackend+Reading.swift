internal import DurableFile
internal import Preferences

extension EtcdBackend {
    struct Reading {
        var isRunning = false
        /// The number of reads that were completed, and the revision of the last one.
        var completed = (count: 0, revision: 0 as Int64)
        /// A read that failed after some pages.
        var unfinished: SuiteRead?
        /// The number of histories of the cluster that ended.
        var histories = 0
    }

    /// Reads the whole suite into the mirror until a deadline, or waits for another thread that does so; returns the revision.
    ///
    /// If it fails, the next read continues with the missing page.
    func readAll(until end: ContinuousClock.Instant) throws(GatewayClient.Failure) -> Int64 {
        try readAll { end }
    }

    /// Reads the whole suite into the mirror, and returns the revision; fails if a page takes longer than `timeout`.
    func readAll(within timeout: Duration) throws(GatewayClient.Failure) -> Int64 {
        try readAll { .now + timeout }
    }

    private func readAll(_ end: () -> ContinuousClock.Instant) throws(GatewayClient.Failure) -> Int64 {
        let waitEnd = end()
        let count = reading.withLock { $0.completed.count }
        let other: Result<Int64, GatewayFailure>? = reading.wait { reading in
            if reading.completed.count > count { return .done(.success(reading.completed.revision)) }
            guard reading.isRunning else {
                reading.isRunning = true
                return .done(nil)
            }
            let rest = waitEnd - .now
            return rest > .zero ? .until(rest) : .done(.failure(.unreachable("the suite is still being read")))
        }
        switch other {
        case .success(let revision): return revision
        case .failure(let failure): throw GatewayClient.Failure(reason: failure, isInDoubt: false)
        case nil: break
        }
        var completed: Int64?
        defer {
            reading.signal { reading in
                reading.isRunning = false
                if let completed { reading.completed = (reading.completed.count + 1, completed) }
            }
        }
        let revision = try readAlone(end)
        completed = revision
        return revision
    }

    private func readAlone(_ end: () -> ContinuousClock.Instant) throws(GatewayClient.Failure) -> Int64 {
        while true {
            let unfinished = reading.withLock { exchange(&$0.unfinished, with: nil) }
            var read = unfinished ?? SuiteRead(keys, known: mirror.withLock { $0.newest })
            guard try finish(&read, end) else { continue }
            if read.revision < read.known {
                noteOtherHistory()
                forgetRevisions()
            }
            // If the mirror advanced during the request, the answer is out of date and the suite is read again.
            let isReplaced = mirror.withLock { mirror in
                guard mirror.replace(with: read.keyValues, at: read.revision) else { return false }
                mirror.note(mark: read.mark, at: read.revision)
                return true
            }
            if isReplaced { return read.revision }
        }
    }

    /// Requests the missing pages; returns false if the read can't be continued, and has to start again.
    private func finish(
        _ read: inout SuiteRead,
        _ end: () -> ContinuousClock.Instant
    ) throws(GatewayClient.Failure) -> Bool {
        let histories = reading.withLock { $0.histories }
        while !read.isComplete {
            let request = read.request
            do throws(GatewayClient.Failure) {
                let page: RangeResponse = try client.call("/v3/kv/range", within: end() - .now) { _ in request }
                guard read.add(page), histories == reading.withLock({ $0.histories }) else { return false }
            } catch {
                if read.isBegun, error.reason.isCompacted { return false }
                reading.withLock { [read] reading in
                    if read.isBegun, histories == reading.histories { reading.unfinished = read }
                }
                throw error
            }
        }
        return true
    }

    /// Drops what depends on the cluster's history, as another one has answered.
    func forgetRevisions() {
        reading.withLock { reading in
            reading.histories += 1
            reading.unfinished = nil
        }
        mirror.withLock { $0.forgetRevisions() }
    }

    /// Records that the cluster was restored or replaced; it is reported after the locks of writes are released, once a minute at most,
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
    func merge(
        _ delta: RangeResponse,
        at revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(GatewayClient.Failure) {
        guard !mirror.withLock({ $0.merge(delta, at: revision) }) else { return }
        let names: RangeResponse
        do throws(GatewayClient.Failure) {
            names = try client.call("/v3/kv/range", within: end - .now) { _ in
                RangeRequest.names(of: keys, at: revision)
            }
        } catch {
            guard error.reason.isCompacted else { throw error }
            _ = try readAll(until: end)
            return
        }
        mirror.withLock { $0.merge(delta, keeping: Set((names.kvs ?? []).map(\.key)), at: revision) }
    }
}
