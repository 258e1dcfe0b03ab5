#if Etcd
import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesEtcd

struct WatchDriverTests {
    private let delegate = QuietDelegate()
    private let moves = Counter()
    private let clusters = Counter()

    private func start(
        _ transport: ScriptedTransport,
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
            keys: try KeySpace(prefix: "prefix", suite: "suite"),
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
        let driver = try start(transport, attemptTimeout: .milliseconds(50))
        defer { driver.stop() }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        driver.renewConnection()
        try await eventually("the failed renewal is forgotten") { moves.value == 1 }
        same(delegate.connections, 2)
        same(transport.streamCount, 3)
    }

    @Test func watchDoesNotMoveToAnotherCluster() async throws {
        // The second connection is at another cluster.
        let driver = try start(ScriptedTransport(cluster: { $0 == 2 ? "2" : "1" }))
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
        let driver = try start(transport, delegate: delegate)
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

    private static let event =
        #"{"result":{"header":{"cluster_id":"1","revision":"2"},"events":[{"kv":{"key":"cA==","mod_revision":"2"}}]}}"#
}

/// A transport whose streams report at once that their watch is open, or end at once.
private final class ScriptedTransport: Transport {
    private struct State {
        var streamCount = 0
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

    /// Passes a line to the newest stream on the calling thread, as if it were the transport's.
    func deliver(_ line: String) { state.withLock { $0.receive }?(.line(Data(line.utf8))) }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        throw .unreachable("nothing is sent")
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        let number = state.withLock { state in
            state.streamCount += 1
            state.receive = receive
            return state.streamCount
        }
        receive(
            opens(number)
                ? .line(Data(#"{"result":{"header":{"cluster_id":"\#(cluster(number))"},"created":true}}"#.utf8))
                : .end(.unreachable("the connection fails"))
        )
        return NoStream()
    }
}

private final class QuietDelegate: WatchDriver.Delegate {
    private let count = Lock(0)
    private let readCount = Lock(0)
    private let applying: @Sendable () -> Void

    init(applying: @escaping @Sendable () -> Void = {}) { self.applying = applying }

    var connections: Int { count.withLock { $0 } }
    var reads: Int { readCount.withLock { $0 } }

    func apply(_ events: [PreferencesEtcd.WatchEvent]) { applying() }
    func advance(to revision: Int64) {}
    func reread() -> Result<Int64, GatewayFailure> {
        readCount.withLock { $0 += 1 }
        return .failure(.unreachable("nothing is read"))
    }
    func probe(_ endpoint: String, isCounting: Bool) -> Result<ProbeResult, GatewayFailure> {
        .success(.current)
    }
    func becameConnected(to endpoint: String) { count.withLock { $0 += 1 } }
    func becameDisconnected(_ failure: GatewayFailure) {}
}
#endif
