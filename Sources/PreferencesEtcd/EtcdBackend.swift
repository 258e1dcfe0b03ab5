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

/// Keeps the values of a suite in etcd, and a mirror of them in memory that a watch keeps current.
final class EtcdBackend: PreferenceBackend {
    let configuration: EtcdConfiguration
    let keys: KeySpace
    let client: GatewayClient
    let mirror: Lock<Mirror>
    let queue = Lock(WriteQueue())
    /// Held by whoever writes: a set, or the one who sends what waited.
    let turn = Lock(())
    let monitor: EtcdMonitor
    private let copy: OfflineCopy?
    /// The waiting writes, if they outlive the program.
    let queueFile: QueueFile?
    let watch: WatchDriver
    private let host = Lock<PreferenceBackendHost?>(nil)
    private let isLoaded = Lock(false)
    /// Whether a token was refused since the watch was last open.
    private let isTokenDoubted = Lock(false)
    private let lastReported = Lock<GatewayFailure?>(nil)

    /// Connects to nothing yet.
    init(
        suite: String,
        _ configuration: EtcdConfiguration,
        monitor: EtcdMonitor = EtcdMonitor(),
        transport makeTransport: () throws(PreferencesError) -> any Transport
    ) throws(PreferencesError) {
        let configuration = try configuration.validated()
        self.configuration = configuration
        self.monitor = monitor
        keys = try KeySpace(prefix: configuration.prefix, suite: suite)
        mirror = Lock(Mirror(keys))
        let record = configuration.recorder(suite: suite)
        client = GatewayClient(configuration, transport: try makeTransport(), record: record)
        monitor.record(record)
        copy = configuration.cacheFile.map { OfflineCopy(path: $0.path) }
        queueFile =
            if configuration.keepsWaitingWrites, let path = configuration.cacheFile?.path {
                try QueueFile(path: "\(path).queue")
            } else { nil }
        watch = WatchDriver(client, keys: keys, configuration: configuration)
        client.transport.observeCertificates { [weak self] problem in
            record(.certificates(problem))
            // A request has called, perhaps one with the turn: the problem is reported when that is over.
            if let problem { self?.mirror.withLock { $0.note(problem) } } else { self?.watch.renewConnection() }
        }
        monitor.shows(self)
    }

    deinit {
        watch.stop()
        WaitingStores.remove(self)
        reportEnd(of: "store")
        monitor.finish(self)
    }

    /// That of a request and all its attempts covers a whole call.
    var timeout: Duration? { configuration.timeout }

    func checkThreadMayBlock() throws(PreferencesError) {
        #if Etcd
        guard MultiThreadedEventLoopGroup.currentEventLoop == nil else {
            throw PreferencesError(
                .misuse,
                "an event loop can't wait for etcd; nothing was changed. Use the async methods: try await store.load() first, "
                    + "then try await preference.write(…)"
            )
        }
        #endif
    }

    /// When the store's call that is under way, or one that begins now, must have ended.
    var deadline: ContinuousClock.Instant { host.withLock { $0 }?.deadline() ?? .now + configuration.timeout }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        self.host.withLock { $0 = host }
        try loadQueue(host)
        let copied = loadCopy(host)
        var revision: Int64?
        do throws(GatewayClient.Failure) {
            revision = try readAll(until: deadline)
            monitor.connected(to: client.endpoint)
        } catch {
            let problem = PreferencesError(error.reason)
            monitor.disconnected(problem)
            guard copy != nil || configuration.offlineWrites == .queueing else {
                // It is loaded as soon as something can be read.
                try watch.start(after: nil, self)
                throw problem
            }
            // What is set from now on waits, as it would without values of before.
            if copy == nil || !error.reason.isPassing { host.report(problem) }
            if !error.reason.isPassing { lastReported.withLock { $0 = error.reason } }
            mirror.withLock { if $0.revision == 0 { $0.begin(withCopy: copied) } }
        }
        for problem in mirror.withLock({ $0.takeProblems() }) { host.report(problem) }
        try watch.start(after: revision, self)
        isLoaded.withLock { $0 = true }
        updateCopy(from: copied)
        let values = mirror.withLock { mirror in
            _ = mirror.drain()
            return mirror.values
        }
        return queue.withLock { $0.view(of: values) }
    }

    func refresh() throws(PreferencesError) -> [String: PropertyListValue?] {
        visible(mirror.withLock { $0.drain() })
    }

    func sync() throws(PreferencesError) { try sync(until: nil) }

    func sync(until deadline: ContinuousClock.Instant?) throws(PreferencesError) {
        // If nothing waits, what etcd has acknowledged lies on the disks of most of its members.
        guard queue.withLock({ $0.count }) > 0 else { return }
        sendAll(until: deadline)
        announceChanges()
        let count = queue.withLock { $0.count }
        guard count == 0 else {
            let status = monitor.status
            throw PreferencesError(
                .notDurable,
                "\(count) writes wait until etcd can be reached and takes them; wait and flush again"
                    + (queueFile == nil ? ", as they end with the program" : ""),
                cause: status.refusal ?? status.error
            )
        }
    }

    /// Without the names of which the store shows what waits to be sent.
    func visible(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        queue.withLock { queue in
            queue.overlay.isEmpty ? changes : changes.filter { queue.overlay[$0.key] == nil }
        }
    }

    // MARK: Telling

    /// Lets the store, the copy and the issue handler know what the mirror took in.
    func announceChanges() {
        updateCopy()
        let (hasNews, problems) = mirror.withLock { (!$0.pending.isEmpty, $0.takeProblems()) }
        for problem in problems { report(problem) }
        // A load that failed is tried again.
        let isWanted = mirror.withLock { $0.revision > 0 } && !isLoaded.withLock { $0 }
        if hasNews || isWanted { announce() }
    }

    /// Reports the writes that end unsent with the store or the program.
    func reportEnd(of what: String) {
        guard queueFile == nil, let waiting = waitingWrites else { return }
        report(
            PreferencesError(
                .notDurable,
                "\(waiting) end with the \(what), as etcd could not be reached or didn't take them; drain the monitor before "
                    + "the end, or set keepsWaitingWrites",
                cause: monitor.status.refusal ?? monitor.status.error
            )
        )
    }

    /// How many writes wait and which names they set, for a message; nil if none waits.
    var waitingWrites: String? {
        let (count, names) = queue.withLock { ($0.count, $0.names) }
        guard count > 0 else { return nil }
        let listed = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        return "\(count) writes that wait for etcd (\(listed))"
    }

    private func announce() { host.withLock { $0 }?.changed() }

    func report(_ error: PreferencesError) { host.withLock { $0 }?.report(error) }

    // MARK: The copy

    /// A copy that can't be read is no reason to do without etcd.
    private func loadCopy(_ host: PreferenceBackendHost) -> [String: PropertyListValue] {
        guard let copy else { return [:] }
        do throws(PreferencesError) {
            defer { for problem in copy.takeProblems() { host.report(problem) } }
            return try copy.load()
        } catch {
            host.report(error)
            return [:]
        }
    }

    private func updateCopy() {
        updateCopy { $0.takeUncopied() }
    }

    /// Removes from the copy what is no longer stored, too.
    private func updateCopy(from copied: [String: PropertyListValue]) {
        updateCopy { mirror in
            var changes = mirror.takeUncopied()
            for (name, value) in mirror.values { changes.updateValue(value, forKey: name) }
            for name in copied.keys where mirror.values[name] == nil { changes.updateValue(nil, forKey: name) }
            return changes
        }
    }

    private func updateCopy(_ changes: (inout Mirror) -> [String: PropertyListValue?]) {
        guard let copy else { return }
        copy.update {
            mirror.withLock { changes(&$0) }
        } putBack: { changes in
            mirror.withLock { $0.putBack(uncopied: changes) }
        }
        for problem in copy.takeProblems() { report(problem) }
    }

    // MARK: Reading

    /// Reads the suite whole; gives the revision.
    func readAll(until end: ContinuousClock.Instant) throws(GatewayClient.Failure) -> Int64 {
        while true {
            let known = mirror.withLock { $0.newest }
            let response: RangeResponse = try client.call("/v3/kv/range", within: end - .now) { _ in
                RangeRequest.all(of: keys)
            }
            let revision = response.header?.revision.value ?? 0
            if revision < known { mirror.withLock { $0.forgetRevisions() } }
            // A write of this process may have gone past it, and the mirror be wrong about what was before that.
            if mirror.withLock({ $0.replace(with: response.kvs ?? [], at: revision) }) { return revision }
        }
    }

    /// Takes what was put since the mirror's revision, and finds out what was removed where a count says that some was.
    func take(
        _ delta: RangeResponse,
        at revision: Int64,
        until end: ContinuousClock.Instant
    ) throws(GatewayClient.Failure) {
        guard !mirror.withLock({ $0.take(delta, at: revision) }) else { return }
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
        mirror.withLock { $0.take(delta, keeping: Set((names.kvs ?? []).map(\.key)), at: revision) }
    }
}

extension EtcdBackend: WatchDriver.Delegate {
    func take(_ events: [WatchEvent]) {
        // What was refused is tried again by probes, and not at each change.
        if monitor.status.refusal == nil { sendQueue() }
        // One by one, so that who only watches is told of each revision.
        for batch in events.revisions {
            mirror.withLock { $0.take(batch) }
            announceChanges()
        }
    }

    func reread() -> Result<Int64, GatewayFailure> {
        do throws(GatewayClient.Failure) {
            let revision = try readAll(until: .now + configuration.timeout)
            announceChanges()
            return .success(revision)
        } catch {
            return .failure(error.reason)
        }
    }

    func probe(_ endpoint: String, isCounting: Bool) -> Result<Bool, GatewayFailure> {
        do throws(GatewayFailure) {
            let known = mirror.withLock { $0.newest }
            let newest = try newest(at: endpoint, isCounting: isCounting)
            sendQueue()
            announceChanges()
            let ranges = newest.responses?.compactMap(\.range) ?? []
            let mark = ranges.first?.kvs?.first?.modRevision.value ?? 0
            let count = isCounting ? Int(ranges.last?.count.value ?? 0) : nil
            let revision = newest.header?.revision.value ?? 0
            // A cluster that was restored from a snapshot is behind what it told before.
            return .success(revision < known || mirror.withLock { $0.isBehind(mark: mark, count: count, at: revision) })
        } catch {
            return .failure(error)
        }
    }

    private func newest(at endpoint: String, isCounting: Bool) throws(GatewayFailure) -> TransactionResponse {
        let mark = Operation.range(RangeRequest(key: keys.mark))
        let parts = isCounting ? [mark, .range(.count(of: keys))] : [mark]
        let body = try GatewayClient.encode(TransactionRequest(compare: [], success: parts, failure: []))
        do throws(GatewayFailure) {
            return try client.ask(endpoint, "/v3/kv/txn", body, .probe, within: configuration.attemptTimeout)
        } catch {
            guard case .tokenRefused = error, configuration.credentials != nil else { throw error }
            // A token has its time, and is renewed now.
            return try client.ask(endpoint, "/v3/kv/txn", body, .probe, within: configuration.attemptTimeout)
        }
    }

    func becameConnected(to endpoint: String) {
        monitor.connected(to: endpoint)
        isTokenDoubted.withLock { $0 = false }
        lastReported.withLock { $0 = nil }
        sendQueue()
        announceChanges()
    }

    func becameDisconnected(_ failure: GatewayFailure) {
        let error = PreferencesError(failure)
        monitor.disconnected(error)
        // A token has its time; only where a new one is refused, too, somebody has to act.
        if case .tokenRefused = failure, configuration.credentials != nil,
            !isTokenDoubted.withLock({ exchange(&$0, with: true) })
        {
            return
        }
        // What passes shows in the state; the rest needs somebody to act.
        if !failure.isPassing, lastReported.withLock({ exchange(&$0, with: failure) }) != failure { report(error) }
    }
}
