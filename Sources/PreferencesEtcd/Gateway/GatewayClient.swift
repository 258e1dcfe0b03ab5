internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A client of etcd's gateway that tries its endpoints in turn and renews its token; a call blocks for its timeout at most, and an
/// attempt more.
final class GatewayClient: Sendable {
    /// The reason why a call failed.
    struct Failure: Error {
        var reason: GatewayFailure
        /// Whether a server may have executed the request.
        var isInDoubt: Bool
    }

    let transport: any Transport
    /// The closure that logs and counts events.
    let record: @Sendable (EtcdEvent) -> Void
    private let credentials: EtcdCredentials?
    private let attemptTimeout: Duration
    private let random: @Sendable () -> Double
    private let rotation: Lock<EndpointRotation>
    private let tokens: Lock<TokenKeeper>
    private let cluster = Lock(Cluster())
    /// The time that a read waits for an answer to begin; doubled after each of the endpoints was silent for it, and shortened by an answer.
    private let readPatience: Lock<Duration>

    private struct Cluster {
        /// The number of the cluster that has answered last.
        var identifier: String?
        /// Called before an answer of another one is returned.
        var changed: @Sendable () -> Void = {}
    }

    init(
        _ configuration: EtcdConfiguration,
        transport: any Transport,
        record: @escaping @Sendable (EtcdEvent) -> Void = { _ in }
    ) {
        self.transport = transport
        self.record = record
        credentials = configuration.credentials
        attemptTimeout = configuration.attemptTimeout
        readPatience = Lock(configuration.attemptTimeout)
        random = configuration.random
        rotation = Lock(EndpointRotation(configuration.endpoints, random: configuration.random))
        tokens = Lock(TokenKeeper(hasUser: configuration.credentials != nil))
    }

    var endpoint: String { rotation.withLock { $0.current } }
    var endpoints: [String] { rotation.withLock { $0.endpoints } }

    /// An endpoint chosen at random.
    var randomEndpoint: String { endpoints[Int(random() * Double(endpoints.count))] }

    func leave(_ endpoint: String) { rotation.withLock { $0.leave(endpoint) } }

    func use(_ endpoint: String) { rotation.withLock { $0.use(endpoint) } }

    /// Sends a request, repeatedly and to all endpoints if necessary, and returns the answer.
    ///
    /// `request` is called for each attempt; its parameter is whether a server may have executed an earlier one. The time of an answer
    /// with a page of the suite shows how long the next read has to wait.
    func call<Response: Decodable>(
        _ path: String,
        within timeout: Duration,
        isPage: Bool = false,
        kind: RequestKind? = nil,
        _ request: (_ isRepeated: Bool) -> some Encodable
    ) throws(Failure) -> Response {
        let end = ContinuousClock.now + timeout
        var pause = RetryPause(endpointCount: endpoints.count, random: random)
        var isRepeated = false
        var (renewals, misunderstandings) = (0, 0)
        var untried = endpoints.count
        while true {
            let endpoint = endpoint
            let failure: GatewayFailure
            do throws(Failure) {
                let kind = kind ?? (path == "/v3/kv/txn" ? .write : .read)
                let patience = kind == .read ? readPatience.withLock { $0 } : attemptTimeout
                // The endpoints that weren't tried get their part of the time, too, but not less than an attempt's.
                let rest = end - .now
                let limit = min(patience, rest, max(rest / max(untried, 1), attemptTimeout))
                let start = ContinuousClock.now
                let response: Response = try ask(endpoint, path, request(isRepeated), kind, within: limit, until: end)
                // A read of a single key is quick although pages aren't.
                if kind == .read, isPage { noteRead(in: start.duration(to: .now)) }
                return response
            } catch {
                failure = error.reason
                isRepeated = isRepeated || error.isInDoubt
            }
            if case .tokenRefused = failure, credentials != nil, renewals < 3 {
                // The request was not executed, and is repeated at once with a new token.
                renewals += 1
                continue
            }
            if case .notUnderstood = failure {
                // A proxy may have replaced one answer; an endpoint that isn't etcd's gateway gives no other.
                leave(endpoint)
                misunderstandings += 1
                if misunderstandings <= endpoints.count, ContinuousClock.now < end {
                    record(.retry(endpoint: endpoint, reason: failure, pause: .zero))
                    continue
                }
            }
            guard failure.isTemporary else { throw Failure(reason: failure, isInDoubt: isRepeated) }
            leave(endpoint)
            untried -= 1
            let wait = pause.next()
            if wait > .zero, case .unreachable = failure {
                // All endpoints are silent: they may be busy with the reads of a whole fleet, and those that are given up cost as much.
                readPatience.withLock { $0 = max(min($0 * 2, RetryPause.longest), attemptTimeout) }
            }
            guard ContinuousClock.now + wait < end else { throw Failure(reason: failure, isInDoubt: isRepeated) }
            record(.retry(endpoint: endpoint, reason: failure, pause: wait))
            if wait > .zero { pauseThread(for: wait) }
        }
    }

    /// Sends a read as `call` does.
    func read(_ request: RangeRequest, within timeout: Duration) throws(Failure) -> RangeResponse {
        try call("/v3/kv/range", within: timeout) { _ in request }
    }

    /// Shortens the time that the next read waits, to twice the time of this one.
    private func noteRead(in duration: Duration) {
        readPatience.withLock { $0 = min($0, max(duration * 2, attemptTimeout)) }
    }

    /// Sends a request to one endpoint once, and returns the answer.
    ///
    /// It fails if nothing arrives for `timeout`, and at `end`, or if that is `nil`, after `timeout`.
    func ask<Response: Decodable>(
        _ endpoint: String,
        _ path: String,
        _ request: some Encodable,
        _ kind: RequestKind,
        within timeout: Duration,
        until end: ContinuousClock.Instant? = nil
    ) throws(Failure) -> Response {
        var complete = GatewayRequest(endpoint: endpoint, path: path, body: Data())
        complete.end = end ?? .now + timeout
        do throws(GatewayFailure) {
            complete.body = try Self.encode(request)
            complete.token = try token(from: endpoint, within: timeout)
        } catch {
            // The request itself was not sent yet.
            throw Failure(reason: error, isInDoubt: false)
        }
        do throws(GatewayFailure) {
            let response: Response = try send(complete, kind, within: timeout)
            if let answer = response as? any KeyResponse {
                // Each answer of etcd has a revision; other JSON has none, and says nothing about the request.
                guard answer.header?.revision.value ?? 0 > 0 else {
                    throw GatewayFailure.notUnderstood("an answer without a revision")
                }
                noteCluster(of: answer.header)
            }
            return response
        } catch {
            if case .tokenRefused = error { invalidate(complete.token) }
            throw Failure(reason: error, isInDoubt: error.isInDoubt)
        }
    }

    /// Has a closure called whenever another cluster than before answers.
    func observeCluster(_ changed: @escaping @Sendable () -> Void) { cluster.withLock { $0.changed = changed } }

    /// Treats an answer of another cluster as a change of it, unless one has answered already.
    func expectCluster(_ identifier: String) { cluster.withLock { $0.identifier = $0.identifier ?? identifier } }

    /// Records which cluster an answer or a message of a watch is of.
    func noteCluster(of header: ResponseHeader?) {
        guard let identifier = header?.cluster else { return }
        let changed = cluster.withLock { cluster in
            let before = exchange(&cluster.identifier, with: identifier)
            return before == nil || before == identifier ? nil : cluster.changed
        }
        changed?()
    }

    /// Returns the token to send, after requesting one if necessary; `nil` if the configuration has no user.
    func token(from endpoint: String, within timeout: Duration) throws(GatewayFailure) -> String? {
        guard case .authenticate = tokens.withLock({ $0.next }), let credentials else {
            if case .use(let token) = tokens.withLock({ $0.next }) { return token }
            return nil
        }
        let body = try Self.encode(AuthenticateRequest(name: credentials.user, password: credentials.password()))
        let request = GatewayRequest(
            endpoint: endpoint,
            path: "/v3/auth/authenticate",
            body: body,
            end: .now + timeout
        )
        let response: AuthenticateResponse = try send(request, .authenticate, within: timeout)
        guard let token = response.token else { throw .notUnderstood("an answer without a token") }
        tokens.withLock { $0.set(token) }
        return token
    }

    private func send<Response: Decodable>(
        _ request: GatewayRequest,
        _ kind: RequestKind,
        within timeout: Duration
    ) throws(GatewayFailure) -> Response {
        let start = ContinuousClock.now
        do throws(GatewayFailure) {
            let response: Response = try Self.decode(transport.send(request, timeout: timeout))
            record(.attempt(kind, failure: nil, start.duration(to: .now)))
            return response
        } catch {
            record(.attempt(kind, failure: error, start.duration(to: .now)))
            throw error
        }
    }

    func invalidate(_ token: String?) { tokens.withLock { $0.invalidate(token) } }

    static func encode(_ request: some Encodable) throws(GatewayFailure) -> Data {
        do {
            return try JSONEncoder().encode(request)
        } catch {
            throw .notUnderstood("\(error)")
        }
    }

    static func decode<Response: Decodable>(_ data: Data) throws(GatewayFailure) -> Response {
        do {
            return try JSONDecoder().decode(Response.self, from: data)
        } catch {
            throw .notUnderstood("\(error)")
        }
    }
}
