#if Etcd
import DurableFile
import Foundation
import Testing

@testable import PreferencesEtcd

@Suite
struct WatchDriverTests {
    @Test func failedRenewalOfAConnectionIsRepeated() async throws {
        // The watch opens; the second connection fails; the third opens.
        let transport = ScriptedTransport { $0 != 2 }
        let moves = Lock(0)
        var configuration = EtcdConfiguration(endpoints: ["http://member"])
        configuration.attemptTimeout = .milliseconds(50)
        configuration.probeInterval = .seconds(3_600)
        let client = GatewayClient(configuration, transport: transport) { event in
            if case .moved = event { moves.withLock { $0 += 1 } }
        }
        let driver = WatchDriver(
            client,
            keys: try KeySpace(prefix: "prefix/", suite: "suite"),
            configuration: configuration
        )
        let delegate = QuietDelegate()
        try driver.start(after: 1, delegate)
        defer { driver.stop() }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        driver.renewConnection()
        try await eventually("the failed renewal is forgotten") { moves.withLock { $0 } == 1 }
        #expect(delegate.connections == 2)
        #expect(transport.streamCount == 3)
    }
}

extension WatchDriverTests {
    @Test func watchDoesNotMoveToAnotherCluster() async throws {
        // The second connection is at another cluster.
        let transport = ScriptedTransport(cluster: { $0 == 2 ? "2" : "1" }) { _ in true }
        let moves = Lock(0)
        let clusters = Lock(0)
        var configuration = EtcdConfiguration(endpoints: ["http://member"])
        configuration.probeInterval = .seconds(3_600)
        let client = GatewayClient(configuration, transport: transport) { event in
            if case .moved = event { moves.withLock { $0 += 1 } }
        }
        let driver = WatchDriver(
            client,
            keys: try KeySpace(prefix: "prefix", suite: "suite"),
            configuration: configuration
        )
        client.observeCluster { [weak driver] in
            clusters.withLock { $0 += 1 }
            driver?.endHistory()
        }
        let delegate = QuietDelegate()
        try driver.start(after: 1, delegate)
        defer { driver.stop() }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        driver.renewConnection()
        try await eventually("the suite is not read again") { delegate.reads > 0 }
        #expect(clusters.withLock { $0 } == 1 && moves.withLock { $0 } == 0)
    }
}

extension WatchDriverTests {
    /// The thread of the transport serves all stores of the process, so it must not wait for the decoding of this one's messages.
    @Test func messagesAreDecodedByTheThreadOfTheWatch() async throws {
        let transport = ScriptedTransport { _ in true }
        let clusters = Lock(0)
        var configuration = EtcdConfiguration(endpoints: ["http://member"])
        configuration.probeInterval = .seconds(3_600)
        let client = GatewayClient(configuration, transport: transport) { _ in }
        client.observeCluster { clusters.withLock { $0 += 1 } }
        let driver = WatchDriver(
            client,
            keys: try KeySpace(prefix: "prefix", suite: "suite"),
            configuration: configuration
        )
        let isApplying = Lock(false)
        let gate = DispatchSemaphore(value: 0)
        let delegate = QuietDelegate {
            isApplying.withLock { $0 = true }
            gate.wait()
        }
        try driver.start(after: 1, delegate)
        defer {
            driver.stop()
            gate.signal()
        }
        try await eventually("the watch does not open") { delegate.connections == 1 }
        transport.deliver(
            #"{"result":{"header":{"cluster_id":"1","revision":"2"},"events":[{"kv":{"key":"cA==","mod_revision":"2"}}]}}"#
        )
        try await eventually("the event is not applied") { isApplying.withLock { $0 } }
        transport.deliver(#"{"result":{"header":{"cluster_id":"2","revision":"3"}}}"#)
        #expect(clusters.withLock { $0 } == 0)
        gate.signal()
        try await eventually("the message is not decoded") { clusters.withLock { $0 } == 1 }
    }
}

/// A transport whose streams report at once that their watch is open, or end at once.
private final class ScriptedTransport: Transport {
    private let count = Lock(0)
    private let receiver = Lock<(@Sendable (StreamPart) -> Void)?>(nil)
    private let cluster: @Sendable (_ number: Int) -> String
    private let opens: @Sendable (_ number: Int) -> Bool

    init(
        cluster: @escaping @Sendable (_ number: Int) -> String = { _ in "1" },
        opens: @escaping @Sendable (_ number: Int) -> Bool
    ) {
        self.cluster = cluster
        self.opens = opens
    }

    var streamCount: Int { count.withLock { $0 } }

    /// Passes a line to the newest stream on the calling thread, as if it were the transport's.
    func deliver(_ line: String) { receiver.withLock { $0 }?(.line(Data(line.utf8))) }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        throw .unreachable("nothing is sent")
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        let number = count.withLock { count in
            count += 1
            return count
        }
        receiver.withLock { $0 = receive }
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
