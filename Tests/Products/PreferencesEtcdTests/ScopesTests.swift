#if Etcd
@testable import DurableFile
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of stores that read only some scopes, on a real node.
@Suite(needsEtcd)
struct ScopesTests {
    private let cluster: EtcdCluster
    private let all: EtcdConfiguration
    private let own: EtcdConfiguration
    private let suite = freshSuite()

    init() throws {
        cluster = try SharedNode.get()
        all = .testing(cluster.endpoints)
        own = Self.own(all)
    }

    private static func own(_ configuration: EtcdConfiguration) -> EtcdConfiguration {
        var own = configuration
        own.scopes = ["host": ["web-1"], "group": ["eu"]]
        return own
    }

    @Test
    func onlyNamesOfListedIDsAreReadAndReceived() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        try await admin.transaction {
            for (name, value) in ["limit": 1, "host.web-1.limit": 2, "host.web-2.limit": 3, "group.us.limit": 4] {
                $0[name] = .integer(Int64(value))
            }
        }
        let revisions = Lock<Set<Int64>>([])
        let transport = try TestTransport()
        let backend = try EtcdBackend(suite: suite, own) { transport }
        transport.observeLines { line in
            guard case .response(let response) = WatchDriver.input(of: .line(line)) else { return }
            revisions.withLock { $0.formUnion((response.events ?? []).map(\.kv.modRevision.value)) }
        }
        let store = PreferenceStore(backend: backend)
        try await store.load()
        same(store.contents, ["limit": 1, "host.web-1.limit": 2])
        for value in 0..<20 { try await admin.write(.integer(Int64(value)), for: "host.web-2.limit") }
        // A store that receives everything would have the writes before this one by then.
        try await admin.write(5, for: "limit")
        try await eventually("the fleet's change is not received") { store["limit"] == 5 }
        same(store.contents, ["limit": 5, "host.web-1.limit": 2])
        same(backend.mirror.withLock { $0.entries.count }, 2)
        // A stream that is opened again delivers the same one.
        same(revisions.withLock { $0.count }, 1)
    }

    @Test
    func transactionOverSeveralScopesIsReceivedInOneStep() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        let store = try PreferenceStore.etcd(suite, own)
        let names = ["a", "group.eu.a", "host.web-1.a", "z"]
        try await store.load()
        var changes = store.changes.makeAsyncIterator()
        for value in 1...50 {
            try await admin.transaction {
                for name in names + ["host.web-2.a"] { $0[name] = value % 5 == 4 ? nil : .integer(Int64(value)) }
            }
        }
        try await eventually("the last transaction is not received") { store["z"] == 50 }
        try await admin.write(true, for: "last")
        try await eventually("the last change is not received") { store["last"] == true }
        var received: Set<Set<String>> = []
        while !received.contains(["last"]), let change = await changes.next() { received.insert(change.names) }
        same(received, [Set(names), ["last"]])
        same(store.names, ["a", "group.eu.a", "host.web-1.a", "last", "z"])
    }

    @Test
    func nameOfAnotherIDReadsAsAbsentAndCannotBeWritten() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        try await admin.write(3, for: "host.web-2.limit")
        let store = try PreferenceStore.etcd(suite, own)
        try await store.load()
        same(store["host.web-2.limit"], nil)
        for name in ["host.web-2.limit", "group.us.x"] {
            let error = await #expect(throws: PreferenceError.self) { try await store.write(1, for: name) }
            same(error?.code, .misuse)
            let errorOfARead = await #expect(throws: PreferenceError.self) {
                try await store.transaction { transaction in
                    if transaction[name] == nil { transaction["limit"] = 1 }
                }
            }
            same(errorOfARead?.code, .misuse)
        }
        await #expect(throws: PreferenceError.self) {
            try await store.transaction {
                $0["limit"] = 1
                $0["host.web-2.limit"] = nil
            }
        }
        #expect(store.names.isEmpty)
        try await store.transaction {
            $0["limit"] = 1
            $0["host.web-1.limit"] = 2
        }
        // It blocks, and has no form that suspends.
        Thread.detachNewThread { store.removeAll() }
        try await eventually("the removals are not received") { admin.names.sorted() == ["host.web-2.limit"] }
    }

    /// All names of a prefix can't be compared if the store reads none of them.
    @Test
    func conditionOnNamesThatAreNotReadIsFound() throws {
        let transport = try TestTransport()
        let backend = try EtcdBackend(suite: suite, own) { transport }
        func unread(_ prefix: String) -> String? {
            let condition = PreferenceCondition(values: [:], isComplete: true, prefix: prefix)
            return backend.unreadName(of: WriteQueue.Write(changes: ["limit": 1], condition: condition))
        }
        same(unread("host.web-2."), "host.web-2.")
        for prefix in ["host.web-1.", "host.", "", "other."] { same(unread(prefix), nil) }
    }

    /// The writes of other hosts move the mark, which must not look like missed changes.
    @Test
    func writesOfOtherHostsAreNoMissedChanges() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        try await admin.write(1, for: "limit")
        let transport = try TestTransport()
        var configuration = own
        // The probes are those of the test.
        configuration.probeInterval = .seconds(3_600)
        let backend = try EtcdBackend(suite: suite, configuration) { transport }
        let store = PreferenceStore(backend: backend)
        try await store.load()
        let before = transport.suiteReads
        for value in 0..<4 {
            try await admin.write(.integer(Int64(value)), for: "host.web-2.limit")
            let result = backend.probe(cluster.endpoints[0], isCounting: value.isMultiple(of: 2))
            same(result, .success(.current))
        }
        try await admin.write(2, for: "limit")
        try await eventually("the change is not received") { store["limit"] == 2 }
        same(transport.suiteReads, before)
    }

    /// A whole fleet reads at each change, so a member may be too busy for a while.
    @Test
    func failedReadOfTheOtherRangesIsRepeatedOverTheSameStream() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        let transport = try TestTransport()
        var configuration = own
        configuration.attemptTimeout = .seconds(60)
        configuration.probeInterval = .seconds(3_600)
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        try await store.load()
        try await admin.write(0, for: "a")
        try await eventually("the watch does not open") { store["a"] == 0 }
        let count = transport.streamCount
        transport.failMemberReads(2)
        try await admin.transaction { for name in ["a", "host.web-1.a"] { $0[name] = 1 } }
        try await eventually("the change is not received") { store.contents == ["a": 1, "host.web-1.a": 1] }
        same(transport.streamCount, count)
    }

    /// The gateway may lose requests for the last ranges, and the stream is then replaced.
    @Test
    func changeInTheLastOfManyScopesIsReceived() async throws {
        var configuration = all
        configuration.probeInterval = .seconds(3_600)
        configuration.scopes = ["host": (0..<50).map { "web-\($0)" }]
        let store = try PreferenceStore.etcd(suite, configuration)
        try await store.load()
        try cluster.control("put", "tests/\(suite)/host.web-49.a", "1")
        try await eventually("the change is not received") { store.contents == ["host.web-49.a": 1] }
    }

    // MARK: Answers that are lost

    /// The history of a store of some scopes is that of the mark, which others put too.
    @Test
    func writeWhoseAnswerIsLostIsFoundBeforeTheWritesOfOthers() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        try await admin.write(1, for: "host.web-1.counter")
        let start = "tests/\(suite)/"
        let transport = try TestTransport { [cluster] number in
            guard number == 1 else { return nil }
            return .otherAnswer(.unreachable("lost")) {
                for value in 1...3 {
                    let puts = "put \(start) other-\(value)\nput \(start)host.web-2.a \(value)"
                    try cluster.control(["txn"], input: "\n\(puts)\n\n\n\n")
                }
            }
        }
        let store = try PreferenceStore(etcd: suite, own, over: transport)
        try await store.load()
        try await Preference("host.web-1.counter", default: 0, in: store).update { $0 += 1 }
        same(store["host.web-1.counter"], 2)
        try same(cluster.control("get", "--print-value-only", start + "host.web-1.counter"), "2\n")
        try same(cluster.control("get", "--print-value-only", start + "host.web-2.a"), "3\n")
    }

    @Test
    func writeWhoseAnswerIsLostIsNotRepeatedIfTheSuiteWasRemoved() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        try await admin.write(1, for: "limit")
        let start = "tests/\(suite)/"
        let transport = try TestTransport { [cluster] number in
            number == 1
                ? .otherAnswer(.unreachable("lost")) { _ = try cluster.control("del", "--prefix", start) } : nil
        }
        let store = try PreferenceStore(etcd: suite, own, over: transport)
        try await store.load()
        let error = await #expect(throws: PreferenceError.self) { try await store.write(1, for: "host.web-1.job") }
        same(error?.code, .outcomeUnknown)
        #expect(try cluster.control("get", start + "host.web-1.job").isEmpty)
    }

    /// Without a mark before, there is none to search.
    @Test
    func firstWriteOfASuiteIsRepeatedIfItIsLost() async throws {
        let transport = try TestTransport { $0 == 1 ? .lostRequest : nil }
        let store = try PreferenceStore(etcd: suite, own, over: transport)
        try await store.load()
        try await store.write(1, for: "limit")
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/limit"), "1\n")
    }

    // MARK: Without a connection

    @Test
    func changesWithoutAConnectionArriveAfterIt() async throws {
        let admin = try PreferenceStore.etcd(suite, all)
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, own, over: transport)
        try await admin.transaction { for name in ["a", "host.web-1.a", "host.web-1.b"] { $0[name] = 1 } }
        try await store.load()
        transport.cut()
        try await admin.write(2, for: "host.web-1.a")
        try await admin.transaction {
            $0["a"] = nil
            $0["host.web-1.b"] = nil
        }
        try await admin.write(3, for: "group.eu.a")
        transport.mend()
        try await eventually("the changes are not received") {
            store.contents == ["host.web-1.a": 2, "group.eu.a": 3]
        }
    }

    @Test
    func cacheOfOtherScopesIsNotUsed() async throws {
        let folder = try TemporaryFolder()
        let admin = try PreferenceStore.etcd(suite, all)
        try await admin.transaction { for name in ["a", "host.web-1.a", "host.web-2.a"] { $0[name] = 1 } }
        var configuration = own
        configuration.cacheFile = URL(filePath: folder.path("cache.jsonl"))
        let origin = OfflineCopy.Origin(prefix: "tests", suite: suite, scopes: ["host": ["web-1"], "group": ["eu"]])
        func open(_ configuration: EtcdConfiguration) async throws -> [String: PropertyListValue] {
            let store = try PreferenceStore.etcd(suite, configuration)
            try await store.load()
            return store.contents
        }
        try await same(open(configuration), ["a": 1, "host.web-1.a": 1])
        let place = URL(filePath: folder.path("cache.jsonl"))
        same(OfflineCopy(place, origin).load().values, ["a": 1, "host.web-1.a": 1])
        var other = origin
        other.scopes = ["host": ["web-2"]]
        #expect(OfflineCopy(place, other).load().values.isEmpty)
        configuration.scopes = other.scopes
        try await same(open(configuration), ["a": 1, "host.web-2.a": 1])
        // The store before may keep the cache's lock for a moment.
        let expected: [String: PropertyListValue] = ["a": 1, "host.web-2.a": 1]
        let end = ContinuousClock.now + .seconds(60)
        while OfflineCopy(place, other).load().values != expected, ContinuousClock.now < end {
            _ = try await open(configuration)
        }
        same(OfflineCopy(place, other).load().values, expected)
        #expect(OfflineCopy(place, origin).load().values.isEmpty)
    }

    @Test(arguments: [["": ["a"]], ["preferences": ["a"]], ["host": (0..<200).map { "web-\($0)" }]])
    func scopesThatCannotBeReadAreRejected(_ scopes: [String: [String]]) throws {
        var configuration = all
        configuration.scopes = scopes
        let error = #expect(throws: PreferenceError.self) { try PreferenceStore.etcd(suite, configuration) }
        same(error?.code, .misuse)
    }
}

/// Tests of stores whose user may use only the keys of some scopes.
extension AuthenticationTests {
    /// Starts a node where the user `app` has the permissions of a host's store, and returns the store's configuration.
    private static func startForAHost(lastRange: Bool = true) throws -> (EtcdCluster, EtcdConfiguration) {
        let cluster = try EtcdCluster.start()
        let (start, end) = ("tests/shop/", "tests/shop0")
        var commands = [
            ["user", "add", "root:secret"], ["user", "grant-role", "root", "root"], ["role", "add", "web-1"],
            ["role", "grant-permission", "web-1", "readwrite", start, start + "host."],
            ["role", "grant-permission", "web-1", "--prefix=true", "readwrite", start + "host.web-1."],
        ]
        if lastRange { commands.append(["role", "grant-permission", "web-1", "readwrite", start + "host/", end]) }
        commands += [["user", "add", "app:password"], ["user", "grant-role", "app", "web-1"], ["auth", "enable"]]
        for command in commands { try cluster.control(command) }
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.credentials = EtcdCredentials(user: "app", password: "password")
        configuration.scopes = ["host": ["web-1"]]
        return (cluster, configuration)
    }

    @Test
    func rangeWithoutPermissionIsNotTakenForAnEmptyOne() async throws {
        let (cluster, configuration) = try Self.startForAHost(lastRange: false)
        let store = try PreferenceStore.etcd("shop", configuration)
        let error = await #expect(throws: PreferenceError.self) { try await store.load() }
        same(error?.code, .notPermitted)
        withExtendedLifetime(cluster) {}
    }

    @Test
    func scopesNeedNoPermissionForOtherNames() async throws {
        let (cluster, configuration) = try Self.startForAHost()
        // The second write's answer is lost, so that its history is searched.
        let transport = try TestTransport { $0 == 2 ? .lostAnswer : nil }
        let store = try PreferenceStore(etcd: "shop", configuration, over: transport)
        let reports = Reports(of: store)
        try await store.load()
        try await store.transaction {
            $0["a"] = 1
            $0["host.web-1.a"] = 1
        }
        try await Preference("host.web-1.a", default: 0, in: store).update { $0 += 1 }
        same(store.contents, ["a": 1, "host.web-1.a": 2])
        let other = try PreferenceStore.etcd("shop", configuration)
        try await other.load()
        try await other.transaction { for name in ["a", "host.web-1.a"] { $0[name] = nil } }
        try await eventually("the removals are not received") { store.names.isEmpty }
        same(reports.codes, [])
        withExtendedLifetime(cluster) {}
    }
}
#endif
