#if Etcd
import EtcdTestSupport
import Foundation
import NIOCore
import NIOPosix
@testable import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of the pages of a read, without a server.
struct SuitePagesTests {
    private let keys: KeySpace
    private let mark: KeyValue
    private var read: SuiteRead

    init() throws {
        keys = try KeySpace(prefix: "p", suite: "s")
        mark = KeyValue(key: keys.mark, value: Data("1".utf8), modRevision: 8)
        read = SuiteRead(keys, known: 5)
    }

    private func name(_ name: String) -> KeyValue {
        KeyValue(key: keys.key(of: name), value: Data("1".utf8), modRevision: 3)
    }

    private func page(_ keyValues: [KeyValue], more: Bool? = nil, at revision: Int64 = 9) -> RangeResponse {
        RangeResponse(header: ResponseHeader(revision: GatewayInteger(revision)), kvs: keyValues, more: more)
    }

    private mutating func add(_ page: RangeResponse) {
        let isAdded = read.add(page)
        #expect(isAdded)
    }

    @Test
    mutating func smallSuiteIsReadWithItsMarkByOneRequest() {
        #expect(read.request.key == keys.mark && read.request.rangeEnd == keys.names.end)
        #expect(read.request.limit == 1_000 && read.request.revision == nil)
        add(page([mark, name("a")]))
        #expect(read.isComplete && read.revision == 9)
        #expect(read.mark == mark && read.keyValues == [name("a")])
    }

    @Test
    mutating func furtherPagesAreOfTheRevisionOfTheFirstAndEndWithTheMark() {
        add(page([mark, name("a")], more: true))
        #expect(read.request.key == keys.key(of: "a") + [0] && read.request.revision == 9)
        // Another process has written.
        add(page([name("b")], more: true, at: 12))
        #expect(read.request.key == keys.key(of: "b") + [0] && read.request.revision == 9)
        add(page([name("c")], at: 12))
        #expect(!read.isComplete)
        #expect(read.request.key == keys.mark && read.request.rangeEnd == nil && read.request.revision == 9)
        add(page([mark], at: 12))
        #expect(read.isComplete && read.revision == 9)
        same(read.keyValues, [name("a"), name("b"), name("c")])
    }

    @Test
    mutating func pagesOfTwoHistoriesAreNotMixed() {
        add(page([mark, name("a")], more: true))
        add(page([name("b")]))
        let other = KeyValue(key: keys.mark, value: Data("2".utf8), modRevision: 8)
        let isAdded = read.add(page([other]))
        #expect(!isAdded && !read.isComplete)
    }
}

/// Reads of large suites, and of servers that are slow.
@Suite(needsEtcd)
struct SuiteReadTests {
    private let suite = freshSuite()

    /// A transport that fails all reads but the first, until `mend`.
    ///
    /// The failure isn't temporary, so that a call ends at once and needs no timeout, which a slow machine could exceed.
    private final class FailingPages: Transport {
        private let transport: HTTPTransport
        private let state = Lock((reads: 0, isCut: true, begun: 0))
        private let hasWatch: Bool

        init(hasWatch: Bool = true) throws {
            self.hasWatch = hasWatch
            transport = try HTTPTransport(tls: nil, connectTimeout: .seconds(5))
        }

        /// The number of reads from the start of the suite that were answered.
        var begun: Int { state.withLock { $0.begun } }

        func mend() { state.withLock { $0.isCut = false } }

        func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
            if request.path == "/v3/kv/range" {
                let text = String(decoding: request.body, as: UTF8.self)
                let fails = state.withLock { state in
                    state.reads += 1
                    if state.isCut, state.reads > 1 { return true }
                    if text.contains("limit"), !text.contains("\"revision\"") { state.begun += 1 }
                    return false
                }
                if fails { throw .notUnderstood("cut") }
            }
            return try transport.send(request, timeout: timeout)
        }

        func stream(
            _ request: GatewayRequest,
            _ receive: @escaping @Sendable (StreamPart) -> Void
        ) -> any TransportStream {
            if hasWatch { return transport.stream(request, receive) }
            receive(.end(.unconnected("cut")))
            return NoStream()
        }
    }

    /// A transport whose answers come from two clusters in turn, each with more pages.
    private final class TwoClusters: Transport {
        private let count = Lock(0)

        func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let key = Data("p/s/\(number)".utf8).base64EncodedString()
            return Data(
                """
                {"header":{"cluster_id":"\(number % 2)","revision":"\(100 + number)"},"count":"9","more":true,
                "kvs":[{"key":"\(key)","value":"MQ==","mod_revision":"3"}]}
                """.utf8
            )
        }

        func stream(
            _ request: GatewayRequest,
            _ receive: @escaping @Sendable (StreamPart) -> Void
        ) -> any TransportStream {
            receive(.end(.unconnected("cut")))
            return NoStream()
        }
    }

    /// The endpoints lead to two clusters; the read must end, although no attempt succeeds.
    @Test
    func readOfClustersThatAnswerInTurnFails() async throws {
        let store = try PreferenceStore(etcd: suite, .testing(["http://127.0.0.1:1"]), over: TwoClusters())
        await #expect(throws: PreferenceError.self) { try await store.load() }
    }

    /// The first page is older than the write, which must not take the value in it for the stored one.
    @Test
    func writeAfterUnfinishedReadIsStored() async throws {
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        let writer = try PreferenceStore.etcd(suite, configuration)
        try await writer.transaction { transaction in
            for index in 0..<2_500 { transaction["name \(index)"] = .integer(Int64(index)) }
        }
        let transport = try FailingPages(hasWatch: false)
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        await #expect(throws: PreferenceError.self) { try await store.load() }
        store["name 1"] = 1
        try await writer.write(-1, for: "name 1")
        transport.mend()
        try await store.flush()
        try await eventually("it isn't stored") { writer["name 1"] == 1 }
    }

    @Test
    func failedReadContinuesWithTheMissingPage() async throws {
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        let writer = try PreferenceStore.etcd(suite, configuration)
        try await writer.transaction { transaction in
            for index in 0..<2_500 { transaction["name \(index)"] = .integer(Int64(index)) }
        }
        let transport = try FailingPages()
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        let reports = Reports(of: store)
        await #expect(throws: PreferenceError.self) { try await store.load() }
        // Its change comes after the revision of the first page, so by the watch.
        try await writer.write(-1, for: "name 2400")
        try await writer.write(nil, for: "name 1")
        transport.mend()
        try await eventually("it has \(store.names.count) names") {
            store.names.count == 2_499 && store["name 2400"] == -1 && store["name 2"] == 2
        }
        same(transport.begun, 1)
        #expect(!reports.codes.contains(.notDurable))
    }

    /// An answer of ten parts, each some time after the other, takes longer than an attempt, but never stops.
    @Test
    func answerThatArrivesSlowlyIsNoTimeOut() async throws {
        // A machine that stops for six pauses is silent, too; then a longer pause decides.
        for milliseconds in [500, 2_000, 8_000] {
            let server = try await SlowServer.start(parts: 10, every: .milliseconds(Int64(milliseconds)))
            let result = await onThread {
                let transport = try HTTPTransport(tls: nil, connectTimeout: .seconds(60))
                let request = GatewayRequest(endpoint: server.url, path: "/", body: Data())
                return try transport.send(request, timeout: .milliseconds(milliseconds * 6))
            }
            try await server.channel.close()
            if case .failure = result, milliseconds < 8_000 { continue }
            try same(result.get().count, 10)
            break
        }
    }

    /// The answer arrives without a pause that is too long, but takes longer than the whole request may.
    @Test
    func answerThatArrivesAfterTheEndOfTheRequestIsATimeOut() async throws {
        let server = try await SlowServer.start(parts: 1_000, every: .milliseconds(100))
        let request = GatewayRequest(endpoint: server.url, path: "/", body: Data(), end: .now + .seconds(1))
        let result = await onThread {
            let transport = try HTTPTransport(tls: nil, connectTimeout: .seconds(60))
            return try transport.send(request, timeout: .seconds(60))
        }
        #expect(throws: GatewayFailure.self) { try result.get() }
        try await server.channel.close()
    }

    private func onThread(_ body: @escaping @Sendable () throws -> Data) async -> Result<Data, any Error> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Result(catching: body)) }
        }
    }
}

/// A server that answers each connection with a body of single bytes.
private struct SlowServer {
    let channel: any Channel
    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    static func start(parts: Int, every pause: TimeAmount) async throws -> SlowServer {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answer(parts: parts, pause: pause))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return SlowServer(channel: channel)
    }

    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let parts: Int
        private let pause: TimeAmount
        private var isAsked = false

        init(parts: Int, pause: TimeAmount) {
            self.parts = parts
            self.pause = pause
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isAsked else { return }
            isAsked = true
            let channel = context.channel
            channel.writeAndFlush(
                ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(parts)\r\n\r\n"),
                promise: nil
            )
            for part in 1...parts {
                channel.eventLoop.scheduleTask(in: pause * part) {
                    channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
                }
            }
        }
    }
}
#endif
