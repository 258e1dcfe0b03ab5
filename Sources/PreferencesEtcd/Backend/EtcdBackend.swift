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
///
/// The store calls `load`, `catchUp`, `refresh` and `change` one at a time; the watch's thread changes the mirror at any time. What the
/// mirror has learned of others waits there until the store asks for it, so the store always knows the values that a change compares.
final class EtcdBackend: PreferenceBackend {
    let configuration: EtcdConfiguration
    let keys: KeySpace
    let client: GatewayClient
    let mirror: Lock<Mirror>
    let storedSchema = Lock(StoredSchema())
    /// The read of the suite, which one thread at a time performs.
    let reading = Condition(Reading())
    let monitor: EtcdMonitor
    private let copy: OfflineCopy?
    /// The origin of the cache's values, without what the cluster gives.
    private let origin: OfflineCopy.Origin
    let watch: WatchDriver
    let host = Lock<PreferenceBackendHost?>(nil)
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
        keys = try KeySpace(prefix: configuration.prefix, suite: suite)
        mirror = Lock(Mirror(keys))
        let record = configuration.recorder(suite: suite)
        client = GatewayClient(configuration, transport: try makeTransport(), record: record)
        monitor.record(record)
        origin = OfflineCopy.Origin(
            prefix: configuration.prefix,
            suite: suite,
            endpoints: configuration.endpoints
        )
        copy = configuration.cacheFile.map { [origin] in OfflineCopy($0, origin) }
        watch = WatchDriver(client, keys: keys, configuration: configuration)
        client.transport.observeCertificates { [weak self] problem in
            record(.certificates(problem))
            // The caller is a request, perhaps of a change; the problem is reported when that has ended.
            if let problem { self?.mirror.withLock { $0.note(problem) } } else { self?.watch.renewConnection() }
        }
        client.observeCluster { [weak self] in
            guard let self else { return }
            noteOtherHistory()
            forgetRevisions()
            watch.endHistory()
        }
        monitor.attach(self)
    }

    deinit {
        watch.stop()
        updateCopy(isPositionNeeded: true)
        monitor.finish(self)
    }

    var place: String { "etcd (\(String(decoding: keys.start, as: UTF8.self)))" }

    /// The configuration's `timeout`, which covers a whole call of the store.
    var timeout: Duration { configuration.timeout }

    /// Throws `misuse` on an event loop, which other connections need.
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

    // MARK: Reading

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws(PreferenceError) -> [StoredChange]
    {
        try checkThreadMayBlock()
        self.host.withLock { $0 = host }
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
            revision = known > 0 ? known : try readAll(until: .now + deadline.remaining).revision
            if known == 0 { monitor.connected(to: client.endpoint) }
        } catch {
            let problem = PreferenceError(error.reason)
            monitor.disconnected(problem)
            // The watch finds it, too.
            if !error.reason.isTemporary { lastReported.withLock { $0 = error.reason } }
            guard copy != nil else {
                // The watch reads the suite when it can, and then the store loads again.
                try watch.start(after: nil, self)
                throw problem
            }
            // The store starts with the copy's values. Values of other endpoints may be those of another cluster.
            let isShown = copied.origin?.cluster == nil
            if !isShown || !error.reason.isTemporary { host.report(problem) }
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
    ) throws(PreferenceError) -> [StoredChange] {
        mirror.withLock { $0.begin(withCopy: values, at: origin.position, of: origin.cluster) }
        try watch.start(after: origin.position?.revision, isResumed: true, self)
        return finishLoading()
    }

    private func finishLoading() -> [StoredChange] {
        isLoaded.withLock { $0 = true }
        recordRevision()
        updateCopy()
        let values = mirror.withLock { mirror in
            mirror.collect()
            return mirror.values
        }
        return values.map { StoredChange($0.key, $0.value) }
    }

    /// Returns what the watch has delivered.
    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { mirror.withLock { $0.drainChanges() } }

    func refresh(until deadline: PreferenceDeadline) throws(PreferenceError) -> ExternalChanges {
        try checkThreadMayBlock()
        defer { announceChanges() }
        do throws(GatewayClient.Failure) { try readChanges(until: .now + deadline.remaining) } catch {
            throw PreferenceError(error.reason)
        }
        return catchUp(until: deadline)
    }

    // MARK: Notifying

    /// Updates the copy, reports the mirror's problems, and has the store ask for the changes, or repeat a load that failed.
    func announceChanges() {
        recordRevision()
        updateCopy()
        for problem in mirror.withLock({ $0.drainProblems() }) { report(problem) }
        let isLoaded = isLoaded.withLock { $0 }
        guard mirror.withLock({ isLoaded ? $0.hasChanges : $0.revision > 0 }) else { return }
        host.withLock { $0 }?.changed()
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
        for batch in events.revisions { mirror.withLock { $0.apply(batch) } }
        announceChanges()
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
        // Also what requests have found since.
        defer { announceChanges() }
        do throws(GatewayFailure) {
            let place = mirror.withLock { $0.place }
            let newest = try ask(endpoint, RangeRequest(key: keys.mark))
            let mark = newest.kvs?.first
            let revision = newest.header?.revision.value ?? 0
            let history = place.history(of: mark, at: revision)
            let count = isCounting && history != .other ? try count(at: revision, endpoint) : nil
            let isSame = try isSame(history, as: place) { request throws(GatewayFailure) in try ask(endpoint, request) }
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
                    return mirror.isBehind(mark: mark?.modRevision.value ?? 0, count: count, at: revision)
                        ? .behind : .current
                }
            )
        } catch {
            return .failure(error)
        }
    }

    /// Returns the number of names at the revision of the mark; `nil` if that is compacted already, as the next probe that counts will do.
    private func count(at revision: Int64, _ endpoint: String) throws(GatewayFailure) -> Int? {
        var request = RangeRequest.count(of: keys.names)
        request.revision = GatewayInteger(revision)
        do throws(GatewayFailure) { return Int(try ask(endpoint, request).count.value) } catch {
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

    /// Sends a read to the endpoint of the watch.
    private func ask(_ endpoint: String, _ request: RangeRequest) throws(GatewayFailure) -> RangeResponse {
        func ask() throws(GatewayClient.Failure) -> RangeResponse {
            try client.ask(endpoint, "/v3/kv/range", request, .probe, within: configuration.attemptTimeout)
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
        announceChanges()
        // What properties have set meanwhile can be stored now.
        host.withLock { $0 }?.changed()
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
