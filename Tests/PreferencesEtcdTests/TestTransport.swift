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
        /// The server does it, then something else happens, and the answer is this.
        case otherAnswer(GatewayFailure, after: @Sendable () throws -> Void)
    }

    private struct State {
        var isCut = false
        var streams: [@Sendable (StreamPart) -> Void] = []
        var open: [any TransportStream] = []
        var writes: [GatewayRequest] = []
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

    /// Delivers a write again, as a network does that holds a copy back.
    func repeatWrite(_ number: Int) throws {
        _ = try transport.send(state.withLock { $0.writes[number - 1] }, timeout: .seconds(5))
    }

    /// How many writes were sent, or tried to be.
    var writeCount: Int { state.withLock { $0.writes.count } }

    func mend() { state.withLock { $0.isCut = false } }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        let text = String(decoding: request.body, as: UTF8.self)
        // Others ask for the mark, or whether something is as it was.
        let isWrite = text.contains("request_put") || text.contains("request_delete_range")
        let (isCut, number) = state.withLock { state in
            if isWrite { state.writes.append(request) }
            return (state.isCut, state.writes.count)
        }
        if isCut { throw .unconnected("cut") }
        switch isWrite ? fault(number) : nil {
        case .refusal: throw .refused(code: 8, message: "etcdserver: mvcc: database space exceeded")
        case .lostRequest: throw .unreachable("lost on the way there")
        case .lostAnswer:
            _ = try transport.send(request, timeout: timeout)
            throw .unreachable("lost on the way back")
        case .otherAnswer(let failure, let body):
            _ = try transport.send(request, timeout: timeout)
            do { try body() } catch { throw .notUnderstood("\(error)") }
            throw failure
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
        // It may have been cut while this one was opened.
        let isCut = state.withLock { state in
            guard !state.isCut else { return true }
            state.streams.append(receive)
            state.open.append(stream)
            return false
        }
        guard isCut else { return stream }
        stream.cancel()
        receive(.end(.unreachable("cut")))
        return NoStream()
    }
}
#endif
