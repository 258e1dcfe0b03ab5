internal import Preferences

/// The events of a suite from the revision that a write was based on up to the one at which its repetition came too late.
///
/// They show whether a write whose answer was lost was stored.
struct History {
    private enum Progress {
        case reading([WatchEvent])
        case complete([WatchEvent])
        case failed(GatewayFailure)
    }

    private let builder: TransactionBuilder
    private let end: Int64
    private let client: GatewayClient
    private let attemptTimeout: Duration

    /// Creates a history that ends at a revision at which a key of the suite was put; without an event there, the end can't be seen.
    init(
        of builder: TransactionBuilder,
        through end: Int64,
        _ client: GatewayClient,
        _ configuration: EtcdConfiguration
    ) {
        self.builder = builder
        self.end = end
        self.client = client
        attemptTimeout = configuration.attemptTimeout
    }

    /// Returns the revision at which the write was stored, or `nil` if it wasn't.
    func find(until deadline: ContinuousClock.Instant) throws(GatewayFailure) -> Int64? {
        var (renewals, misunderstandings) = (0, 0)
        while true {
            let endpoint = client.endpoint
            var token: String?
            do throws(GatewayFailure) {
                token = try client.token(from: endpoint, within: attemptTimeout)
                return Self.revision(of: builder, in: try events(from: endpoint, with: token))
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
                if case .tokenRefused = error, token != nil, renewals < 3 {
                    // The token has expired.
                    renewals += 1
                    client.invalidate(token)
                    continue
                }
                if case .notUnderstood = error { misunderstandings += 1 }
                guard error.isTemporary || 1...client.endpoints.count ~= misunderstandings else { throw error }
                client.leave(endpoint)
                pauseThread(for: .milliseconds(50))
            }
        }
    }

    static func revision(of builder: TransactionBuilder, in events: [WatchEvent]) -> Int64? {
        events.revisions.first(where: builder.isMade)?.first?.kv.modRevision.value
    }

    private func events(from endpoint: String, with token: String?) throws(GatewayFailure) -> [WatchEvent] {
        let keys = builder.keys
        let create = WatchRequest.Create(key: keys.start, rangeEnd: keys.end, startRevision: builder.base + 1)
        let request = GatewayRequest(
            endpoint: endpoint,
            path: "/v3/watch",
            body: try GatewayClient.encode(WatchRequest(create: create)),
            token: token
        )
        let progress = Condition(Progress.reading([]))
        let stream = client.transport.stream(request) { [end] part in
            let input = WatchDriver.input(of: part)
            progress.signal { $0 = Self.next($0, input, end: end) }
        }
        defer { stream.cancel() }
        let attemptEnd = ContinuousClock.now + attemptTimeout
        let result: Result<[WatchEvent], GatewayFailure> = progress.wait { progress in
            switch progress {
            case .complete(let events): return .done(.success(events))
            case .failed(let failure): return .done(.failure(failure))
            case .reading:
                let rest = attemptEnd - .now
                return rest > .zero
                    ? .until(rest) : .done(.failure(.unreachable("\(endpoint) did not send the history in time")))
            }
        }
        return try result.get()
    }

    private static func next(_ progress: Progress, _ input: WatchStateMachine.Input, end: Int64) -> Progress {
        guard case .reading(var events) = progress else { return progress }
        switch input {
        case .response(let response):
            if response.compactRevision.value > 0 {
                return .failed(.refused(code: 11, message: response.cancelReason ?? "the history was compacted"))
            }
            if response.canceled == true { return .failed(WatchStateMachine.failure(of: response)) }
            events += response.events ?? []
            return (events.last?.kv.modRevision.value ?? 0) >= end ? .complete(events) : .reading(events)
        case .ended(let failure): return .failed(failure)
        default: return progress
        }
    }
}
