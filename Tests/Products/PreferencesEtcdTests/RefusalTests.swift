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
    func writeWhoseAnswerAndHistoryAreLost(isFollowed: Bool) async throws {
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
            let error = await #expect(throws: PreferenceError.self) { try await counter.update { $0 += 1 } }
            same(error?.code, .outcomeUnknown)
        } else {
            try await counter.update { $0 += 1 }
        }
        try await eventually("the next update is not based on what is stored") { counter.value == 1 }
        try await counter.update { $0 += 1 }
        try same(stored("counter", in: cluster), "2\n")
    }

    // MARK: Another server answers

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
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), monitor: monitor, over: transport)
        let reports = Reports(of: store)
        same(store["a"], nil)
        store["b"] = 2
        same(store["b"], 2)
        same(reports.codes, [.notPermitted])
        transport.mend()
        try await eventually("the values don't come") { store["a"] == 1 }
        try await eventually("what was set is not stored") { try stored("b", in: cluster) == "2\n" }
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
}
#endif
