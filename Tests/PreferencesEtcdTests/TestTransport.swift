#if Etcd
import DurableFile
import Foundation

@testable import PreferencesEtcd

struct NoStream: TransportStream {
    func cancel() {}
}

/// Requests over HTTP that a test can cut off, refuse or lose the answers of.
final class TestTransport: Transport {
    enum Fault {
        /// The server refuses it.
        case refusal
        /// It is lost on the way there.
        case lostRequest
        /// The server does it, and the answer is lost.
        case lostAnswer
        /// The same, and nothing can be reached from then on.
        case lostConnection
    }

    private struct State {
        var isCut = false
        var streams: [@Sendable (StreamPart) -> Void] = []
        var open: [any TransportStream] = []
        var writes = 0
    }

    private let transport: HTTPTransport
    private let state = Lock(State())
    /// What happens to a write, by its number.
    private let fault: @Sendable (Int) -> Fault?

    init(_ fault: @escaping @Sendable (Int) -> Fault? = { _ in nil }) throws {
        transport = try HTTPTransport(tls: nil, connectTimeout: .seconds(5))
        self.fault = fault
    }

    /// Ends all connections, and lets none be made until `mend`.
    func cut() {
        let (streams, open) = state.withLock { state in
            state.isCut = true
            return (exchange(&state.streams, with: []), exchange(&state.open, with: []))
        }
        for stream in open { stream.cancel() }
        for stream in streams { stream(.end(.unreachable("cut"))) }
    }

    func mend() { state.withLock { $0.isCut = false } }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        let (isCut, number) = state.withLock { state in
            if request.path == "/v3/kv/txn" { state.writes += 1 }
            return (state.isCut, state.writes)
        }
        if isCut { throw .unconnected("cut") }
        switch request.path == "/v3/kv/txn" ? fault(number) : nil {
        case .refusal: throw .refused(code: 8, message: "etcdserver: mvcc: database space exceeded")
        case .lostRequest: throw .unreachable("lost on the way there")
        case .lostAnswer:
            _ = try transport.send(request, timeout: timeout)
            throw .unreachable("lost on the way back")
        case .lostConnection:
            defer { cut() }
            _ = try transport.send(request, timeout: timeout)
            throw .unreachable("lost with its connection")
        case nil: return try transport.send(request, timeout: timeout)
        }
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        guard !state.withLock({ $0.isCut }) else {
            receive(.end(.unconnected("cut")))
            return NoStream()
        }
        let stream = transport.stream(request, receive)
        state.withLock { state in
            state.streams.append(receive)
            state.open.append(stream)
        }
        return stream
    }
}
#endif
