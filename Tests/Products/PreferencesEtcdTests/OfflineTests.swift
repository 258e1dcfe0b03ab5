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
    func propertyThatIsSetWithoutAnEndpointIsShownAndStoredLater() async throws {
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let counter = Preference("counter", default: 0, in: store)
        try await counter.write(5)
        try await transport.cut(monitor)
        store["theme"] = "dark"
        counter.value = 6
        same(store.contents, ["counter": 6, "theme": "dark"])
        try same(stored("counter"), "5\n")
        transport.mend()
        try await eventually("it was not stored") { try stored("counter") == "6\n" }
        try same(stored("theme"), "\"dark\"\n")
        try await store.flush()
        same(store.contents, ["counter": 6, "theme": "dark"])
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
