#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Programs that start from the cache.
@Suite(needsEtcd, .timeLimit(.minutes(5)))
struct CacheTests {
    private let suite = freshSuite()
    private let cluster: EtcdCluster
    private let transport: TestTransport
    private let monitor = EtcdMonitor()
    private let folder: TemporaryFolder
    private var configuration: EtcdConfiguration

    init() throws {
        cluster = try SharedNode.get()
        transport = try TestTransport()
        folder = try TemporaryFolder()
        configuration = .testing(cluster.endpoints)
        configuration.cacheFile = URL(filePath: folder.path("cache.jsonl"))
    }

    private func put(_ name: String, _ text: String) throws {
        try cluster.control("put", "tests/\(suite)/\(name)", text)
    }

    private func fill(_ values: [String: PropertyListValue], in suite: String? = nil) async throws {
        let monitor = EtcdMonitor()
        do {
            let store = try PreferenceStore.etcd(suite ?? self.suite, configuration, monitor: monitor)
            try await store.load()
            try await store.transaction { transaction in
                for (name, value) in values { transaction[name] = value }
            }
        }
        // The thread of the watch may be the last to release the store, which then writes its place into the cache.
        for await _ in monitor.statuses {}
    }

    /// Opens a store that waits for an hour for an endpoint, if it waits.
    private func open(_ configuration: EtcdConfiguration? = nil) throws -> PreferenceStore {
        var configuration = configuration ?? self.configuration
        configuration.timeout = .seconds(3_600)
        return try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
    }

    @Test
    func startFromTheCacheWaitsForNoEndpoint() async throws {
        try await fill(["value": 1, "gone": 1])
        transport.cut()
        let store = try open()
        let reports = Reports(of: store)
        try await store.load()
        same(store.contents, ["value": 1, "gone": 1])
        #expect(reports.codes.isEmpty && !monitor.status.isConnected)
        try put("value", "2")
        try cluster.control("del", "tests/\(suite)/gone")
        transport.mend()
        try await eventually("it shows \(store.contents)") { store.contents == ["value": 2] }
        same(transport.suiteReads, 0)
    }

    @Test(arguments: [false, true])
    mutating func suitesOfOneConfigurationKeepTheirValuesApart(isFolder: Bool) async throws {
        if isFolder { configuration.cacheFile = URL(filePath: folder.path("caches"), directoryHint: .isDirectory) }
        let other = freshSuite()
        try await fill(["value": 10])
        try await fill(["value": 99], in: other)
        transport.cut()
        let stores = try [suite, other].map { suite in
            try PreferenceStore(etcd: suite, configuration, over: transport)
        }
        for store in stores { try await store.load() }
        same(stores.map(\.contents), [["value": 10], ["value": 99]])
    }

    @Test
    func writesAfterAStartFromTheCacheReadNoSuite() async throws {
        do {
            let store = try PreferenceStore.etcd(suite, configuration)
            try await store.load()
            try await store.transaction { ($0["counter"], $0["gone"]) = (1, 1) }
            // So that the revision of the cache is later than those of the two names.
            try put("other", "1")
            try await eventually("the value never came") { store["other"] == 1 }
        }
        let store = try open()
        try await store.load()
        let counter = Preference("counter", default: 0, in: store)
        try await counter.update { $0 += 1 }
        try await store.transaction { $0["gone"] = nil }
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/counter"), "2\n")
        try await eventually("it shows \(store.contents)") { store.contents == ["counter": 2, "other": 1] }
        same(transport.suiteReads, 0)
    }

    @Test
    func updateAfterAStartFromTheCacheUsesTheStoredValue() async throws {
        try await fill(["counter": 1, "gone": 1])
        try put("counter", "10")
        try cluster.control("del", "tests/\(suite)/gone")
        transport.cutStreams()
        let store = try open()
        try await store.load()
        same(store.contents, ["counter": 1, "gone": 1])
        try await Preference("counter", default: 0, in: store).update { $0 += 1 }
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/counter"), "11\n")
        try await Preference("gone", default: 0, in: store).update { $0 += 1 }
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/gone"), "1\n")
    }

    @Test
    func compactedHistoryIsReadAgain() async throws {
        let cluster = try EtcdCluster.start()
        var configuration = configuration
        configuration.endpoints = cluster.endpoints
        do {
            let store = try PreferenceStore.etcd(suite, configuration)
            try await store.transaction { $0["value"] = 1 }
        }
        for number in 2...5 { try cluster.control("put", "tests/\(suite)/value", "\(number)") }
        try cluster.control("compact", "6")
        let store = try open(configuration)
        let reports = Reports(of: store)
        try await store.load()
        try await eventually("it shows \(store.contents)") { store["value"] == 5 }
        same(transport.suiteReads, 1)
        #expect(reports.codes.isEmpty)
    }

    @Test(arguments: [false, true])
    func otherClusterIsReadAndReported(writesFirst: Bool) async throws {
        let cluster = try EtcdCluster.start()
        var configuration = configuration
        configuration.endpoints = cluster.endpoints
        do {
            let store = try PreferenceStore.etcd(suite, configuration)
            try await store.transaction { ($0["value"], $0["lost"]) = (1, 1) }
        }
        try cluster.replace(with: nil)
        for number in 2...20 { try cluster.control("put", "tests/\(suite)/value", "\(number)") }
        if writesFirst { transport.cutStreams() }
        let store = try open(configuration)
        let reports = Reports(of: store)
        try await store.load()
        if writesFirst {
            try await Preference("value", default: 0, in: store).update { $0 += 1 }
            try same(cluster.control("get", "--print-value-only", "tests/\(suite)/value"), "21\n")
        }
        try await eventually("it shows \(store.contents)") { store.contents == ["value": writesFirst ? 21 : 20] }
        same(reports.codes, [.notDurable])
    }

    @Test
    func cacheOfOtherEndpointsIsNotShown() async throws {
        try await fill(["value": 1])
        var configuration = configuration
        configuration.endpoints = ["http://127.0.0.1:1"]
        configuration.timeout = .seconds(2)
        transport.cut()
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        let reports = Reports(of: store)
        // Not `load` in a task, which might get its thread only after the timeout.
        #expect(store.contents.isEmpty)
        same(reports.codes, [.unavailable], "\(reports.errors)")
        #expect(try folder.read("cache.jsonl").contains("\"value\":1"))
    }

    @Test(arguments: ["{\"value\":2,\n", "{\"preferences.etcd\":7}\n"])
    func damagedCacheIsReportedAndIgnored(damage: String) async throws {
        try await fill(["value": 1])
        try folder.append(damage, to: "cache.jsonl")
        do {
            let store = try open()
            let reports = Reports(of: store)
            try await store.load()
            same(transport.suiteReads, 1)
            #expect(reports.codes.contains(.damaged))
            same(store.contents, ["value": 1])
        }
        transport.cut()
        let store = try open()
        let reports = Reports(of: store)
        try await store.load()
        same(store.contents, ["value": 1])
        #expect(!reports.codes.contains(.damaged))
    }

    @Test
    func copyOfAnEarlierVersionIsReadIfNoEndpointAnswers() async throws {
        try folder.write("{\"value\":1,\"foreign\":1}\n", to: "cache.jsonl")
        try put("value", "2")
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        transport.openWithoutConnection(store)
        same(store.contents, ["value": 1, "foreign": 1])
        transport.mend()
        try await eventually("it shows \(store.contents)") { store.contents == ["value": 2] }
    }

    @Test
    func oneStoreWritesTheCacheAndTheNextContinues() async throws {
        var first: PreferenceStore? = try PreferenceStore.etcd(suite, configuration)
        try await first?.load()
        try await first?.transaction { $0["value"] = 1 }
        let second = try PreferenceStore.etcd(suite, configuration)
        try await second.load()
        try await eventually("the value never came") { second["value"] == 1 }
        first = nil
        try put("value", "2")
        try put("later", "1")
        try await eventually("the cache lags behind") {
            try OfflineFile(path: folder.path("cache.jsonl")).load()["later"] == 1
        }
        try same(OfflineFile(path: folder.path("cache.jsonl")).load()["value"], 2)
    }

    @Test
    func badValueHasTheSuiteReadAtEachStart() async throws {
        try put("bad", "7 8")
        try await fill(["value": 1])
        let store = try open()
        let reports = Reports(of: store)
        try await store.load()
        same(store.contents, ["value": 1])
        try await eventually("it is not reported") { reports.codes == [.damaged] }
        same(transport.suiteReads, 1)
    }

    /// The store keeps the good value, which etcd no longer has.
    @Test
    func badValueOverAGoodOneIsReportedAtEachStartAndReplacedByAnyWrite() async throws {
        do {
            let store = try PreferenceStore.etcd(suite, configuration)
            let reports = Reports(of: store)
            try await store.write(25, for: "limit")
            try put("limit", "25O")
            try await eventually("it is not reported") { reports.codes == [.damaged] }
            try await store.write(1, for: "other")
            same(store["limit"], 25)
        }
        let store = try open()
        let later = Reports(of: store)
        try await store.load()
        try await eventually("it is not reported again") { later.codes == [.damaged] }
        same(store.contents, ["limit": 25, "other": 1])
        try await store.write(25, for: "limit")
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/limit"), "25\n")
    }
}
#endif
