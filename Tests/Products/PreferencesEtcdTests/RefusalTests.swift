#if Etcd
import EtcdTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests with a cluster that has no space, or whose user has lost its permission: acknowledged writes are kept.
@Suite(needsEtcd)
struct RefusalTests {
    private let suite = freshSuite()
    private let monitor = EtcdMonitor()

    private func stored(_ name: String, in cluster: EtcdCluster) throws -> String {
        try cluster.control("get", "--print-value-only", "tests/\(suite)/\(name)")
    }

    // MARK: No space

    private static func startSmall() throws -> EtcdCluster {
        try EtcdCluster.start(arguments: { _ in ["--quota-backend-bytes", "4000000"] })
    }

    /// Puts values until the alarm is raised.
    private func fill(_ cluster: EtcdCluster) throws {
        let store = try PreferenceStore.etcd("filler", .testing(cluster.endpoints))
        let filler = PropertyListValue.string(String(repeating: "x", count: 500_000))
        for _ in 0..<100 {
            do throws(PreferenceError) { try store.write(filler, for: "filler") } catch {
                same(error.code, .noSpace)
                return
            }
            try store.write(nil, for: "filler")
        }
        Issue.record("the space is never used up")
    }

    private func makeSpace(_ cluster: EtcdCluster) throws {
        try cluster.compact()
        try cluster.control("defrag")
        try cluster.control("alarm", "disarm")
    }

    @Test
    func setIsRejectedWithoutSpaceAndARemovalIsNot() throws {
        let cluster = try Self.startSmall()
        let store = try PreferenceStore.etcd(suite, .testing(cluster.endpoints), monitor: monitor)
        for name in ["a", "b", "c"] { try store.write(1, for: name) }
        try fill(cluster)
        let error = #expect(throws: PreferenceError.self) { try store.write(2, for: "a") }
        same(error?.code, .noSpace)
        same(store["a"], 1)
        try store.write(nil, for: "a")
        let isClaimed = try store.transaction { transaction in
            defer { transaction["b"] = nil }
            return transaction["b"] == 1
        }
        #expect(isClaimed)
        same(store.contents, ["c": 1])
        try same(PreferenceStore.etcd(suite, .testing(cluster.endpoints)).contents, ["c": 1])
        try makeSpace(cluster)
        try store.write(2, for: "a")
        try same(stored("a", in: cluster), "2\n")
    }

    /// A server checks its space again after it has stored a write.
    @Test(arguments: [false, true])
    func writeThatIsStoredAlthoughThereIsNoSpaceIsExecutedOnce(isFollowed: Bool) throws {
        let cluster = try SharedNode.get()
        let other = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        let noSpace = GatewayFailure.refused(code: 8, message: "etcdserver: mvcc: database space exceeded")
        let transport = try TestTransport { number in
            number > 2 ? nil : .otherAnswer(noSpace) { if isFollowed { try other.write(1, for: "other") } }
        }
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), over: transport)
        let counter = Preference("counter", default: 0, in: store)
        try counter.update { $0 += 1 }
        try store.transaction { $0["counter"] = nil }
        same(store["counter"], nil)
        #expect(try stored("counter", in: cluster).isEmpty)
        same(transport.writeCount, 2)
    }

    // MARK: No history

    @Test(arguments: [false, true])
    func writeWhoseAnswerAndHistoryAreLost(isFollowed: Bool) throws {
        let cluster = try EtcdCluster.start()
        let other = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        let transport = try TestTransport { number in
            guard number == 1 else { return nil }
            return .otherAnswer(.unreachable("lost")) {
                if isFollowed { try other.write(1, for: "other") }
                // The fence is put after this.
                try cluster.control("put", "nothing", "1")
                try cluster.compact()
            }
        }
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), over: transport)
        let counter = Preference("counter", default: 0, in: store)
        if isFollowed {
            let error = #expect(throws: PreferenceError.self) { try counter.update { $0 += 1 } }
            same(error?.code, .outcomeUnknown)
        } else {
            try counter.update { $0 += 1 }
        }
        same(counter.value, 1, "the next update is based on what is stored")
        try counter.update { $0 += 1 }
        try same(stored("counter", in: cluster), "2\n")
    }

    // MARK: Another server answers

    @Test(arguments: [
        GatewayFailure.notUnderstood("HTTP status 403 without an error of etcd"),
        .refused(code: 15, message: "etcdserver: corrupt cluster"),
    ])
    func writeThatAnotherServerRejectsIsQueued(failure: GatewayFailure) async throws {
        let cluster = try SharedNode.get()
        let transport = try TestTransport { $0 < 4 ? .failure(failure) : nil }
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.offlineWrites = .queueing
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let counter = Preference("counter", default: 0, in: store)
        try await store.write(1, for: "a")
        try await counter.update { $0 += 1 }
        same(store.contents, ["a": 1, "counter": 1])
        try await eventually("it is not sent") { monitor.status.waitingWrites == 0 }
        try same(stored("a", in: cluster), "1\n")
        try same(stored("counter", in: cluster), "1\n")
        same(reports.codes, [.unavailable], "once, however often it is tried")
    }

    /// An answer that a proxy has truncated or replaced by its own page says nothing about whether the server executed the request.
    private static let page = GatewayFailure.notUnderstood("HTTP status 302 without an error of etcd")

    @Test(arguments: ["<html>Log in</html>", #"{"header":{"revi"#, "{}", #"{"status":"ok"}"#])
    func writeWhoseAnswerAProxyReplacesIsFoundByTheNextAttempt(answer: String) throws {
        let cluster = try SharedNode.get()
        let transport = try TestTransport { $0 == 1 ? .replacedAnswer(answer) : nil }
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), over: transport)
        let counter = Preference("counter", default: 0, in: store)
        try counter.update { $0 += 1 }
        same(counter.value, 1)
        try same(stored("counter", in: cluster), "1\n")
        same(transport.writeCount, 2, "the request, and its repetition, which found it")
    }

    @Test
    func writeOfWhichNoAnswerIsUnderstoodIsInDoubt() async throws {
        let cluster = try SharedNode.get()
        let transport = try TestTransport { _ in .otherAnswer(Self.page) {} }
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), over: transport)
        let counter = Preference("counter", default: 0, in: store)
        let error = await #expect(throws: PreferenceError.self) { try await counter.update { $0 += 1 } }
        same(error?.code, .outcomeUnknown)
        try same(stored("counter", in: cluster), "1\n")
        try await eventually("the stored value does not come") { counter.value == 1 }
    }

    @Test
    func queuedWriteWhoseAnswersAProxyReplacesIsNotDropped() async throws {
        let cluster = try SharedNode.get()
        let transport = try TestTransport { $0 <= 4 ? .otherAnswer(Self.page) {} : nil }
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.offlineWrites = .queueing
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let counter = Preference("counter", default: 0, in: store)
        try await counter.update { $0 += 1 }
        try await eventually("it is not sent") { monitor.status.waitingWrites == 0 }
        same(counter.value, 1)
        try same(stored("counter", in: cluster), "1\n")
        same(reports.codes, [.unavailable], "it is reported once that it waits, and never that it was dropped")
    }

    @Test(arguments: ["etcdserver: no leader", "raft proposal dropped", "etcdserver: too many requests"])
    func writeThatWasNeverProposedIsNotInDoubt(text: String) throws {
        let cluster = try SharedNode.get()
        let code = ["etcdserver: no leader": 14, "raft proposal dropped": 2][text] ?? 8
        let transport = try TestTransport { _ in .failure(GatewayFailure(ErrorResponse(code: code, message: text))) }
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.timeout = .seconds(1)
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        let error = #expect(throws: PreferenceError.self) { try store.write(1, for: "a") }
        same(error?.code, .unavailable)
    }

    @Test
    func startWithoutPermissionContinuesWhenItIsGranted() async throws {
        let cluster = try SharedNode.get()
        try cluster.control("put", "tests/\(suite)/a", "1")
        let transport = try TestTransport()
        transport.cut(.refused(code: 7, message: "etcdserver: permission denied"))
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.offlineWrites = .queueing
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        same(store["a"], nil)
        store["b"] = 2
        same(store["b"], 2)
        same(reports.codes, [.notPermitted])
        transport.mend()
        try await eventually("the values don't come") { store["a"] == 1 }
        try await eventually("the queued writes are not sent") { monitor.status.waitingWrites == 0 }
        try same(stored("b", in: cluster), "2\n")
    }

    // MARK: Queued writes

    @Test
    func queuedWritesWaitForSpaceAndAreSentInOrder() async throws {
        let cluster = try Self.startSmall()
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.offlineWrites = .queueing
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        let counter = Preference("counter", default: 0, in: store)
        for name in ["old", "older"] { try await store.write(1, for: name) }
        try await counter.write(5)
        try await transport.cut(monitor)
        try await counter.update { $0 += 1 }
        try await store.write(nil, for: "old")
        try fill(cluster)
        transport.mend()

        try await eventually("the removal waits for the put") { try stored("old", in: cluster).isEmpty }
        try await eventually("the reason is not shown") { monitor.status.refusal?.code == .noSpace }
        #expect(monitor.status.isConnected)
        try await counter.update { $0 += 1 }
        try await store.write("set without space", for: "text")
        try await store.write(nil, for: "older")
        #expect(try stored("older", in: cluster).isEmpty, "an independent removal is sent first")
        try same(stored("counter", in: cluster), "5\n")
        same(store.contents, ["counter": 7, "text": "set without space"])
        same(monitor.status.waitingWrites, 3)
        let error = await #expect(throws: PreferenceError.self) { try await store.flush() }
        same(error?.code, .notDurable)
        same((error?.cause as? PreferenceError)?.code, .noSpace)
        same(reports.codes, [.noSpace], "once, however often it is tried")

        try makeSpace(cluster)
        try await eventually("it was not sent") { monitor.status.waitingWrites == 0 }
        #expect(monitor.status.refusal == nil)
        try await store.flush()
        try same(stored("counter", in: cluster), "7\n")
        try same(stored("text", in: cluster), "\"set without space\"\n")
        same(store.contents, ["counter": 7, "text": "set without space"])
        same(reports.codes, [.noSpace])
    }

    /// If the answer to a removal with a condition is lost, its process is unknown, as there was no space for a mark.
    @Test
    func storedValuesDecideARemovalWithoutSpaceWhoseAnswerIsLost() throws {
        let cluster = try Self.startSmall()
        let configuration = EtcdConfiguration.testing(cluster.endpoints)
        let first = try PreferenceStore.etcd(suite, configuration)
        for name in ["plain", "claimed", "lost"] { try first.write(1, for: name) }
        try fill(cluster)
        // Each removal is sent with the mark first, which is rejected.
        let transport = try TestTransport { number in
            switch number {
            case 2, 5: .lostAnswer
            case 8: .lostRequest
            default: nil
            }
        }
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        try store.write(nil, for: "plain")
        same(store["plain"], nil)
        same(transport.writeCount, 3)
        let error = #expect(throws: PreferenceError.self) {
            try store.transaction { transaction in if transaction["claimed"] == 1 { transaction["claimed"] = nil } }
        }
        same(error?.code, .outcomeUnknown)
        same(transport.writeCount, 6)
        try store.transaction { transaction in if transaction["lost"] == 1 { transaction["lost"] = nil } }
        #expect(try PreferenceStore.etcd(suite, configuration).contents.isEmpty)
    }

    // MARK: No permission

    @Test
    func queuedWritesWaitForPermission() async throws {
        let cluster = try EtcdCluster.start()
        let root = ["--user", "root:secret"]
        let range = ["--prefix=true", "tests/\(suite)/"]
        for command in [
            ["user", "add", "root:secret"], ["user", "grant-role", "root", "root"], ["role", "add", "app"],
            ["role", "grant-permission", "app", range[0], "readwrite", range[1]],
            ["user", "add", "app:password"], ["user", "grant-role", "app", "app"], ["auth", "enable"],
        ] { try cluster.control(command) }
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.credentials = EtcdCredentials(user: "app", password: "password")
        configuration.offlineWrites = .queueing
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        let reports = Reports(of: store)
        try await store.write(1, for: "a")
        try await transport.cut(monitor)
        try await store.write(2, for: "a")
        try cluster.control(root + ["role", "grant-permission", "app", range[0], "read", range[1]])
        transport.mend()

        try await eventually("the reason is not shown") { monitor.status.refusal?.code == .notPermitted }
        try await store.write(3, for: "b")
        same(store.contents, ["a": 2, "b": 3])
        same(monitor.status.waitingWrites, 2)
        let error = await #expect(throws: PreferenceError.self) { try await store.flush() }
        same(error?.code, .notDurable)
        same((error?.cause as? PreferenceError)?.code, .notPermitted)
        try await eventually("it was not reported once: \(reports.codes)") { reports.codes == [.notPermitted] }

        try cluster.control(root + ["role", "grant-permission", "app", range[0], "readwrite", range[1]])
        try await eventually("it was not sent") { monitor.status.waitingWrites == 0 }
        try same(cluster.control(root + ["get", "--print-value-only", "tests/\(suite)/a"]), "2\n")
        try same(cluster.control(root + ["get", "--print-value-only", "tests/\(suite)/b"]), "3\n")
        same(reports.codes, [.notPermitted])
    }
}
#endif
