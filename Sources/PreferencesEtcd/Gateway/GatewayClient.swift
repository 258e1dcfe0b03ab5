internal import DurableFile

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Requests to whichever endpoint answers, with a token that is renewed; blocks for as long as it is told, or an attempt more.
final class GatewayClient: Sendable {
    /// Why a call had no answer.
    struct Failure: Error {
        var reason: GatewayFailure
        /// Whether a server may have done what was asked.
        var isInDoubt: Bool
    }

    let transport: any Transport
    /// Is called with what operators log and count.
    let record: @Sendable (EtcdEvent) -> Void
    private let credentials: EtcdCredentials?
    private let attemptTimeout: Duration
    private let random: @Sendable () -> Double
    private let rotation: Lock<EndpointRotation>
    private let tokens: Lock<TokenKeeper>

    init(
        _ configuration: EtcdConfiguration,
        transport: any Transport,
        record: @escaping @Sendable (EtcdEvent) -> Void = { _ in }
    ) {
        self.transport = transport
        self.record = record
        credentials = configuration.credentials
        attemptTimeout = configuration.attemptTimeout
        random = configuration.random
        rotation = Lock(EndpointRotation(configuration.endpoints, random: configuration.random))
        tokens = Lock(TokenKeeper(hasUser: configuration.credentials != nil))
    }

    var endpoint: String { rotation.withLock { $0.current } }
    var endpoints: [String] { rotation.withLock { $0.endpoints } }

    /// One of the endpoints, by chance.
    var randomEndpoint: String { endpoints[Int(random() * Double(endpoints.count))] }

    func leave(_ endpoint: String) { rotation.withLock { $0.leave(endpoint) } }

    func use(_ endpoint: String) { rotation.withLock { $0.use(endpoint) } }

    /// Asks until there is an answer or time is over.
    ///
    /// `request` is called for each attempt, and told whether a server may have done an earlier one.
    func call<Response: Decodable>(
        _ path: String,
        within timeout: Duration,
        _ request: (_ isRepeated: Bool) -> some Encodable
    ) throws(Failure) -> Response {
        let end = ContinuousClock.now + timeout
        var pause = RetryPause(endpointCount: endpoints.count, random: random)
        var isRepeated = false
        var renewals = 0
        while true {
            let endpoint = endpoint
            let failure: GatewayFailure
            do throws(GatewayFailure) {
                let body = try Self.encode(request(isRepeated))
                let kind: RequestKind = path == "/v3/kv/txn" ? .write : .read
                return try ask(endpoint, path, body, kind, within: min(attemptTimeout, end - .now))
            } catch {
                failure = error
            }
            if case .tokenRefused = failure, credentials != nil, renewals < 3 {
                // Not executed, and answered at once with a new token.
                renewals += 1
                continue
            }
            isRepeated = isRepeated || failure.isInDoubt
            if case .notUnderstood = failure { leave(endpoint) }
            guard failure.isPassing else { throw Failure(reason: failure, isInDoubt: isRepeated) }
            leave(endpoint)
            let wait = pause.next()
            guard ContinuousClock.now + wait < end else { throw Failure(reason: failure, isInDoubt: isRepeated) }
            record(.retry(endpoint: endpoint, reason: failure, pause: wait))
            if wait > .zero { Pause.sleep(microseconds: UInt32(wait / .microseconds(1))) }
        }
    }

    /// Asks one endpoint once.
    func ask<Response: Decodable>(
        _ endpoint: String,
        _ path: String,
        _ body: Data,
        _ kind: RequestKind,
        within timeout: Duration
    ) throws(GatewayFailure) -> Response {
        let token: String?
        do throws(GatewayFailure) { token = try self.token(from: endpoint, within: timeout) } catch {
            // What was asked has not been sent yet.
            throw error.isInDoubt ? .unconnected(error.text) : error
        }
        let request = GatewayRequest(endpoint: endpoint, path: path, body: body, token: token)
        do throws(GatewayFailure) {
            return try send(request, kind, within: timeout)
        } catch {
            if case .tokenRefused = error { refuse(token) }
            throw error
        }
    }

    /// The token to send, which may have to be asked for first.
    func token(from endpoint: String, within timeout: Duration) throws(GatewayFailure) -> String? {
        guard case .authenticate = tokens.withLock({ $0.next }), let credentials else {
            if case .use(let token) = tokens.withLock({ $0.next }) { return token }
            return nil
        }
        let body = try Self.encode(AuthenticateRequest(name: credentials.user, password: credentials.password()))
        let request = GatewayRequest(endpoint: endpoint, path: "/v3/auth/authenticate", body: body)
        let response: AuthenticateResponse = try send(request, .authenticate, within: timeout)
        guard let token = response.token else { throw .notUnderstood("an answer without a token") }
        tokens.withLock { $0.take(token) }
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

    func refuse(_ token: String?) { tokens.withLock { $0.refuse(token) } }

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
