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
        /// It isn't done, and this is the answer.
        case failure(GatewayFailure)
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
        /// The answer to everything while no request gets through.
        var cut: GatewayFailure?
        var isCut: Bool { cut != nil }
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
    func cut(_ answer: GatewayFailure = .unconnected("cut")) {
        let (streams, open) = state.withLock { state in
            state.cut = answer
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

    func mend() { state.withLock { $0.cut = nil } }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        let text = String(decoding: request.body, as: UTF8.self)
        // Others ask for the mark, or whether something is as it was.
        let isWrite = text.contains("request_put") || text.contains("request_delete_range")
        let (cut, number) = state.withLock { state in
            if isWrite { state.writes.append(request) }
            return (state.cut, state.writes.count)
        }
        if let cut { throw cut }
        switch isWrite ? fault(number) : nil {
        case .refusal: throw .refused(code: 8, message: "etcdserver: mvcc: database space exceeded")
        case .failure(let failure): throw failure
        case .lostRequest: throw .unreachable("lost on the way there")
        case .lostAnswer:
            _ = try transport.send(request, timeout: timeout)
            throw .unreachable("lost on the way back")
        case .otherAnswer(let failure, let body):
            _ = try transport.send(request, timeout: timeout)
            do { try body() } catch { throw .notUnderstood("\(error)") }
            throw failure
        case .lostConnection:
            defer { self.cut() }
            _ = try transport.send(request, timeout: timeout)
            throw .unreachable("lost with its connection")
        case nil: return try transport.send(request, timeout: timeout)
        }
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        if let cut = state.withLock({ $0.cut }) {
            receive(.end(cut))
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
