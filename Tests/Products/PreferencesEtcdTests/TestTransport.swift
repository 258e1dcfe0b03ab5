#if Etcd
import Foundation
@testable import Preferences

@testable import PreferencesEtcd

struct NoStream: TransportStream {
    func cancel() {}
}

/// A transport over HTTP into which a test can inject faults: no connection, rejections, lost requests and lost answers.
final class TestTransport: Transport {
    enum Fault {
        /// The server rejects the request.
        case refusal
        /// The request is not executed, and this is the answer.
        case failure(GatewayFailure)
        /// The request is lost.
        case lostRequest
        /// The server executes the request, and the answer is lost.
        case lostAnswer
        /// The same, and no server can be reached from then on.
        case lostConnection
        /// The server executes the request, and this is the answer.
        case replacedAnswer(String)
        /// The server executes the request, then the closure runs, and its result is the answer.
        case otherAnswer(GatewayFailure, after: @Sendable () throws -> Void)
    }

    private struct State {
        /// The answer to all requests while the connection is cut.
        var cut: GatewayFailure?
        var isCut: Bool { cut != nil }
        /// Whether no stream can be opened, while requests are answered.
        var hasNoStreams = false
        /// The answer to reads of the suite while a store is opened that has no connection.
        var suiteReadAnswer: GatewayFailure?
        var suiteReads = 0
        /// The number of the next reads of the suite that fail.
        var failingSuiteReads = 0
        /// Whether the server's next answer to a transaction is held until a read of the suite has failed.
        var holdsTransaction = false
        /// The number of the next serializable reads whose answers are lost.
        var failingMemberReads = 0
        var streamCount = 0
        var streams: [@Sendable (StreamPart) -> Void] = []
        var open: [any TransportStream] = []
        var writes: [GatewayRequest] = []
        var lineObserver: LineObserver?
    }

    private struct LineObserver {
        let receive: @Sendable (Data) -> Void
    }

    private let transport: HTTPTransport
    private let state = Lock(State())
    private let hasSuiteReadFailed = Condition(false)
    /// Returns the fault of a write, by its number.
    private let fault: @Sendable (Int) -> Fault?

    init(_ fault: @escaping @Sendable (Int) -> Fault? = { _ in nil }) throws {
        transport = try HTTPTransport(tls: nil, connectTimeout: .seconds(5))
        self.fault = fault
    }

    /// Ends all connections, and allows no new ones until `mend`.
    func cut(_ answer: GatewayFailure = .unconnected("cut")) {
        let (streams, open) = state.withLock { state in
            state.cut = answer
            return (exchange(&state.streams, with: []), exchange(&state.open, with: []))
        }
        for stream in open { stream.cancel() }
        for stream in streams { stream(.end(.unreachable("cut"))) }
    }

    /// Opens a store that has no connection until `mend`.
    ///
    /// Opening it fails at once, because the first answer isn't temporary. So the timeout of the store can be so long that no slow
    /// machine exceeds it in a later call. A watch that a store with a cache has started gets a temporary answer, which isn't reported.
    func openWithoutConnection(_ store: PreferenceStore) {
        cut()
        state.withLock { $0.suiteReadAnswer = .notUnderstood("cut") }
        _ = store.contents
        state.withLock { $0.suiteReadAnswer = nil }
    }

    /// Delivers a write again, like a delayed copy in a network.
    func repeatWrite(_ number: Int) throws {
        _ = try transport.send(state.withLock { $0.writes[number - 1] }, timeout: .seconds(5))
    }

    /// The number of writes that were sent, including those that a fault stopped.
    var writeCount: Int { state.withLock { $0.writes.count } }

    func mend(withStreams: Bool = true) { state.withLock { ($0.cut, $0.hasNoStreams) = (nil, !withStreams) } }

    /// Allows no streams until `mend`, but requests.
    func cutStreams() { state.withLock { $0.hasNoStreams = true } }

    /// The number of requests for all names of a suite and their values.
    var suiteReads: Int { state.withLock { $0.suiteReads } }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        let text = String(decoding: request.body, as: UTF8.self)
        // Transactions without changes read the mark, or check whether keys are unmodified.
        let isWrite = text.contains("request_put") || text.contains("request_delete_range")
        let isSuiteRead =
            request.path == "/v3/kv/range" && text.contains("range_end")
            && !["count_only", "keys_only", "min_mod_revision"].contains(where: text.contains)
        let isMemberRead = text.contains("serializable")
        let isHeld = request.path == "/v3/kv/txn" && state.withLock { exchange(&$0.holdsTransaction, with: false) }
        defer {
            if isHeld {
                mend()
                hasSuiteReadFailed.wait { $0 ? .done(()) : .until(nil) }
            }
        }
        let (cut, number) = state.withLock { state -> (GatewayFailure?, Int) in
            if isSuiteRead, !state.isCut, state.failingSuiteReads > 0, !state.holdsTransaction {
                state.failingSuiteReads -= 1
                hasSuiteReadFailed.signal { $0 = true }
                return (.unconnected("lost"), state.writes.count)
            }
            if isMemberRead, state.failingMemberReads > 0 {
                state.failingMemberReads -= 1
                return (.unreachable("lost"), state.writes.count)
            }
            if isSuiteRead, !state.isCut { state.suiteReads += 1 }
            if isWrite { state.writes.append(request) }
            return (isSuiteRead ? state.suiteReadAnswer ?? state.cut : state.cut, state.writes.count)
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
        case .replacedAnswer(let text):
            _ = try transport.send(request, timeout: timeout)
            return Data(text.utf8)
        case .lostConnection:
            defer { self.cut() }
            _ = try transport.send(request, timeout: timeout)
            throw .unreachable("lost with its connection")
        case nil: return try transport.send(request, timeout: timeout)
        }
    }

    /// Allows no streams, and holds the server's next answer to a transaction until the watch, which is then allowed its stream, has begun
    /// to read the suite; the first attempts of that fail, so that the answer is used before the values.
    func holdTransactionUntilWatchReads() {
        state.withLock { ($0.hasNoStreams, $0.holdsTransaction, $0.failingSuiteReads) = (true, true, 4) }
    }

    /// Loses the next reads that their member answers alone.
    func failMemberReads(_ count: Int) { state.withLock { $0.failingMemberReads = count } }

    /// The number of streams that were opened.
    var streamCount: Int { state.withLock { $0.streamCount } }

    /// Passes a copy of each line of later streams to a closure.
    func observeLines(_ receive: @escaping @Sendable (Data) -> Void) {
        state.withLock { $0.lineObserver = LineObserver(receive: receive) }
    }

    func stream(
        _ request: GatewayRequest,
        _ received: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        let observer = state.withLock { $0.lineObserver }
        let receive: @Sendable (StreamPart) -> Void = { part in
            if case .line(let line) = part { observer?.receive(line) }
            received(part)
        }
        if let cut = state.withLock({ $0.hasNoStreams ? .unreachable("cut") : $0.cut }) {
            receive(.end(cut))
            return NoStream()
        }
        let stream = transport.stream(request, receive)
        // The connection may have been cut while the stream was opened.
        let isCut = state.withLock { state in
            guard !state.isCut else { return true }
            state.streamCount += 1
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
