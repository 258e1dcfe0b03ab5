#if Etcd
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A transport over HTTP/1.1, on one event loop for all stores of the process.
///
/// The calling thread blocks while the event loop does the work. With tasks in place of the loop, blocked callers could
/// occupy all threads of Swift's pool, and the tasks would never run.
final class HTTPTransport: Transport {
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let connections: ConnectionSource

    init(tls: EtcdTLS?, connectTimeout: Duration) throws(PreferenceError) {
        connections = try ConnectionSource(tls, connectTimeout: connectTimeout, on: Self.loops)
    }

    func observeCertificates(_ handler: @escaping @Sendable (PreferenceError?) -> Void) {
        connections.observe(handler)
    }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        let answer = AnswerDelegate()
        let connections = connections.current()
        defer { withExtendedLifetime(connections) {} }
        let response: AnswerDelegate.Response
        do {
            let task = connections.client.execute(request: try Self.request(request), delegate: answer)
            task.futureResult.whenComplete { _ in answer.end() }
            if !answer.isComplete(within: timeout, until: request.end) {
                task.fail(reason: HTTPClientError.deadlineExceeded)
            }
            response = try task.wait()
        } catch {
            let text = text(of: error, at: request.endpoint)
            throw answer.isSent ? .unreachable(text) : .unconnected(text)
        }
        guard response.status == .ok else { throw Self.failure(response.status, response.body) }
        return response.body
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        let endpoint = request.endpoint
        let connections = connections.current()
        do {
            let delegate = LineDelegate(receive)
            let task = connections.client.execute(request: try Self.request(request), delegate: delegate)
            task.futureResult.whenComplete { [self] result in
                switch result {
                case .success(let failure): receive(.end(failure ?? .unreachable("\(endpoint) ended the watch")))
                case .failure(let error): receive(.end(.unconnected(text(of: error, at: endpoint))))
                }
            }
            // Retains the stream's connections, as new requests may use different ones.
            return HTTPStream(cancelling: {
                withExtendedLifetime(connections) { task.fail(reason: HTTPClientError.cancelled) }
            })
        } catch {
            receive(.end(.unreachable(text(of: error, at: endpoint))))
            return HTTPStream(cancelling: {})
        }
    }

    private static func request(_ request: GatewayRequest) throws -> HTTPClient.Request {
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        // Makes the server end a watch on a member that has lost its leader.
        headers.add(name: "Grpc-Metadata-hasleader", value: "true")
        if let token = request.token { headers.add(name: "Authorization", value: token) }
        return try HTTPClient.Request(
            url: request.endpoint + request.path,
            method: .POST,
            headers: headers,
            body: .bytes(request.body)
        )
    }

    fileprivate static func failure(_ status: HTTPResponseStatus, _ body: Data) -> GatewayFailure {
        do {
            return GatewayFailure(try JSONDecoder().decode(ErrorResponse.self, from: body))
        } catch {
            // The answer is from a proxy, or from a server that is starting.
            let text = "HTTP status \(status.code) without an error of etcd"
            return status.code >= 500 ? .transient(text) : .notUnderstood(text)
        }
    }

    private func text(of error: any Error, at endpoint: String) -> String {
        var cause = (error as? HTTPClientError)?.shortDescription ?? "\(error)"
        if cause.contains("SSL") {
            // The certificates may have been replaced, and the next attempt may succeed.
            connections.setNeedsCheck()
            cause = connections.cause(of: cause)
        }
        return "\(endpoint): \(cause)"
    }
}

extension HTTPTransport: CustomReflectable {
    /// An empty mirror: the client and its event loop hold the requests of open streams, with their tokens.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: [:]) }
}

private struct HTTPStream: TransportStream {
    let cancelling: @Sendable () -> Void
    func cancel() { cancelling() }
}

/// A delegate that collects an answer, and records whether the request was sent and when some of it or of the answer passed last.
private final class AnswerDelegate: HTTPClientResponseDelegate {
    struct Response: Sendable {
        var status = HTTPResponseStatus.ok
        var body = Data()
    }

    private struct Progress {
        var isEnded = false
        var last = ContinuousClock.now
    }

    private let response = Lock(Response())
    private let sent = Lock(false)
    private let progress = Condition(Progress())

    var isSent: Bool { sent.withLock { $0 } }

    func end() { progress.signal { $0.isEnded = true } }

    /// Waits for the end; returns false if nothing arrives for a time, or at a deadline.
    func isComplete(within timeout: Duration, until deadline: ContinuousClock.Instant?) -> Bool {
        progress.wait { progress in
            if progress.isEnded { return .done(true) }
            let silenceEnd = progress.last + timeout
            let rest = min(silenceEnd, deadline ?? silenceEnd) - .now
            return rest > .zero ? .until(rest) : .done(false)
        }
    }

    func didSendRequestHead(task: HTTPClient.Task<Response>, _ head: HTTPRequestHead) {
        sent.withLock { $0 = true }
    }

    // A large request on a slow link needs time, too.
    func didSendRequestPart(task: HTTPClient.Task<Response>, _ part: IOData) { noteProgress() }

    func didSendRequest(task: HTTPClient.Task<Response>) { noteProgress() }

    private func noteProgress() {
        // Not a signal: the waiting thread reads it when the time since the last part is over.
        progress.withLock { $0.last = .now }
    }

    func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        noteProgress()
        response.withLock { $0.status = head.status }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        response.withLock { $0.body.append(contentsOf: buffer.readableBytesView) }
        noteProgress()
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Response>) throws -> Response { response.withLock { $0 } }
}

/// A delegate that splits a streamed answer into lines.
private final class LineDelegate: HTTPClientResponseDelegate {
    typealias Response = GatewayFailure?

    private struct State {
        var status = HTTPResponseStatus.ok
        var rest = Data()
    }

    private let receive: @Sendable (StreamPart) -> Void
    private let state = Lock(State())

    init(_ receive: @escaping @Sendable (StreamPart) -> Void) {
        self.receive = receive
    }

    func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        state.withLock { $0.status = head.status }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let bytes = Data(buffer.readableBytesView)
        let lines = state.withLock { state -> [Data] in
            state.rest.append(bytes)
            guard state.status == .ok, bytes.contains(10) else { return [] }
            var lines = state.rest.split(separator: 10, omittingEmptySubsequences: false).map { Data($0) }
            state.rest = lines.removeLast()
            return lines
        }
        for line in lines where !line.isEmpty { receive(.line(line)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Response>) throws -> Response {
        state.withLock { $0.status == .ok ? nil : HTTPTransport.failure($0.status, $0.rest) }
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
#endif
