#if Etcd
import EtcdTestSupport
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of a program that reaches no endpoint, with each configuration.
@Suite(needsEtcd)
struct OfflineTests {
    private let suite = freshSuite()
    private let cluster: EtcdCluster
    private let transport: TestTransport
    private let monitor = EtcdMonitor()
    private var configuration: EtcdConfiguration

    init() throws {
        cluster = try SharedNode.get()
        transport = try TestTransport()
        configuration = .testing(cluster.endpoints)
    }

    private func put(_ name: String, _ text: String) throws {
        try cluster.control("put", "tests/\(suite)/\(name)", text)
    }

    private func stored(_ name: String) throws -> String {
        try cluster.control("get", "--print-value-only", "tests/\(suite)/\(name)")
    }

    @Test
    mutating func readsContinueAndWritesFail() async throws {
        configuration.timeout = .milliseconds(200)
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let value = Preference("value", default: 0, in: store)
        same(value.value, 0)
        try put("value", "1")
        try await eventually("the value never came") { value.value == 1 }
        try await transport.cut(monitor)
        let error = #expect(throws: PreferenceError.self) { try value.write(2) }
        same(error?.code, .unavailable)
        same(value.value, 1)
        transport.mend()
        try await eventually("it was not noticed that the node is back") { monitor.status.isConnected }
        try put("value", "3")
        try await eventually("the value never came") { value.value == 3 }
    }

    @Test
    mutating func storeThatStartsWithoutAnEndpointGetsItsValuesLater() async throws {
        configuration.timeout = .milliseconds(200)
        try put("value", "1")
        transport.cut()
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let value = Preference("value", default: 0, in: store)
        same(value.value, 0)
        same(reports.codes, [.unavailable])
        transport.mend()
        try await eventually("the values never came") { value.value == 1 }
    }

    @Test
    mutating func writesAreQueuedWithoutAnEndpointAndWithoutACopy() async throws {
        configuration.offlineWrites = .queueing
        try put("other", "1")
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let theme = Preference("theme", default: "light", in: store)
        transport.openWithoutConnection(store)
        try await theme.write("dark")
        same(theme.value, "dark")
        same(monitor.status.waitingWrites, 1)
        same(reports.codes, [.unavailable])
        transport.mend()
        try await eventually("it was not sent") { monitor.status.waitingWrites == 0 }
        try await eventually("it shows \(store.contents)") { store.contents == ["theme": "dark", "other": 1] }
        try same(stored("theme"), "\"dark\"\n")
    }

    @Test
    mutating func queuedWritesAreReadAtOnceAndSentInOrder() async throws {
        configuration.offlineWrites = .queueing
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let counter = Preference("counter", default: 0, in: store)
        try await counter.write(5)
        try await transport.cut(monitor)
        for _ in 0..<3 { try await counter.update { $0 += 1 } }
        try await store.transaction { $0["other"] = 1 }
        same(counter.value, 8)
        same(monitor.status.waitingWrites, 4)
        let error = await #expect(throws: PreferenceError.self) { try await store.flush() }
        same(error?.code, .notDurable)
        try same(stored("counter"), "5\n")
        transport.mend()
        try await eventually("they were not sent") { monitor.status.waitingWrites == 0 }
        try same(stored("counter"), "8\n")
        try same(stored("other"), "1\n")
        same(store.contents, ["counter": 8, "other": 1])
        try await store.flush()
    }

    @Test
    mutating func queuedUpdateThatConflictsIsDroppedAndReportedAndAPlainSetWins() async throws {
        configuration.offlineWrites = .queueing
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let counter = Preference("counter", default: 0, in: store)
        let theme = Preference("theme", default: "light", in: store)
        let list = Preference("list", default: [Int](), in: store)
        try await counter.write(5)
        try await list.write([1])
        try await transport.cut(monitor)
        try await counter.update { $0 += 1 }
        try await theme.write("dark")
        try await list.write([1, 2])
        same(counter.value, 6)
        try put("counter", "100")
        try put("theme", "\"blue\"")
        try put("list", "[7]")
        transport.mend()
        try await eventually("they were not sent") { monitor.status.waitingWrites == 0 }
        try await eventually("the dropped value is still shown") { counter.value == 100 }
        same(theme.value, "dark")
        try same(stored("theme"), "\"dark\"\n")
        #expect(try list.value == [1, 2] && stored("list") == "[1,2]\n")
        try await eventually("it was not reported") { reports.codes == [.conflict] }
    }

    @Test
    mutating func queuedUpdateWhoseAnswerWasLostIsNotExecutedTwice() async throws {
        configuration.offlineWrites = .queueing
        // The time in which the update searches for its answer; the write before must be finished in it too.
        configuration.timeout = .seconds(10)
        let transport = try TestTransport { $0 == 2 ? .lostConnection : nil }
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let counter = Preference("counter", default: 0, in: store)
        try await counter.write(5)
        try await counter.update { $0 += 1 }
        same(counter.value, 6)
        same(monitor.status.waitingWrites, 1)
        transport.mend()
        try await eventually("it was not sent") { monitor.status.waitingWrites == 0 }
        try same(stored("counter"), "6\n")
        same(counter.value, 6)
        #expect(reports.codes.isEmpty)
    }

    @Test(.timeLimit(.minutes(60)))
    mutating func statusesShowEachChange() async throws {
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        _ = store.contents
        var statuses = monitor.statuses.makeAsyncIterator()
        while let status = await statuses.next(), !status.isConnected {}
        transport.cut()
        while let status = await statuses.next(), status.isConnected {}
        transport.mend()
        while let status = await statuses.next(), !status.isConnected {}
        #expect(monitor.status.isConnected)
    }
}
#endif
