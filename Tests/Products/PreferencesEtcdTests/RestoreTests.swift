#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Clusters that are restored from a snapshot, or replaced by another one, while stores are open.
@Suite(needsEtcd)
struct RestoreTests {
    private let suite = freshSuite()
    private let cluster: EtcdCluster

    init() throws { cluster = try EtcdCluster.start() }

    /// The values of the suite's names in etcd.
    private func stored() throws -> [String: String] {
        // The lines of keys and of values alternate; the key without a name is the mark's.
        let lines = try cluster.control("get", "--prefix", "tests/\(suite)/").split(separator: "\n").map(String.init)
        let pairs = stride(from: 0, to: lines.count, by: 2).map {
            (String(lines[$0].dropFirst("tests/\(suite)/".count)), lines[$0 + 1])
        }
        // A request that was repeated, as after a lost connection, leaves the fence, whose first byte isn't UTF-8.
        return Dictionary(uniqueKeysWithValues: pairs.filter { !$0.0.isEmpty && !$0.0.hasPrefix("\u{FFFD}") })
    }

    /// Opens a store, writes 1 for "value" and saves a snapshot of that.
    private func savedStore(
        over transport: TestTransport,
        _ configuration: EtcdConfiguration? = nil
    ) async throws -> PreferenceStore {
        let store = try PreferenceStore(etcd: suite, configuration ?? .testing(cluster.endpoints), over: transport)
        try await store.write(1, for: "value")
        try cluster.control("snapshot", "save", cluster.folder.path("snapshot"))
        return store
    }

    @Test
    func storeShowsWhatARestoredClusterHas() async throws {
        let store = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        let reports = Reports(of: store)
        let value = Preference("value", default: 0, in: store)
        try await value.write(1)
        try await store.write(1, for: "removed later")
        try cluster.control("snapshot", "save", cluster.folder.path("snapshot"))
        try await value.write(2)
        try await store.write(3, for: "lost")
        try await store.write(nil, for: "removed later")
        try cluster.replace(with: "snapshot")
        try await eventually("the lost values are still shown") {
            store.contents == ["value": 1, "removed later": 1]
        }
        try await eventually("it is not reported") { reports.codes.contains(.notDurable) }
        try await value.write(2)
        try same(stored()["value"], "2")
        same(reports.codes.filter { $0 == .notDurable }.count, 1)
    }

    @Test
    func restoredClusterThatHasGotFurtherIsRecognized() async throws {
        let transport = try TestTransport()
        let store = try await savedStore(over: transport)
        let reports = Reports(of: store)
        try await store.write(2, for: "value")
        try await store.write(3, for: "lost")
        transport.cut()
        try cluster.replace(with: "snapshot")
        let other = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        for number in 1...20 { try await other.write(.integer(Int64(number)), for: "other") }
        transport.mend()
        try await eventually("the values of two histories are mixed: \(store.contents)") {
            store.contents == ["value": 1, "other": 20]
        }
        try await eventually("it is not reported") { reports.codes.contains(.notDurable) }
        try await store.transaction { $0["value"] = 2 }
        try same(stored(), ["value": "2", "other": "20"])
    }

    /// The cache's revision exists in both histories, with other values.
    @Test(arguments: [false, true])
    func startFromACacheBetweenTwoRevisionsOfARestoredCluster(isFurther: Bool) async throws {
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.cacheFile = URL(filePath: cluster.folder.path("cache.jsonl"))
        do {
            let store = try PreferenceStore.etcd(suite, configuration)
            try await store.write(1, for: "value")
            try cluster.control("snapshot", "save", cluster.folder.path("snapshot"))
            for number in 2...5 { try await store.write(.integer(Int64(number)), for: "value") }
            try await store.write(1, for: "lost")
        }
        try cluster.replace(with: "snapshot")
        let other = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        for number in 1...(isFurther ? 20 : 2) { try await other.write(.integer(Int64(number)), for: "other") }
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        let reports = Reports(of: store)
        // The watch must not find the other history before the values of the cache are seen.
        transport.cut()
        try await store.load()
        same(store.contents, ["value": 5, "lost": 1])
        transport.mend()
        try await eventually("the values of two histories are mixed: \(store.contents)") {
            store.contents == ["value": 1, "other": isFurther ? 20 : 2]
        }
        try await eventually("it is not reported") { reports.codes == [.notDurable] }
        same(transport.suiteReads, 1)
    }

    @Test
    func writeOverALostHistoryIsStoredAtOnce() async throws {
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        // So that only the writes can find it.
        configuration.probeInterval = .seconds(3600)
        let transport = try TestTransport()
        let store = try await savedStore(over: transport, configuration)
        try await store.write(2, for: "value")
        try cluster.replace(with: "snapshot")
        // Not "unchanged": the cluster has 1.
        try await store.write(2, for: "value")
        try same(stored(), ["value": "2"])
    }

    @Test
    func loadFindsARestoredCluster() async throws {
        let transport = try TestTransport()
        let store = try await savedStore(over: transport)
        let reports = Reports(of: store)
        transport.cutStreams()
        for number in 2...5 { try await store.write(.integer(Int64(number)), for: "value") }
        try cluster.replace(with: "snapshot")
        try await store.load()
        same(store["value"], 1)
        same(reports.codes, [.notDurable])
    }

    /// The watch finds the other history between the answer to the write's comparisons and its use: the answer's changes since a revision
    /// of the lost history aren't those since the forgotten ones.
    @Test
    func answerToARequestOfALostHistoryIsNotMerged() async throws {
        let transport = try TestTransport()
        let store = try await savedStore(over: transport)
        try await store.write(2, for: "value")
        transport.holdTransactionUntilWatchReads()
        try cluster.replace(with: "snapshot")
        try await store.write(2, for: "value")
        try same(stored(), ["value": "2"])
    }

    @Test
    func anotherClusterAtTheSameAddressReplacesTheValues() async throws {
        let store = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        let reports = Reports(of: store)
        try await store.write(1, for: "old")
        let other = try EtcdCluster.start()
        for number in 1...30 { try other.control("put", "tests/\(suite)/new", "\(number)") }
        try other.control("snapshot", "save", cluster.folder.path("other"))
        try cluster.replace(with: "other")
        try await eventually("the values of two clusters are mixed: \(store.contents)") {
            store.contents == ["new": 30]
        }
        try await eventually("it is not reported") { reports.codes.contains(.notDurable) }
        try await store.write(31, for: "new")
        try same(stored(), ["new": "31"])
    }
}
#endif
