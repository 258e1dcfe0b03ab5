internal import Preferences

/// A thread that performs the actions of a watch's state machine, and passes it the answers of the servers.
final class WatchDriver: Sendable {
    private struct Inbox {
        /// The parts of the streams' answers, each with the number of its stream.
        var parts: ArraySlice<(part: StreamPart, stream: Int)> = []
        /// Whether `waiting` has yet to be passed to the machine; once, however often it was requested.
        var isAwaited = false
        /// Whether `historyEnded` has yet to be passed.
        var hasHistoryEnded = false
        /// The number of the current stream; parts of closed streams are dropped.
        var stream: Int?
        /// The number of the stream of a replacement that is being opened.
        var replacement: Int?
        var streamCount = 0
        /// The time to replace the connection to the current member.
        var renewal: ContinuousClock.Instant?
        /// The time when the current stream was opened or last sent anything.
        var lastMessage = ContinuousClock.now
        var isStopped = false
        var isStarted = false

        /// Removes and returns the next part.
        mutating func popPart() -> (part: StreamPart, stream: Int)? {
            // A slice keeps what was removed from its start until its storage is replaced.
            defer { if parts.isEmpty { parts = [] } }
            return parts.popFirst()
        }
    }

    /// The receiver of the machine's actions; each of its methods may block.
    protocol Delegate: AnyObject, Sendable {
        func apply(_ events: [WatchEvent])
        func advance(to revision: Int64)
        func reread() -> Result<Int64, GatewayFailure>
        func probe(_ endpoint: String, isCounting: Bool) -> Result<ProbeResult, GatewayFailure>
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

    /// Starts the watch after a revision, or if that is `nil` reads the suite first; later calls shorten the pause before it is opened.
    ///
    /// - Parameter isResumed: Whether the revision is that of the cache, so that the history has to be checked.
    func start(
        after revision: Int64?,
        isResumed: Bool = false,
        _ delegate: some Delegate
    ) throws(PreferenceError) {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isStarted = true }
            return !inbox.isStarted
        }
        guard isFirst else {
            // A server has just answered, and the store must receive the changes.
            if revision != nil { probeNow() }
            return
        }
        let isRunning = Pool.startThread { [weak delegate] in
            self.run(from: Self.beginning(after: revision, isResumed: isResumed)) { delegate }
        }
        guard isRunning else {
            inbox.withLock { $0.isStarted = false }
            throw PreferenceError(
                .unavailable,
                "the system can't start a thread to watch etcd; end some threads or processes and try again"
            )
        }
    }

    /// Requests a probe of the watch's member; without a watch, shortens the pause before it is opened to a second.
    func probeNow() { inbox.signal { $0.isAwaited = true } }

    /// Has the suite read again, because another history has answered.
    func endHistory() { inbox.signal { $0.hasHistoryEnded = true } }

    /// Moves the watch to a new connection to the same member, without missing a change.
    func renewConnection() { inbox.signal { $0.renewal = .now } }

    func stop() { inbox.signal { $0.isStopped = true } }

    private static func beginning(after revision: Int64?, isResumed: Bool) -> WatchStateMachine.Input {
        guard isResumed, let revision else { return .begin(after: revision) }
        return .resume(after: revision)
    }

    private func run(from beginning: WatchStateMachine.Input, _ delegate: () -> (any Delegate)?) {
        var machine = WatchStateMachine(
            endpointCount: client.endpoints.count,
            attemptTimeout: attemptTimeout,
            probeInterval: probeInterval,
            random: random
        )
        var watch = Watches(rebalanceAt: nextRebalance)
        defer {
            watch.current.stream?.cancel()
            watch.replacement.stream?.cancel()
        }
        var inputs: [WatchStateMachine.Input] = [beginning]
        // The end of the pause before the watch is opened, which no input moves.
        var pause: (start: ContinuousClock.Instant, end: ContinuousClock.Instant)?
        while true {
            while !inputs.isEmpty {
                for action in machine.handle(inputs.removeFirst()) {
                    guard let delegate = delegate() else { return }
                    if let input = perform(action, &watch, delegate) { inputs.append(input) }
                }
            }
            if !machine.isPausing {
                pause = nil
            } else if pause == nil {
                pause = (.now, .now + (machine.patience ?? .zero))
            }
            guard let input = next(machine, watch, pause) else { return }
            inputs = [input]
        }
    }

    private struct OpenWatch {
        var stream: (any TransportStream)?
        var endpoint = ""
        var token: String?
    }

    private struct Watches {
        var current = OpenWatch()
        /// The watch over another connection that is being opened to replace the current one.
        var replacement = OpenWatch()
        /// The time by which the replacement must be open.
        var replacementDeadline: ContinuousClock.Instant?
        /// Whether the replacement is at the same member.
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
            // If the server ended the watch by a message, its stream may still be open and hold a connection.
            watch.current.stream?.cancel()
            return open(&watch.current, at: client.endpoint, from: revision, as: \.stream).map { .ended($0) }
        case .close:
            inbox.withLock { $0.stream = nil }
            watch.current.stream?.cancel()
            watch.current.stream = nil
        case .leaveEndpoint: client.leave(watch.current.endpoint)
        case .renewToken: client.invalidate(watch.current.token)
        case .apply(let events):
            client.record(.received(events.count))
            delegate.apply(events)
        case .advance(let revision): delegate.advance(to: revision)
        case .probe(let isCounting):
            let result = delegate.probe(watch.current.endpoint, isCounting: isCounting)
            client.record(.probed(result))
            return .probed(result)
        case .reread: return .reread(delegate.reread())
        case .openReplacement(let revision): return openReplacement(from: revision, &watch)
        case .useReplacement: useReplacement(&watch)
        case .closeReplacement: closeReplacement(&watch)
        case .becameConnected: delegate.becameConnected(to: watch.current.endpoint)
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
            if role == \.stream { inbox.lastMessage = .now }
            return inbox.streamCount
        }
        do throws(GatewayFailure) {
            watch.token = try client.token(from: endpoint, within: attemptTimeout)
            let create = WatchRequest.Create(key: keys.names.start, rangeEnd: keys.names.end, startRevision: revision)
            let body = try GatewayClient.encode(WatchRequest(create: create))
            let request = GatewayRequest(endpoint: endpoint, path: "/v3/watch", body: body, token: watch.token)
            watch.stream = client.transport.stream(request) { [weak self] in self?.receive($0, from: number) }
            return nil
        } catch {
            return error
        }
    }

    // MARK: Replacement

    /// Opens a replacement of the watch, at the same member if its connection has to be renewed, else at a random one.
    private func openReplacement(from revision: Int64, _ watch: inout Watches) -> WatchStateMachine.Input? {
        let isRenewal = inbox.withLock { exchange(&$0.renewal, with: nil) } != nil
        let endpoint = isRenewal ? watch.current.endpoint : client.randomEndpoint
        watch.rebalanceAt = nextRebalance
        watch.isRenewal = isRenewal
        guard isRenewal || endpoint != watch.current.endpoint else { return .moved(false) }
        watch.replacementDeadline = .now + attemptTimeout
        // A new token is requested: each member extends the life of a token only by its use at that member.
        client.invalidate(watch.current.token)
        return open(&watch.replacement, at: endpoint, from: revision, as: \.replacement).map { _ in .moved(false) }
    }

    private func useReplacement(_ watch: inout Watches) {
        inbox.withLock { inbox in
            inbox.stream = exchange(&inbox.replacement, with: nil)
            inbox.lastMessage = .now
        }
        watch.current.stream?.cancel()
        watch.current = exchange(&watch.replacement, with: OpenWatch())
        watch.replacementDeadline = nil
        watch.isRenewal = false
        client.use(watch.current.endpoint)
        client.record(.moved(to: watch.current.endpoint))
    }

    private func closeReplacement(_ watch: inout Watches) {
        inbox.withLock { $0.replacement = nil }
        watch.replacement.stream?.cancel()
        watch.replacement = OpenWatch()
        watch.replacementDeadline = nil
        // A failed renewal is repeated later, as the old connection with the old certificate is still in use.
        guard exchange(&watch.isRenewal, with: false) else { return }
        inbox.withLock { $0.renewal = $0.renewal ?? .now + attemptTimeout }
    }

    /// Keeps a part for the watch's thread, which decodes it: this one is the event loop, and serves the other stores of the process, too.
    private func receive(_ part: StreamPart, from stream: Int) {
        inbox.signal { inbox in
            guard inbox.stream == stream || inbox.replacement == stream else { return }
            if inbox.stream == stream { inbox.lastMessage = .now }
            inbox.parts.append((part, stream))
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

    /// Waits for the next input or timer, and returns the input for it; `nil` if the watch was stopped.
    private func next(
        _ machine: WatchStateMachine,
        _ watch: Watches,
        _ pause: (start: ContinuousClock.Instant, end: ContinuousClock.Instant)?
    ) -> WatchStateMachine.Input? {
        var timers: [(end: ContinuousClock.Instant, input: WatchStateMachine.Input?)] = []
        if let pause {
            timers.append((pause.end, nil))
        } else if let patience = machine.patience {
            timers.append((.now + patience, nil))
        }
        if let end = watch.replacementDeadline { timers.append((end, .moved(false))) }
        if machine.mayMove, let end = watch.rebalanceAt { timers.append((end, .move)) }
        let awaitedEnd = machine.patienceWhenAwaited.map { (pause?.start ?? .now) + $0 }
        switch wait(for: timers, awaitedEnd, machine, pause) {
        case .stop: return nil
        case .input(let input): return input
        case .part(let part, let isReplacement): return received(part, isReplacement: isReplacement)
        }
    }

    /// Waits for a part or timer.
    private func wait(
        for timers: [(end: ContinuousClock.Instant, input: WatchStateMachine.Input?)],
        _ awaitedEnd: ContinuousClock.Instant?,
        _ machine: WatchStateMachine,
        _ pause: (start: ContinuousClock.Instant, end: ContinuousClock.Instant)?
    ) -> Next {
        inbox.wait { inbox in
            if inbox.isStopped { return .done(.stop) }
            // First, as the messages of the stream may be of the other history.
            if exchange(&inbox.hasHistoryEnded, with: false) { return .done(.input(.historyEnded)) }
            while let (part, stream) = inbox.popPart() {
                guard stream == inbox.stream || stream == inbox.replacement else { continue }
                return .done(.part(part, isReplacement: stream == inbox.replacement))
            }
            let renewal = machine.mayMove ? inbox.renewal.map { (end: $0, input: WatchStateMachine.Input.move) } : nil
            let awaited = inbox.isAwaited ? awaitedEnd.map { (end: $0, input: WatchStateMachine.Input.waiting) } : nil
            guard let first = (timers + [renewal, awaited].compactMap(\.self)).min(by: { $0.end < $1.end }) else {
                return .until(nil)
            }
            let rest = first.end - .now
            guard rest <= .zero else { return .until(rest) }
            if pause != nil || first.end == awaited?.end { inbox.isAwaited = false }
            return .done(.input(first.input ?? .silence(since: .now - inbox.lastMessage)))
        }
    }

    /// The end of a wait for the next input.
    private enum Next {
        case stop
        case input(WatchStateMachine.Input)
        case part(StreamPart, isReplacement: Bool)
    }

    /// Returns the input for a part.
    private func received(_ part: StreamPart, isReplacement: Bool) -> WatchStateMachine.Input {
        let input = Self.input(of: part)
        if case .response(let response) = input {
            client.noteCluster(of: response.header)
            // A message of another cluster must not be used, nor a replacement at one; the suite is read again.
            if inbox.withLock({ exchange(&$0.hasHistoryEnded, with: false) }) { return .historyEnded }
        }
        if isReplacement { return .moved(Self.isOpening(input)) }
        // The first reason counts; the end of the connection may give another.
        if case .ended = input { inbox.withLock { $0.stream = nil } }
        return input
    }

    /// Returns whether the first message of a stream says that its watch is open.
    private static func isOpening(_ input: WatchStateMachine.Input) -> Bool {
        guard case .response(let response) = input else { return false }
        return response.created == true && response.canceled != true
    }
}
