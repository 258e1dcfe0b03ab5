#if Etcd
import EtcdTestSupport
import Foundation
import Logging
import MetricsTestKit
@testable import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// The lines that a store logged, in order.
final class TestLog: Sendable {
    private let lines = Lock<[(level: Logger.Level, message: String, metadata: Logger.Metadata)]>([])

    var messages: [String] { lines.withLock { $0.map(\.message) } }
    func levels(of message: String) -> [Logger.Level] {
        lines.withLock { $0.filter { $0.message == message }.map(\.level) }
    }
    func metadata(of message: String) -> Logger.Metadata? {
        lines.withLock { $0.first { $0.message == message }?.metadata }
    }
    /// The text of all lines, to check that it doesn't contain secrets.
    var text: String { lines.withLock { "\($0)" } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: TestLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
            log.lines.withLock { $0.append((event.level, "\(event.message)", metadata)) }
        }
    }
}

/// Tests of a store's log and metrics.
@Suite(needsEtcd)
struct TelemetryTests {
    private let suite = freshSuite()
    private let log = TestLog()
    private let metrics = TestMetrics()

    private func configuration() throws -> EtcdConfiguration {
        var configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        configuration.logger = log.logger
        configuration.metrics = metrics
        return configuration
    }

    private func counted(_ name: String, _ dimensions: (String, String)...) -> Int64 {
        (try? metrics.expectCounter("preferences_etcd_\(name)", [("suite", suite)] + dimensions).totalValue) ?? 0
    }

    @Test
    func requestsEventsAndProbesAreCountedAndTimed() async throws {
        let store = try PreferenceStore.etcd(suite, try configuration())
        try await store.transaction { $0["a"] = 1 }
        #expect(counted("requests_total", ("kind", "read"), ("outcome", "ok")) >= 1)
        same(counted("requests_total", ("kind", "write"), ("outcome", "ok")), 1)
        let dimensions = [("suite", suite), ("kind", "write")]
        let times = try metrics.expectTimer("preferences_etcd_request_duration", dimensions).values
        #expect(times.count == 1 && times[0] > 0)

        let reads = counted("requests_total", ("kind", "read"), ("outcome", "ok"))
        let requests = log.messages.count
        for _ in 0..<100 { same(store["a"], 1) }
        same(counted("requests_total", ("kind", "write"), ("outcome", "ok")), 1)
        #expect(log.messages.count == requests && reads >= 1)

        try SharedNode.get().control("put", "tests/\(suite)/a", "2")
        try SharedNode.get().control("put", "tests/\(suite)/b", "3")
        try await eventually("the events are not counted") { counted("watch_events_total") == 3 }
        try await eventually("no probe is counted") { counted("probes_total", ("outcome", "current")) > 0 }
    }

    @Test
    func lostConnectionIsLoggedAndCounted() async throws {
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, configuration(), over: transport)
        store["a"] = 1
        same(log.levels(of: "connected to etcd"), [.info])
        same(log.metadata(of: "connected to etcd")?["suite"], "\(suite)")
        try await eventually("the watch is nowhere") {
            counted("requests_total", ("kind", "probe"), ("outcome", "ok")) > 0
        }
        let connected = try metrics.expectGauge("preferences_etcd_connected", [("suite", suite)])
        same(connected.lastValue, 1)
        transport.cut()
        try await eventually("it is not noticed") { log.levels(of: "disconnected from etcd") == [.warning] }
        same(connected.lastValue, 0)
        let contact = try metrics.expectGauge("preferences_etcd_last_contact_timestamp_seconds", [("suite", suite)])
        let last = try #require(contact.lastValue)
        #expect(abs(last - Date().timeIntervalSince1970) < 600)
        transport.mend()
        try await eventually("it does not reconnect") { counted("watch_reconnections_total") == 1 }
        #expect(connected.lastValue == 1 && contact.lastValue ?? 0 > last)
        same(log.levels(of: "disconnected from etcd").count, 1)
    }

    @Test
    func releasedStoreIsNotConnectedAndTheRevisionIsMeasured() async throws {
        var store: PreferenceStore? = try PreferenceStore.etcd(suite, try configuration())
        try await store?.write(1, for: "a")
        try SharedNode.get().control("put", "tests/\(suite)/b", "2")
        try await eventually("the value never came") { store?["b"] == 2 }
        let connected = try metrics.expectGauge("preferences_etcd_connected", [("suite", suite)])
        let revision = try metrics.expectGauge("preferences_etcd_revision", [("suite", suite)])
        let text = try SharedNode.get().control("get", "-w", "json", "tests/\(suite)/b")
        let stored = try #require(text.firstMatch(of: #/"mod_revision":(\d+)/#)).1
        same(revision.lastValue.map { $0 >= Double(stored) ?? .infinity }, true)
        same(connected.lastValue, 1)
        store = nil
        try await eventually("it is still connected") { connected.lastValue == 0 }
    }

    @Test
    func monitorShowsTheSecondStoreThatItIsUsedFor() async throws {
        let monitor = EtcdMonitor()
        var store: PreferenceStore? = try PreferenceStore.etcd(suite, try configuration(), monitor: monitor)
        try await store?.load()
        let connected = try metrics.expectGauge("preferences_etcd_connected", [("suite", suite)])
        #expect(monitor.status.isConnected && connected.lastValue == 1)
        store = nil
        try await eventually("it is still connected") { connected.lastValue == 0 }
        #expect(!monitor.status.isConnected)
        let second = try PreferenceStore.etcd(suite, try configuration(), monitor: monitor)
        try await second.load()
        #expect(monitor.status.isConnected && connected.lastValue == 1)
        same(log.levels(of: "connected to etcd").count, 2)
        same(counted("watch_reconnections_total"), 0)
        withExtendedLifetime(second) {}
    }

    @Test
    func conflictsAndRetriesAreCountedAndLogged() async throws {
        let transport = try TestTransport { $0 == 1 ? .lostRequest : nil }
        let store = try PreferenceStore(etcd: suite, try configuration(), over: transport)
        try await store.transaction { $0["a"] = 1 }
        same(log.levels(of: "a request is repeated"), [.debug])
        same(log.metadata(of: "a request is repeated")?["reason"], "lost on the way there")
        same(counted("write_conflicts_total"), 0)
        // `etcdctl` changes the value until the store writes before its watch has received a change.
        let counter = Preference("a", default: 0, in: store)
        var round = 10
        try await eventually("no conflict in 60 s") {
            round += 1
            try SharedNode.get().control("put", "tests/\(suite)/a", "\(round)")
            try counter.update { $0 += 1 }
            return counted("write_conflicts_total") > 0
        }
    }

    @Test
    func nothingIsLoggedWithoutALoggerAndNeverAValue() async throws {
        var configuration = try configuration()
        configuration.logger = nil
        let silent = try PreferenceStore.etcd(suite, configuration)
        try await silent.transaction { $0["a"] = "hunter2" }
        #expect(log.messages.isEmpty)
        let store = try PreferenceStore.etcd(suite, try self.configuration())
        same(store["a"], "hunter2")
        try await eventually("nothing is logged") { !log.messages.isEmpty }
        #expect(!log.text.contains("hunter2"))
    }
}
#endif
