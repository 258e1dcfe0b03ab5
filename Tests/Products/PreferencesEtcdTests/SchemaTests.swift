#if Etcd
import EtcdTestSupport
import Foundation
import MetricsTestKit
@testable import Preferences
import PreferencesSchema
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of stores in whose suite a schema is stored: each write is checked by it, whatever the program declares.
@Suite(needsEtcd)
struct SchemaTests {
    private static let schema = #"""
        {"properties": {
            "rateLimit": {"type": "integer", "minimum": 1, "maximum": 1000, "x-formerly": ["limit"]},
            "hosts": {"type": "array", "items": {"type": "string"}}
        }}
        """#
    private let suite = freshSuite()
    private let monitor = EtcdMonitor()

    private func key(_ name: String) -> String { "tests/\(suite)/\(name)" }

    private func stored(_ name: String, in cluster: EtcdCluster) throws -> String {
        try cluster.control("get", "--print-value-only", key(name))
    }

    /// Stores a schema in the suite, as `prefs schema push` does.
    private func push(_ schema: String = Self.schema, to cluster: EtcdCluster) throws {
        let store = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        try store.write(.string(schema), for: PreferenceStore.schemaName)
    }

    private func openWithSchema() throws -> (EtcdCluster, PreferenceStore) {
        let cluster = try SharedNode.get()
        try push(to: cluster)
        return (cluster, try .etcd(suite, .testing(cluster.endpoints)))
    }

    /// A schema that allows a smaller `rateLimit`.
    private static func limited(to maximum: Int) -> String {
        schema.replacing("1000", with: String(maximum))
    }

    // MARK: Each way to write

    @Test(arguments: [false, true])
    func forbiddenValueIsRejected(isPushedLater: Bool) async throws {
        let cluster = try SharedNode.get()
        if !isPushedLater { try push(to: cluster) }
        let store = try PreferenceStore.etcd(suite, .testing(cluster.endpoints), monitor: monitor)
        // The program's own declaration allows any number.
        let rateLimit = Preference("rateLimit", default: 100, in: store)
        try await rateLimit.write(500)
        if isPushedLater {
            try push(to: cluster)
            try await eventually("the schema doesn't arrive") { store.names.contains(PreferenceStore.schemaName) }
        }
        let error = await #expect(throws: PreferenceError.self) { try await rateLimit.write(2500) }
        same(error?.code, .invalid)
        same(error?.name, "rateLimit")
        same(error?.message.contains("the schema \(key("preferences.schema")) doesn't allow integer 2500"), true)
        same(error?.message.contains("it is outside 1...1000"), true)
        await #expect(throws: PreferenceError.self) { try await rateLimit.update { $0 += 900 } }
        await #expect(throws: PreferenceError.self) { try await store.write("25O", for: "rateLimit") }
        let member = await #expect(throws: PreferenceError.self) { try await store.write(["a", 5], for: "hosts") }
        same(member?.codingPath, ["1"])
        try same(stored("rateLimit", in: cluster), "500\n")
        same(store.contents.filter { $0.key != PreferenceStore.schemaName }, ["rateLimit": 500])
    }

    @Test
    func transactionWithAForbiddenValueStoresNothing() throws {
        let (cluster, store) = try openWithSchema()
        let error = #expect(throws: PreferenceError.self) {
            try store.transaction { transaction in
                transaction["hosts"] = ["a"]
                transaction["rateLimit"] = 0
            }
        }
        same(error?.code, .invalid)
        #expect(try stored("hosts", in: cluster).isEmpty)
        same(store["hosts"], nil)
    }

    @Test
    func setReportsAForbiddenValue() throws {
        let (_, store) = try openWithSchema()
        try store.load()
        let reports = Reports(of: store)
        store["rateLimit"] = 0
        same(reports.codes, [.invalid])
        same(store["rateLimit"], nil)
    }

    @Test
    func namesWithoutARuleAndFormerNamesAreAllowed() throws {
        let (cluster, store) = try openWithSchema()
        // Those of a newer version, of a scope, and of an older version.
        try store.write(0, for: "newest")
        try store.write(0, for: "host.web-3.rateLimit")
        try store.write(5, for: "limit")
        let error = #expect(throws: PreferenceError.self) { try store.write(5000, for: "limit") }
        same(error?.code, .invalid)
        try store.write(nil, for: "limit")
        #expect(try stored("limit", in: cluster).isEmpty)
    }

    @Test
    func changedSchemaAppliesToTheTransactionThatStoresIt() throws {
        let (cluster, store) = try openWithSchema()
        try store.transaction { transaction in
            transaction["rateLimit"] = 2500
            transaction[PreferenceStore.schemaName] = .string(Self.limited(to: 5000))
        }
        try same(stored("rateLimit", in: cluster), "2500\n")
        try store.transaction { transaction in
            transaction["rateLimit"] = 25_000
            transaction[PreferenceStore.schemaName] = nil
        }
        try store.write("25O", for: "rateLimit")
    }

    // MARK: A schema that changes

    /// The store has an older schema than etcd, as its watch delivers nothing.
    @Test
    func schemaThatChangedSinceItWasReadDecides() throws {
        let cluster = try SharedNode.get()
        try push(to: cluster)
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), monitor: monitor, over: transport)
        transport.cutStreams()
        try store.write(500, for: "rateLimit")
        try push(Self.limited(to: 600), to: cluster)
        let error = #expect(throws: PreferenceError.self) { try store.write(700, for: "rateLimit") }
        same(error?.code, .invalid)
        try same(stored("rateLimit", in: cluster), "500\n")
        try push(Self.limited(to: 800), to: cluster)
        try store.write(700, for: "rateLimit")
        try same(stored("rateLimit", in: cluster), "700\n")
    }

    /// The store has an older value than etcd, as its watch delivers nothing: the schema forbids one more than that, not than the stored one.
    @Test
    func updateIsCheckedByTheStoredValue() throws {
        let cluster = try SharedNode.get()
        try push(Self.limited(to: 10), to: cluster)
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), monitor: monitor, over: transport)
        transport.cutStreams()
        let rateLimit = Preference("rateLimit", default: 1, in: store)
        try rateLimit.write(10)
        try cluster.control("put", key("rateLimit"), "5")
        try rateLimit.update { $0 += 1 }
        try same(stored("rateLimit", in: cluster), "6\n")
        let error = #expect(throws: PreferenceError.self) { try rateLimit.update { $0 += 5 } }
        same(error?.code, .invalid)
        try same(stored("rateLimit", in: cluster), "6\n")
    }

    @Test
    func firstSchemaIsNoticedWithoutAWatch() async throws {
        let cluster = try SharedNode.get()
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), monitor: monitor, over: transport)
        try await store.write(500, for: "rateLimit")
        try await transport.cut(monitor)
        try push(to: cluster)
        transport.mend(withStreams: false)
        let error = await #expect(throws: PreferenceError.self) { try await store.write(2500, for: "rateLimit") }
        same(error?.code, .invalid)
        try same(stored("rateLimit", in: cluster), "500\n")
    }

    // MARK: The cost

    @Test
    func schemaThatCannotBeReadForbidsNothingAndIsReportedOnce() throws {
        let cluster = try SharedNode.get()
        try push(#"{"no": 1}"#, to: cluster)
        try cluster.control("put", key("old"), "1")
        let store = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        let reports = Reports(of: store)
        // A removal needs no schema.
        try store.write(nil, for: "old")
        #expect(!reports.codes.contains(.damaged))
        try store.write(2500, for: "rateLimit")
        try store.write("25O", for: "rateLimit")
        same(reports.codes.filter { $0 == .damaged }, [.damaged])
        try store.write(1, for: PreferenceStore.schemaName)
        try store.write(2500, for: "rateLimit")
        same(reports.codes.filter { $0 == .damaged }, [.damaged, .damaged])
    }

    @Test
    func suiteWithoutASchemaComparesNoFurtherKey() throws {
        let cluster = try SharedNode.get()
        try same(compared(.testing(cluster.endpoints)), ["a"])
        try push(to: cluster)
        try same(compared(.testing(cluster.endpoints)), ["a", PreferenceStore.schemaName])
    }

    /// Returns the names that a connected store compares for a write of `a`.
    private func compared(_ configuration: EtcdConfiguration) throws -> Set<String>? {
        let transport = try TestTransport()
        let backend = try EtcdBackend(suite: suite, configuration, monitor: monitor) { transport }
        let host = PreferenceBackendHost(changed: {}, report: { _ in })
        _ = try backend.load(host: host, until: PreferenceDeadline(after: .seconds(60)))
        let changes: [String: PropertyListValue?] = ["a": 1]
        let write = EtcdBackend.Write(changes: changes, reads: [])
        #expect(monitor.status.isConnected)
        return backend.comparedNames(of: write, changes, on: backend.mirror.withLock { $0 })
    }

    @Test
    func schemaIsParsedOncePerChange() {
        var stored = StoredSchema()
        let broken = PropertyListValue.string("{}")
        same(stored.parse(broken, path: "key").problem?.code, .damaged)
        #expect(stored.parse(broken, path: "key").problem == nil)
        same(stored.parse(.string(Self.schema), path: "key").0?.path, "key")
        same(stored.parse(broken, path: "key").problem?.code, .damaged)
    }
}
#endif
