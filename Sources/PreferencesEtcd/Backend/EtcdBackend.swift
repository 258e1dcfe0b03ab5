internal import DurableFile
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if Etcd
internal import NIOPosix
#endif

/// A backend that stores the values of a suite in etcd, and mirrors them in memory by a watch.
final class EtcdBackend: PreferenceBackend {
    let configuration: EtcdConfiguration
    let keys: KeySpace
    let client: GatewayClient
    let mirror: Lock<Mirror>
    let queue = Lock(WriteQueue())
    let storedSchema = Lock(StoredSchema())
    /// Held during each write to etcd, by a call of the store or by the thread that sends the queue.
    let writeLock = Lock(())
    /// The read of the suite, which one thread at a time performs.
    let reading = Condition(Reading())
    let monitor: EtcdMonitor
    private let copy: OfflineCopy?
    /// The origin of the cache's values, without what the cluster gives.
    private let origin: OfflineCopy.Origin
    /// The file of the queued writes, or `nil` if they end with the process.
    let queueFile: QueueFile?
    let watch: WatchDriver
    private let host = Lock<PreferenceBackendHost?>(nil)
    private let isLoaded = Lock(false)
    /// Whether a token was rejected since the watch was last open.
    private let wasTokenRejected = Lock(false)
    private let lastReported = Lock<GatewayFailure?>(nil)
    /// The revision that the metrics show, which only `forgetRevisions` lowers.
    let recordedRevision = Lock<Int64>(0)
    /// The time when another history was last reported.
    let otherHistoryReported = Lock<ContinuousClock.Instant?>(nil)

    /// Creates a backend; nothing is connected yet.
    init(
        suite: String,
        _ configuration: EtcdConfiguration,
        monitor: EtcdMonitor = EtcdMonitor(),
        transport makeTransport: () throws(PreferenceError) -> any Transport
    ) throws(PreferenceError) {
        let configuration = try configuration.validated()
        self.configuration = configuration
        self.monitor = monitor
        keys = try configuration.keys(of: suite)
        mirror = Lock(Mirror(keys))
        let record = configuration.recorder(suite: suite)
        client = GatewayClient(configuration, transport: try makeTransport(), record: record)
        monitor.record(record)
        let origin = OfflineCopy.Origin(
            prefix: configuration.prefix,
            suite: suite,
            scopes: configuration.scopes,
            endpoints: configuration.endpoints
        )
        self.origin = origin
        copy = configuration.cacheFile.map { OfflineCopy($0, origin) }
        queueFile =
            if configuration.keepsWaitingWrites, let place = configuration.cacheFile {
                try QueueFile(
                    path: OfflineCopy.path(place, prefix: configuration.prefix, suite: suite) + ".queue",
                    suite: configuration.prefix.isEmpty ? suite : "\(configuration.prefix)/\(suite)"
                )
            } else { nil }
        watch = WatchDriver(client, keys: keys, configuration: configuration)
        client.transport.observeCertificates { [weak self] problem in
            record(.certificates(problem))
            // The caller is a request, perhaps of a write that holds `writeLock`; the problem is reported when that has ended.
            if let problem { self?.mirror.withLock { $0.note(problem) } } else { self?.watch.renewConnection() }
        }
        client.observeCluster { [weak self] in
            guard let self else { return }
            noteOtherHistory()
            forgetRevisions()
            watch.endHistory()
        }
        monitor.attach(self) { [weak self] in
            self?.watch.probeNow()
        } describeQueue: { [weak self] in
            self?.waitingWrites
        }
    }

    deinit {
        watch.stop()
        updateCopy(isPositionNeeded: true)
        WaitingStores.remove(self)
        reportUnsentWrites(atEndOf: "store")
        monitor.finish(self)
    }

    /// The configuration's `timeout`, which covers a whole call of the store.
    var timeout: Duration? { configuration.timeout }

    func checkThreadMayBlock() throws(PreferenceError) {
        #if Etcd
        guard MultiThreadedEventLoopGroup.currentEventLoop == nil else {
            throw PreferenceError(
                .misuse,
                "an event loop can't wait for etcd; nothing was changed. Use the async methods: try await store.load() first, "
                    + "then try await preference.write(…)"
            )
        }
        #endif
    }

    /// The deadline of the store's current call, or of one that begins now.
    var deadline: ContinuousClock.Instant { host.withLock { $0 }?.deadline() ?? .now + configuration.timeout }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        self.host.withLock { $0 = host }
        try loadQueue(host)
        let copied = loadCopy(host)
        if let origin = copied.origin, let cluster = origin.cluster {
            client.expectCluster(cluster)
            let isKnown = mirror.withLock { $0.revision } > 0
            if !isKnown, origin.isUsable(for: configuration.endpoints) { return try start(with: copied.values, origin) }
        }
        var revision: Int64?
        do throws(GatewayClient.Failure) {
            // After a load that failed, the watch may have read the suite, and keeps it up to date.
            let known = mirror.withLock { $0.revision }
            revision = known > 0 ? known : try readAll(until: deadline).revision
            if known == 0 { monitor.connected(to: client.endpoint) }
        } catch {
            let problem = PreferenceError(error.reason)
            monitor.disconnected(problem)
            guard copy != nil || configuration.offlineWrites == .queueing else {
                // The watch reads the suite when it can, and then the store loads again.
                try watch.start(after: nil, self)
                throw problem
            }
            // The store starts with the copy's values, or with none if there is no copy, and queues its writes. Values of other
            // endpoints may be those of another cluster.
            let isShown = copied.origin?.cluster == nil
            if copy == nil || !isShown || !error.reason.isTemporary { host.report(problem) }
            if !error.reason.isTemporary { lastReported.withLock { $0 = error.reason } }
            mirror.withLock { if $0.revision == 0, isShown { $0.begin(withCopy: copied.values) } }
        }
        for problem in mirror.withLock({ $0.drainProblems() }) { host.report(problem) }
        try watch.start(after: revision, isResumed: mirror.withLock { !$0.isVerified }, self)
        return finishLoading()
    }

    /// Starts with the values of the cache, and compares its history with the cluster's in the background.
    private func start(
        with values: [String: PropertyListValue],
        _ origin: OfflineCopy.Origin
    ) throws(PreferenceError) -> [String: PropertyListValue] {
        mirror.withLock { $0.begin(withCopy: values, at: origin.position, of: origin.cluster) }
        try watch.start(after: origin.position?.revision, isResumed: true, self)
        return finishLoading()
    }

    private func finishLoading() -> [String: PropertyListValue] {
        isLoaded.withLock { $0 = true }
        recordRevision()
        updateCopy()
        let values = mirror.withLock { mirror in
            mirror.pass = { [weak self] in self?.pass($0, at: $1) }
            return mirror.values
        }
        return queue.withLock { $0.view(of: values) }
    }

    /// Passes external changes on to the store, without those of names that have a queued value, which the store shows instead;
    /// called under the mirror's lock.
    private func pass(_ changes: [String: PropertyListValue?], at revision: Int64?) {
        let visible = queue.withLock { queue in
            queue.overlay.isEmpty ? changes : changes.filter { queue.overlay[$0.key] == nil }
        }
        host.withLock { $0 }?.collect(visible, at: revision)
    }

    /// Records that the changes of the store's current call are stored or queued; call under the mirror's lock.
    ///
    /// - Parameter revision: The revision at which they are stored; `nil` after all others.
    func noteApplied(at revision: Int64? = nil) { host.withLock { $0 }?.noteApplied(at: revision) }

    func sync(until deadline: ContinuousClock.Instant?) throws(PreferenceError) {
        // If nothing is queued, each write was acknowledged, and is on the disks of a majority of the members.
        guard queue.withLock({ $0.count }) > 0 else { return }
        let before = queue.withLock { $0.count }
        sendAll(until: deadline)
        announceChanges()
        let count = queue.withLock { $0.count }
        // A server has answered, so the watch needn't pause for longer.
        if count < before, !monitor.status.isConnected { watch.probeNow() }
        guard count == 0 else {
            let status = monitor.status
            throw PreferenceError(
                .notDurable,
                "\(count) writes are queued, and not stored in etcd yet; wait and flush again"
                    + (queueFile == nil ? ", as they are lost when the program ends" : ""),
                cause: status.refusal ?? status.error
            )
        }
    }

    // MARK: Notifying

    /// Updates the copy, reports the mirror's problems, and has the store publish the changes, or repeat a load that failed.
    func announceChanges() {
        recordRevision()
        updateCopy()
        for problem in mirror.withLock({ $0.drainProblems() }) { report(problem) }
        guard let host = host.withLock({ $0 }) else { return }
        let mustLoad = mirror.withLock { $0.revision > 0 } && !isLoaded.withLock { $0 }
        if mustLoad { host.changed() } else { host.changed([:]) }
    }

    /// Records the revision up to which the mirror is complete if it is later than the recorded one.
    private func recordRevision() {
        // Under the mirror's lock, so that a revision of a history that has ended isn't noted after the end.
        var newest: Int64? = mirror.withLock { mirror in
            recordedRevision.withLock { recorded -> Int64? in
                guard mirror.revision > recorded else { return nil }
                recorded = mirror.revision
                return recorded
            }
        }
        while let revision = newest {
            client.record(.advanced(to: revision))
            // Another thread may have recorded a later one before this.
            newest = recordedRevision.withLock { $0 == revision || $0 == 0 ? nil : $0 }
        }
    }

    /// Reports the writes that are still queued when the store or the program ends.
    func reportUnsentWrites(atEndOf owner: String) {
        guard queueFile == nil, let waiting = waitingWrites else { return }
        report(
            PreferenceError(
                .notDurable,
                "\(waiting) are lost, as the \(owner) ended before etcd had stored them; drain the monitor before the end, "
                    + "or set keepsWaitingWrites",
                cause: monitor.status.refusal ?? monitor.status.error
            )
        )
    }

    /// The number of queued writes and the names that they set, for a message; `nil` if none is queued.
    var waitingWrites: String? {
        let (count, names) = queue.withLock { ($0.count, $0.names) }
        guard count > 0 else { return nil }
        let listed = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        return "\(count) queued writes (\(listed))"
    }

    func report(_ error: PreferenceError) { host.withLock { $0 }?.report(error) }

    // MARK: The copy

    /// Returns the values of the copy; if it can't be read, reports that and returns none, as etcd has the values too.
    private func loadCopy(_ host: PreferenceBackendHost) -> OfflineCopy.Contents {
        guard let copy else { return OfflineCopy.Contents() }
        defer { for problem in copy.drainProblems() { host.report(problem) } }
        return copy.load()
    }

    /// Writes what the cache lacks, once the suite was read.
    private func updateCopy(isPositionNeeded: Bool = false) {
        // The cache is kept, and not locked, until etcd has shown whether it is of this history.
        guard let copy, mirror.withLock({ $0.mayUpdateCopy }) else { return }
        copy.update(isPositionNeeded: isPositionNeeded) { isFirst in
            mirror.withLock { mirror in
                guard mirror.mayUpdateCopy else { return nil }
                var origin = origin
                (origin.cluster, origin.position) = (mirror.cluster, mirror.position)
                return (mirror.drainUncopied(isFirst: isFirst), origin)
            }
        } restore: { changes in
            mirror.withLock { $0.restoreUncopied(changes) }
        }
        for problem in copy.drainProblems() { report(problem) }
    }
}

extension EtcdBackend: WatchDriver.Delegate {
    func apply(_ events: [WatchEvent]) {
        // Rejected writes are retried at probes, not at each change.
        if monitor.status.refusal == nil { sendQueue() }
        // One revision at a time, so that the store is notified of each.
        for batch in events.revisions {
            mirror.withLock { $0.apply(batch) }
            announceChanges()
        }
    }

    func advance(to revision: Int64) {
        mirror.withLock { $0.advance(to: revision) }
        recordRevision()
        updateCopy(isPositionNeeded: true)
    }

    func reread() -> Result<Int64, GatewayFailure> {
        do throws(GatewayClient.Failure) {
            // Members that serve a whole fleet may need longer than a call of the store has.
            let revision = try readAll(within: max(configuration.timeout, RetryPause.longest)).revision
            updateCopy(isPositionNeeded: true)
            announceChanges()
            return .success(revision)
        } catch {
            return .failure(error.reason)
        }
    }

    func probe(_ endpoint: String, isCounting: Bool) -> Result<ProbeResult, GatewayFailure> {
        do throws(GatewayFailure) {
            let place = mirror.withLock { $0.place }
            let newest = try ask(endpoint, [RangeRequest(key: keys.mark)])
            let mark = newest.kvs?.first
            let revision = newest.header?.revision.value ?? 0
            let isNewer = mark?.modRevision.value ?? 0 > place.newest
            let isRead =
                (isCounting || keys.isPartial && isNewer) && place.history(of: mark, at: revision) != .other
            let delta = isRead ? try self.delta(at: revision, endpoint) : nil
            sendQueue()
            announceChanges()
            let isSame = try isSame(place.history(of: mark, at: revision), as: place) {
                request throws(GatewayFailure) in
                try ask(endpoint, [request])
            }
            guard isSame else {
                // Its revisions may be smaller, also that of the known mark.
                forgetRevisions()
                return .success(.otherHistory)
            }
            return .success(
                mirror.withLock { mirror in
                    guard mirror.histories == place.histories else { return .otherHistory }
                    mirror.verify()
                    mirror.note(mark: mark, at: revision)
                    return isBehind(&mirror, mark: mark?.modRevision.value ?? 0, delta, at: revision)
                        ? .behind : .current
                }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Returns whether the mirror lacks changes that a member has.
    private func isBehind(_ mirror: inout Mirror, mark: Int64, _ delta: RangeResponse?, at revision: Int64) -> Bool {
        guard keys.isPartial, let delta else {
            return mirror.isBehind(mark: mark, count: delta.map { Int($0.count.value) }, at: revision)
        }
        return mirror.isBehind(delta, at: revision)
    }

    /// Returns the number of names at the revision of the mark and, for a store of some scopes, those that were put since the mirror's
    /// revision; `nil` if that is compacted already, as the next probe that counts will do.
    private func delta(at revision: Int64, _ endpoint: String) throws(GatewayFailure) -> RangeResponse? {
        let since = mirror.withLock { $0.revision }
        let requests = keys.ranges.map { range in
            guard !keys.isPartial else { return RangeRequest.delta(of: range, since: since, at: revision) }
            var request = RangeRequest.count(of: range)
            request.revision = GatewayInteger(revision)
            return request
        }
        do throws(GatewayFailure) { return try ask(endpoint, requests) } catch {
            guard error.isCompacted else { throw error }
            return nil
        }
    }

    /// Returns whether the cluster's history is the known one; if that can't be seen any more, the suite has to be read again as well.
    func isSame(
        _ history: Mirror.History,
        as place: Mirror.Place,
        _ ask: (RangeRequest) throws(GatewayFailure) -> RangeResponse
    ) throws(GatewayFailure) -> Bool {
        switch history {
        case .same: return true
        case .sameIfMarked(let revision):
            var request = RangeRequest(key: keys.mark)
            request.revision = GatewayInteger(revision)
            do throws(GatewayFailure) {
                if try ask(request).kvs?.first == place.mark?.keyValue { return true }
            } catch {
                if error.isCompacted { return false }
                throw error
            }
        case .other: break
        }
        noteOtherHistory()
        return false
    }

    /// Sends reads to the endpoint of the watch.
    func ask(
        _ endpoint: String,
        _ requests: [RangeRequest],
        _ kind: RequestKind = .probe
    ) throws(GatewayFailure) -> RangeResponse {
        func ask() throws(GatewayClient.Failure) -> RangeResponse {
            try client.ask(endpoint, requests, kind, within: configuration.attemptTimeout)
        }
        do throws(GatewayClient.Failure) { return try ask() } catch {
            guard case .tokenRefused = error.reason, configuration.credentials != nil else { throw error.reason }
        }
        // The token has expired, or was revoked; the second attempt uses a new one.
        do throws(GatewayClient.Failure) { return try ask() } catch { throw error.reason }
    }

    func becameConnected(to endpoint: String) {
        monitor.connected(to: endpoint)
        wasTokenRejected.withLock { $0 = false }
        lastReported.withLock { $0 = nil }
        sendQueue()
        announceChanges()
    }

    func becameDisconnected(_ failure: GatewayFailure) {
        let error = PreferenceError(failure)
        monitor.disconnected(error)
        // Tokens expire; only if a new one is rejected too does the operator have to act.
        if case .tokenRefused = failure, configuration.credentials != nil,
            !wasTokenRejected.withLock({ exchange(&$0, with: true) })
        {
            return
        }
        // A temporary failure shows in the status alone; for any other the operator has to act.
        if !failure.isTemporary, lastReported.withLock({ exchange(&$0, with: failure) }) != failure { report(error) }
    }
}
