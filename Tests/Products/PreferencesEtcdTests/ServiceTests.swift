#if Etcd
import EtcdTestSupport
import Logging
import Preferences
import ServiceLifecycle
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of a store in a group of services.
@Suite(needsEtcd)
struct ServiceTests {
    private let suite = freshSuite()
    private let monitor = EtcdMonitor()

    private func store(over transport: TestTransport, _ endpoints: [String]) throws -> PreferenceStore {
        try PreferenceStore(etcd: suite, .testing(endpoints), monitor: monitor, over: transport)
    }

    private func group(_ service: EtcdService) -> ServiceGroup {
        ServiceGroup(services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test
    func storeIsLoadedWhenTheServiceRunsAndEndsWithTheGroup() async throws {
        let node = try SharedNode.get()
        let store = try store(over: try TestTransport(), node.endpoints)
        try node.control("put", "tests/\(suite)/a", "1")
        #expect(!monitor.status.isConnected)
        let group = group(EtcdService(store))
        async let run: Void = group.run()
        try await eventually("it is not loaded") { monitor.status.isConnected }
        // The store opens only after its backend is connected.
        try await store.load()
        same(store["a"], 1)
        await group.triggerGracefulShutdown()
        try await run
    }

    @Test
    func gracefulShutdownStoresWhatPropertiesHaveSet() async throws {
        let transport = try TestTransport()
        let node = try SharedNode.get()
        let store = try store(over: transport, node.endpoints)
        let group = group(EtcdService(store))
        async let run: Void = group.run()
        try await eventually("it is not loaded") { monitor.status.isConnected }
        try await store.load()
        try await transport.cut(monitor)
        store["a"] = 1
        await group.triggerGracefulShutdown()
        // The store accepts writes until the end.
        store["b"] = 2
        transport.mend()
        try await run
        try same(node.control("get", "--print-value-only", "tests/\(suite)/a"), "1\n")
        try same(node.control("get", "--print-value-only", "tests/\(suite)/b"), "2\n")
    }

    @Test
    func valueThatCannotBeStoredIsAnError() async throws {
        let transport = try TestTransport()
        var configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        configuration.timeout = .seconds(1)
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let group = group(EtcdService(store))
        let run = Task { try await group.run() }
        try await eventually("it is not loaded") { monitor.status.isConnected }
        try await store.load()
        try await transport.cut(monitor)
        store["a"] = 1
        await group.triggerGracefulShutdown()
        let result = await run.result
        let error = #expect(throws: PreferenceError.self) { try result.get() }
        #expect([.unavailable, .busy].contains(error?.code))
        same(store["a"], 1)
    }

    @Test
    func unreachableClusterDoesNotEndTheGroup() async throws {
        let transport = try TestTransport()
        transport.cut()
        let node = try SharedNode.get()
        var configuration = EtcdConfiguration.testing(node.endpoints)
        configuration.timeout = .milliseconds(200)
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let group = group(EtcdService(store))
        async let run: Void = group.run()
        try await eventually("it is not reported") { reports.codes.first == .unavailable }
        try node.control("put", "tests/\(suite)/a", "1")
        transport.mend()
        try await eventually("values don't come") { store["a"] == 1 }
        await group.triggerGracefulShutdown()
        try await run
    }
}
#endif
