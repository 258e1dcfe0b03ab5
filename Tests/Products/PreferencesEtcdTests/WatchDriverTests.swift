#if Etcd
@testable import DurableFile
import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import PreferencesEtcd

struct WatchDriverTests {
    private let delegate = QuietDelegate()
    private let moves = Counter()
    private let clusters = Counter()

    /// Returns a driver that has a watch for each range of the keys: two with a scope, of which the transport opens the first one with the
    /// stream.
    private func start(
        _ transport: ScriptedTransport,
        scopes: [String: [String]] = ["host": []],
        attemptTimeout: Duration = .seconds(60),
        delegate: QuietDelegate? = nil
    ) throws -> WatchDriver {
        var configuration = EtcdConfiguration(endpoints: ["http://member"])
        configuration.attemptTimeout = attemptTimeout
        configuration.probeInterval = .seconds(3_600)
        let client = GatewayClient(configuration, transport: transport) { [moves] event in
            if case .moved = event { moves.next() }
        }
        let driver = WatchDriver(
            client,
            keys: try KeySpace(prefix: "prefix", suite: "suite", scopes: scopes),
            configuration: configuration
        )
        client.observeCluster { [clusters, weak driver] in
            clusters.next()
            driver?.endHistory()
        }
        try driver.start(after: 1, delegate ?? self.delegate)
        return driver
    }

    @Test func failedRenewalOfAConnectionIsRepeated() async throws {
        // The watch opens; the second connection fails; the third opens.
        let transport = ScriptedTransport(opens: { $0 != 2 })
        let driver = try start(transport, scopes: [:], attemptTimeout: .milliseconds(50))
        defer { driver.stop() }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        driver.renewConnection()
        try await eventually("the failed renewal is forgotten") { moves.value == 1 }
        same(delegate.connections, 2)
        same(transport.streamCount, 3)
    }

    @Test func watchDoesNotMoveToAnotherCluster() async throws {
        // The second connection is at another cluster.
        let driver = try start(ScriptedTransport(cluster: { $0 == 2 ? "2" : "1" }), scopes: [:])
        defer { driver.stop() }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        driver.renewConnection()
        try await eventually("the suite is not read again") { delegate.reads > 0 }
        #expect(clusters.value == 1 && moves.value == 0)
    }

    /// The thread of the transport serves all stores of the process, so it must not wait for the decoding of this one's messages.
    @Test func messagesAreDecodedByTheThreadOfTheWatch() async throws {
        let transport = ScriptedTransport()
        let isApplying = Lock(false)
        let gate = DispatchSemaphore(value: 0)
        let delegate = QuietDelegate {
            isApplying.withLock { $0 = true }
            gate.wait()
        }
        let driver = try start(transport, scopes: [:], delegate: delegate)
        defer {
            driver.stop()
            gate.signal()
        }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        transport.deliver(Self.event)
        try await eventually("the event is not applied") { isApplying.withLock { $0 } }
        transport.deliver(#"{"result":{"header":{"cluster_id":"2","revision":"3"}}}"#)
        same(clusters.value, 0)
        gate.signal()
        try await eventually("the message is not decoded") { clusters.value == 1 }
    }

    // MARK: Streams with two watches

    private static let event =
        #"{"result":{"header":{"cluster_id":"1","revision":"2"},"events":[{"kv":{"key":"cA==","mod_revision":"2"}}]}}"#
    private static let secondIsOpen =
        #"{"result":{"header":{"cluster_id":"1","revision":"2"},"watch_id":"1","created":true}}"#

    /// After a start from the cache, changes must not be applied before the history was compared.
    @Test func streamIsOpenWhenAllItsWatchesAre() async throws {
        let transport = ScriptedTransport()
        let driver = try start(transport)
        defer { driver.stop() }
        try await eventually("no stream is opened") { transport.openedCount == 1 }
        transport.deliver(Self.event)
        transport.deliver(Self.secondIsOpen)
        try await eventually("the change is not applied") { !delegate.connectionsAtChanges.isEmpty }
        same(delegate.connectionsAtChanges, [1])
        same(transport.requestCount, 2)
    }

    @Test func replacementIsUsedWhenAllItsWatchesAreOpenAndLosesNoChange() async throws {
        let transport = ScriptedTransport()
        let driver = try start(transport)
        defer { driver.stop() }
        try await eventually("no stream is opened") { transport.openedCount == 1 }
        transport.deliver(Self.secondIsOpen)
        try await eventually("the watch does not open") { delegate.connections == 1 }
        driver.renewConnection()
        try await eventually("no replacement is opened") { transport.openedCount == 2 }
        // Its change comes before its second watch is open.
        transport.deliver(Self.event)
        same(delegate.connections, 1)
        transport.deliver(Self.secondIsOpen)
        try await eventually("the change is not applied") { !delegate.connectionsAtChanges.isEmpty }
        same(delegate.connectionsAtChanges, [2])
        same(transport.streamCount, 2)
    }

    private static let refusal = #"""
        {"result":{"header":{"cluster_id":"1"},"watch_id":"1","created":true,"canceled":true,"cancel_reason":"permission denied"}}
        """#

    @Test(arguments: [
        (refusal, 1, GatewayFailure.refused(code: 7, message: "permission denied")),
        (event, WatchDriver.largestHeldCount + 1, .unreachable("not all watches were opened")),
    ])
    func streamWithAWatchThatDoesNotOpenIsEnded(line: String, count: Int, failure: GatewayFailure) async throws {
        let transport = ScriptedTransport()
        let driver = try start(transport)
        defer { driver.stop() }
        try await eventually("no stream is opened") { transport.openedCount == 1 }
        for _ in 1...count { transport.deliver(line) }
        try await eventually("it is not ended") { !delegate.failures.isEmpty }
        same(delegate.failures.first, failure)
        #expect(delegate.connections == 0 && delegate.connectionsAtChanges.isEmpty)
    }

    @Test func streamWhoseRequestsAreLostIsReplacedByOneThatLosesNone() async throws {
        let transport = ScriptedTransport()
        let driver = try start(transport, attemptTimeout: .seconds(5))
        defer { driver.stop() }
        // On a busy machine, the second stream may be replaced, too, before its second watch is delivered.
        try await eventually("the stream is not replaced") { transport.openedCount >= 2 }
        same(transport.requestSizes.map { $0 > WatchDriver.padding }.prefix(2), [false, true])
        same(transport.requestCount, 2)
        same(delegate.failures.first, .unreachable("the server has lost requests of the watch"))
        try await eventually("the watch does not open") {
            transport.deliver(Self.secondIsOpen)
            return delegate.connections == 1
        }
    }
}

/// A transport whose streams report at once that their watch is open, or end at once.
private final class ScriptedTransport: Transport {
    private struct State {
        var streamCount = 0
        /// The number of streams that have delivered their first part.
        var openedCount = 0
        /// The number of requests to create a watch in the newest stream.
        var requestCount = 0
        /// The numbers of bytes of the streams' requests.
        var requestSizes: [Int] = []
        /// Receives the lines of the newest stream.
        var receive: (@Sendable (StreamPart) -> Void)?
    }

    private let state = Lock(State())
    private let cluster: @Sendable (_ number: Int) -> String
    private let opens: @Sendable (_ number: Int) -> Bool

    init(
        cluster: @escaping @Sendable (_ number: Int) -> String = { _ in "1" },
        opens: @escaping @Sendable (_ number: Int) -> Bool = { _ in true }
    ) {
        self.cluster = cluster
        self.opens = opens
    }

    var streamCount: Int { state.withLock { $0.streamCount } }
    var openedCount: Int { state.withLock { $0.openedCount } }
    var requestCount: Int { state.withLock { $0.requestCount } }
    var requestSizes: [Int] { state.withLock { $0.requestSizes } }

    /// Passes a line to the newest stream on the calling thread, as if it were the transport's.
    func deliver(_ line: String) { state.withLock { $0.receive }?(.line(Data(line.utf8))) }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        throw .unreachable("nothing is sent")
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        let text = String(decoding: request.body, as: UTF8.self)
        let number = state.withLock { state in
            state.streamCount += 1
            state.requestCount = text.components(separatedBy: "create_request").count - 1
            state.requestSizes.append(request.body.count)
            state.receive = receive
            return state.streamCount
        }
        receive(
            opens(number)
                ? .line(Data(#"{"result":{"header":{"cluster_id":"\#(cluster(number))"},"created":true}}"#.utf8))
                : .end(.unreachable("the connection fails"))
        )
        state.withLock { $0.openedCount += 1 }
        return NoStream()
    }
}

private final class QuietDelegate: WatchDriver.Delegate {
    private let count = Lock(0)
    private let readCount = Lock(0)
    private let failed = Lock<[GatewayFailure]>([])
    private let atChanges = Lock<[Int]>([])
    private let applying: @Sendable () -> Void

    init(applying: @escaping @Sendable () -> Void = {}) { self.applying = applying }

    var connections: Int { count.withLock { $0 } }
    var reads: Int { readCount.withLock { $0 } }
    var failures: [GatewayFailure] { failed.withLock { $0 } }
    /// The number of connections that there were at each change.
    var connectionsAtChanges: [Int] { atChanges.withLock { $0 } }

    func apply(_ events: [PreferencesEtcd.WatchEvent]) { noteChange() }
    func complete(_ events: [PreferencesEtcd.WatchEvent], ofRange index: Int, _ endpoint: String) -> Result<
        Int64, GatewayFailure
    > {
        noteChange()
        return .success(events.last?.kv.modRevision.value ?? 0)
    }
    private func noteChange() {
        let connections = connections
        atChanges.withLock { $0.append(connections) }
        applying()
    }

    func advance(to revision: Int64) {}
    func reread() -> Result<Int64, GatewayFailure> {
        readCount.withLock { $0 += 1 }
        return .failure(.unreachable("nothing is read"))
    }
    func probe(_ endpoint: String, isCounting: Bool) -> Result<ProbeResult, GatewayFailure> {
        .success(.current)
    }
    func becameConnected(to endpoint: String) { count.withLock { $0 += 1 } }
    func becameDisconnected(_ failure: GatewayFailure) { failed.withLock { $0.append(failure) } }
}
#endif
