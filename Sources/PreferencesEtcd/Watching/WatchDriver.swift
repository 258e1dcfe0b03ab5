internal import DurableFile
internal import Preferences

/// Does what the state machine of a watch says, on a thread of its own.
final class WatchDriver: Sendable {
    private struct Inbox {
        /// Each with the stream that it came by, if it did by one.
        var inputs = FirstInFirstOut<(input: WatchStateMachine.Input, stream: Int?)>()
        /// Which of the streams is in use; what another says, or has said, is dropped.
        var stream = 0
        var isStopped = false
        var isStarted = false
    }

    /// What the machine's actions do outside of it; all blocks.
    protocol Delegate: AnyObject, Sendable {
        func take(_ events: [WatchEvent])
        func reread() -> Result<Int64, GatewayFailure>
        func probe(_ endpoint: String) -> Result<Bool, GatewayFailure>
        func becameConnected(to endpoint: String)
        func becameDisconnected(_ failure: GatewayFailure)
    }

    private let client: GatewayClient
    private let keys: KeySpace
    private let attemptTimeout: Duration
    private let probeInterval: Duration
    private let inbox = Condition(Inbox())

    init(_ client: GatewayClient, keys: KeySpace, configuration: EtcdConfiguration) {
        self.client = client
        self.keys = keys
        attemptTimeout = configuration.attemptTimeout
        probeInterval = configuration.probeInterval
    }

    /// Watches from behind a revision, or from what is read first; once.
    func start(after revision: Int64?, _ delegate: some Delegate) throws(PreferencesError) {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isStarted = true }
            return !inbox.isStarted
        }
        guard isFirst else { return }
        let isRunning = WorkerThread.start("etcd watch") { [weak delegate] in self.run(after: revision) { delegate } }
        guard isRunning else {
            inbox.withLock { $0.isStarted = false }
            throw PreferencesError(.unavailable, "the system has no thread left to watch etcd with; end some")
        }
    }

    /// Has everything be read anew.
    func readAnew() { inbox.signal { $0.inputs.append((.lost, nil)) } }

    /// Has the member be asked now that watches, which sends what waits.
    func probeNow() { inbox.signal { $0.inputs.append((.waiting, nil)) } }

    func stop() { inbox.signal { $0.isStopped = true } }

    private func run(after revision: Int64?, _ delegate: () -> (any Delegate)?) {
        var machine = WatchStateMachine(attemptTimeout: attemptTimeout, probeInterval: probeInterval)
        var watch = OpenWatch()
        defer { watch.stream?.cancel() }
        var inputs: [WatchStateMachine.Input] = [.begin(after: revision)]
        while true {
            while !inputs.isEmpty {
                for action in machine.handle(inputs.removeFirst()) {
                    guard let delegate = delegate() else { return }
                    if let input = perform(action, &watch, delegate) { inputs.append(input) }
                }
            }
            guard let input = next(within: machine.patience) else { return }
            inputs = [input]
        }
    }

    private struct OpenWatch {
        var stream: (any TransportStream)?
        var endpoint = ""
        var token: String?
    }

    private func perform(
        _ action: WatchStateMachine.Action,
        _ watch: inout OpenWatch,
        _ delegate: any Delegate
    ) -> WatchStateMachine.Input? {
        switch action {
        case .open(let revision): return open(from: revision, &watch)
        case .close:
            inbox.withLock { $0.stream += 1 }
            watch.stream?.cancel()
            watch.stream = nil
        case .leaveEndpoint: client.leave(watch.endpoint)
        case .renewToken: client.refuse(watch.token)
        case .take(let events): delegate.take(events)
        case .probe: return .probed(delegate.probe(watch.endpoint))
        case .reread: return .reread(delegate.reread())
        case .becameConnected: delegate.becameConnected(to: watch.endpoint)
        case .becameDisconnected(let failure): delegate.becameDisconnected(failure)
        }
        return nil
    }

    private func open(from revision: Int64, _ watch: inout OpenWatch) -> WatchStateMachine.Input? {
        // One that ended by what it said may still be open, and holds a connection.
        watch.stream?.cancel()
        watch.stream = nil
        watch.endpoint = client.endpoint
        let number = inbox.withLock { inbox in
            inbox.stream += 1
            return inbox.stream
        }
        do throws(GatewayFailure) {
            watch.token = try client.token(from: watch.endpoint, within: attemptTimeout)
            let create = WatchRequest.Create(key: keys.start, rangeEnd: keys.end, startRevision: revision)
            let request = GatewayRequest(
                endpoint: watch.endpoint,
                path: "/v3/watch",
                body: try GatewayClient.encode(WatchRequest(create: create)),
                token: watch.token
            )
            watch.stream = client.transport.stream(request) { [weak self] in self?.receive($0, from: number) }
            return nil
        } catch {
            return .ended(error)
        }
    }

    private func receive(_ part: StreamPart, from stream: Int) {
        let input = Self.input(of: part)
        inbox.signal { inbox in
            if inbox.stream == stream { inbox.inputs.append((input, stream)) }
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
    private func next(within patience: Duration?) -> WatchStateMachine.Input? {
        let end = patience.map { ContinuousClock.now + $0 }
        return inbox.wait { inbox in
            if inbox.isStopped { return .done(nil) }
            while let (input, stream) = inbox.inputs.popFirst() {
                guard stream == nil || stream == inbox.stream else { continue }
                // It has said why it ends; its connection may end with another word.
                if case .ended = input { inbox.stream += 1 }
                return .done(input)
            }
            guard let end else { return .until(nil) }
            let rest = end - .now
            return rest > .zero ? .until(rest) : .done(.silence)
        }
    }
}
