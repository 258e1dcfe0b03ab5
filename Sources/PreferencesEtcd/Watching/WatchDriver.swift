internal import DurableFile
internal import Preferences

/// Does what the state machine of a watch says, on a thread of its own.
final class WatchDriver: Sendable {
    private struct Inbox {
        /// Each with the stream that it came by, if it did by one.
        var inputs = FirstInFirstOut<(input: WatchStateMachine.Input, stream: Int?)>()
        /// Which of the streams is in use; what another says, or has said, is dropped.
        var stream: Int?
        /// The one that is being opened beside it.
        var other: Int?
        var streamCount = 0
        /// When the watch is to move to a new connection to its member.
        var renewal: ContinuousClock.Instant?
        /// When the one in use was opened or last said anything.
        var lastWord = ContinuousClock.now
        var isStopped = false
        var isStarted = false
    }

    /// What the machine's actions do outside of it; all blocks.
    protocol Delegate: AnyObject, Sendable {
        func take(_ events: [WatchEvent])
        func reread() -> Result<Int64, GatewayFailure>
        func probe(_ endpoint: String, isCounting: Bool) -> Result<Bool, GatewayFailure>
        func becameConnected(to endpoint: String)
        func becameDisconnected(_ failure: GatewayFailure)
    }

    private let client: GatewayClient
    private let keys: KeySpace
    private let attemptTimeout: Duration
    private let probeInterval: Duration
    private let rebalanceInterval: Duration?
    private let random: @Sendable () -> Double
    private let inbox = Condition(Inbox())

    init(_ client: GatewayClient, keys: KeySpace, configuration: EtcdConfiguration) {
        self.client = client
        self.keys = keys
        attemptTimeout = configuration.attemptTimeout
        probeInterval = configuration.probeInterval
        rebalanceInterval = configuration.rebalanceInterval
        random = configuration.random
    }

    /// Watches from behind a revision, or from what is read first; once.
    func start(after revision: Int64?, _ delegate: some Delegate) throws(PreferencesError) {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isStarted = true }
            return !inbox.isStarted
        }
        guard isFirst else { return }
        let isRunning = WorkerQueue.startThread("etcd watch") { [weak delegate] in
            self.run(after: revision) { delegate }
        }
        guard isRunning else {
            inbox.withLock { $0.isStarted = false }
            throw PreferencesError(.unavailable, "the system has no thread left to watch etcd with; end some")
        }
    }

    /// Has the member be asked now that watches, which sends what waits.
    func probeNow() { inbox.signal { $0.inputs.append((.waiting, nil)) } }

    /// Has the watch go on over a new connection to its member, without a gap.
    func renewConnection() { inbox.signal { $0.renewal = .now } }

    func stop() { inbox.signal { $0.isStopped = true } }

    private func run(after revision: Int64?, _ delegate: () -> (any Delegate)?) {
        var machine = WatchStateMachine(attemptTimeout: attemptTimeout, probeInterval: probeInterval, random: random)
        var watch = Watches(rebalanceAt: nextRebalance)
        defer {
            watch.used.stream?.cancel()
            watch.other.stream?.cancel()
        }
        var inputs: [WatchStateMachine.Input] = [.begin(after: revision)]
        while true {
            while !inputs.isEmpty {
                for action in machine.handle(inputs.removeFirst()) {
                    guard let delegate = delegate() else { return }
                    if let input = perform(action, &watch, delegate) { inputs.append(input) }
                }
            }
            guard let input = next(machine, watch) else { return }
            inputs = [input]
        }
    }

    private struct OpenWatch {
        var stream: (any TransportStream)?
        var endpoint = ""
        var token: String?
    }

    private struct Watches {
        var used = OpenWatch()
        /// The one that is being opened beside it, over another connection.
        var other = OpenWatch()
        /// When that must be open.
        var otherEnd: ContinuousClock.Instant?
        /// Whether it renews the connection to the same member.
        var isRenewal = false
        var rebalanceAt: ContinuousClock.Instant?
    }

    private var nextRebalance: ContinuousClock.Instant? {
        rebalanceInterval.map { .now + $0.jittered(by: 0.5, random()) }
    }

    private func perform(
        _ action: WatchStateMachine.Action,
        _ watch: inout Watches,
        _ delegate: any Delegate
    ) -> WatchStateMachine.Input? {
        switch action {
        case .open(let revision):
            // One that ended by what it said may still be open, and holds a connection.
            watch.used.stream?.cancel()
            return open(&watch.used, at: client.endpoint, from: revision, as: \.stream).map { .ended($0) }
        case .close:
            inbox.withLock { $0.stream = nil }
            watch.used.stream?.cancel()
            watch.used.stream = nil
        case .leaveEndpoint: client.leave(watch.used.endpoint)
        case .renewToken: client.refuse(watch.used.token)
        case .take(let events):
            client.record(.told(events.count))
            delegate.take(events)
        case .probe(let isCounting):
            let result = delegate.probe(watch.used.endpoint, isCounting: isCounting)
            client.record(.probed(result))
            return .probed(result)
        case .reread: return .reread(delegate.reread())
        case .openOther(let revision): return openOther(from: revision, &watch)
        case .useOther: useOther(&watch)
        case .closeOther: closeOther(&watch)
        case .becameConnected: delegate.becameConnected(to: watch.used.endpoint)
        case .becameDisconnected(let failure): delegate.becameDisconnected(failure)
        }
        return nil
    }

    private func open(
        _ watch: inout OpenWatch,
        at endpoint: String,
        from revision: Int64,
        as role: WritableKeyPath<Inbox, Int?>
    ) -> GatewayFailure? {
        watch = OpenWatch(endpoint: endpoint)
        let number = inbox.withLock { inbox in
            inbox.streamCount += 1
            inbox[keyPath: role] = inbox.streamCount
            if role == \.stream { inbox.lastWord = .now }
            return inbox.streamCount
        }
        do throws(GatewayFailure) {
            watch.token = try client.token(from: endpoint, within: attemptTimeout)
            let (start, end) = keys.names
            let create = WatchRequest.Create(key: start, rangeEnd: end, startRevision: revision)
            let request = GatewayRequest(
                endpoint: endpoint,
                path: "/v3/watch",
                body: try GatewayClient.encode(WatchRequest(create: create)),
                token: watch.token
            )
            watch.stream = client.transport.stream(request) { [weak self] in self?.receive($0, from: number) }
            return nil
        } catch {
            return error
        }
    }

    // MARK: Another connection

    /// Opens a watch at the same member if its connection is to be renewed, else at one chosen at random.
    private func openOther(from revision: Int64, _ watch: inout Watches) -> WatchStateMachine.Input? {
        let isRenewal = inbox.withLock { exchange(&$0.renewal, with: nil) } != nil
        let endpoint = isRenewal ? watch.used.endpoint : client.randomEndpoint
        watch.rebalanceAt = nextRebalance
        watch.isRenewal = isRenewal
        guard isRenewal || endpoint != watch.used.endpoint else { return .moved(false) }
        watch.otherEnd = .now + attemptTimeout
        // etcd keeps a token for as long as it is used, at each member by itself.
        client.refuse(watch.used.token)
        return open(&watch.other, at: endpoint, from: revision, as: \.other).map { _ in .moved(false) }
    }

    private func useOther(_ watch: inout Watches) {
        inbox.withLock { inbox in
            inbox.stream = exchange(&inbox.other, with: nil)
            inbox.lastWord = .now
        }
        watch.used.stream?.cancel()
        watch.used = exchange(&watch.other, with: OpenWatch())
        watch.otherEnd = nil
        watch.isRenewal = false
        client.use(watch.used.endpoint)
        client.record(.moved(to: watch.used.endpoint))
    }

    private func closeOther(_ watch: inout Watches) {
        inbox.withLock { $0.other = nil }
        watch.other.stream?.cancel()
        watch.other = OpenWatch()
        watch.otherEnd = nil
        // The old connection, which another certificate made, is still in use.
        guard exchange(&watch.isRenewal, with: false) else { return }
        inbox.withLock { $0.renewal = $0.renewal ?? .now + attemptTimeout }
    }

    private func receive(_ part: StreamPart, from stream: Int) {
        let input = Self.input(of: part)
        inbox.signal { inbox in
            guard inbox.stream == stream || inbox.other == stream else { return }
            if inbox.stream == stream { inbox.lastWord = .now }
            inbox.inputs.append((input, stream))
        }
    }

    static func input(of part: StreamPart) -> WatchStateMachine.Input {
        switch part {
        case .end(let failure): return .ended(failure)
        case .line(let data):
            do throws(GatewayFailure) {
                let line: StreamLine = try GatewayClient.decode(data)
                if let error = line.error { return .ended(GatewayFailure(error)) }
                return .response(line.result ?? WatchResponse())
            } catch {
                return .ended(error)
            }
        }
    }

    /// Waits for what happens next; nil at the end.
    private func next(_ machine: WatchStateMachine, _ watch: Watches) -> WatchStateMachine.Input? {
        var timers: [(end: ContinuousClock.Instant, input: WatchStateMachine.Input?)] = []
        if let patience = machine.patience { timers.append((.now + patience, nil)) }
        if let end = watch.otherEnd { timers.append((end, .moved(false))) }
        if machine.mayMove, let end = watch.rebalanceAt { timers.append((end, .move)) }
        return inbox.wait { inbox in
            if inbox.isStopped { return .done(nil) }
            while let (input, stream) = inbox.inputs.popFirst() {
                guard let stream else { return .done(input) }
                if stream == inbox.other { return .done(.moved(Self.isOpening(input))) }
                guard stream == inbox.stream else { continue }
                // It has said why it ends; its connection may end with another word.
                if case .ended = input { inbox.stream = nil }
                return .done(input)
            }
            let renewal = machine.mayMove ? inbox.renewal.map { (end: $0, input: WatchStateMachine.Input.move) } : nil
            guard let first = (timers + [renewal].compactMap(\.self)).min(by: { $0.end < $1.end }) else {
                return .until(nil)
            }
            let rest = first.end - .now
            guard rest <= .zero else { return .until(rest) }
            return .done(first.input ?? .silence(since: .now - inbox.lastWord))
        }
    }

    /// Whether the first word of a stream says that its watch is open.
    private static func isOpening(_ input: WatchStateMachine.Input) -> Bool {
        guard case .response(let response) = input else { return false }
        return response.created == true && response.canceled != true
    }
}
