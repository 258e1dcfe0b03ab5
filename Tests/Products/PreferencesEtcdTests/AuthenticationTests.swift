#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests with a cluster that has authentication enabled.
@Suite(needsEtcd)
struct AuthenticationTests {
    /// Starts a node where the user `app` may read and write `tests/allowed`, and nothing else.
    private static func start(tokenSeconds: Int = 300) throws -> EtcdCluster {
        let cluster = try EtcdCluster.start(arguments: { _ in
            // 3.5 logs the expiry of a token at this level only.
            ["--auth-token-ttl", "\(tokenSeconds)", "--log-level", "debug"]
        })
        for command in [
            ["user", "add", "root:secret"], ["user", "grant-role", "root", "root"], ["role", "add", "app"],
            ["role", "grant-permission", "app", "--prefix=true", "readwrite", "tests/allowed/"],
            ["user", "add", "app:password"], ["user", "grant-role", "app", "app"], ["auth", "enable"],
        ] { try cluster.control(command) }
        return cluster
    }

    private func configuration(_ cluster: EtcdCluster, password: String?) -> EtcdConfiguration {
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.credentials = password.map { EtcdCredentials(user: "app", password: $0) }
        // Each use of a token delays its expiry, which the tests below wait for.
        configuration.probeInterval = .seconds(600)
        return configuration
    }

    @Test
    func userWithAPasswordReadsWritesAndWatchesAndAnyOtherIsRejected() async throws {
        let cluster = try Self.start()
        let right = configuration(cluster, password: "password")
        let (first, second) = (try PreferenceStore.etcd("allowed", right), try PreferenceStore.etcd("allowed", right))
        #expect(second.contents.isEmpty)
        try await first.transaction { $0["a"] = 1 }
        try await eventually("the user's watch delivers nothing") { second["a"] == 1 }

        for password in ["wrong", nil] {
            let store = try PreferenceStore.etcd("allowed", configuration(cluster, password: password))
            let error = #expect(throws: PreferenceError.self) { try store.transaction { $0["a"] = 2 } }
            same(error?.code, .notPermitted)
        }
        let forbidden = try PreferenceStore.etcd("forbidden", right)
        let reports = Reports(of: forbidden)
        #expect(forbidden.contents.isEmpty)
        // A forbidden range reads as if it were empty, without an error.
        same(reports.codes, [.notPermitted])
        same(first.contents, ["a": 1])
    }

    /// The role of the example's script suffices for all that a store does, and reaches no other suite.
    @Test
    func scriptOfTheExampleCreatesAUserOfOneSuite() async throws {
        let cluster = try EtcdCluster.start()
        for command in [
            ["user", "add", "root:secret"], ["user", "grant-role", "root", "root"], ["role", "add", "app"],
            ["auth", "enable"],
        ] { try cluster.control(command) }
        try cluster.folder.write("two words\n", to: "words")
        try cluster.folder.write("password\n", to: "password")
        let password = cluster.folder.path("password")
        try same(createUser("allowed", "app", cluster.folder.path("words"), "tests", on: cluster), 2)
        // As an earlier run that failed has left the role; and again after all was done.
        for _ in 1...2 { try #require(try createUser("allowed", "app", password, "tests", on: cluster) == 0) }
        try #require(try createUser("free", "free", password, "", on: cluster) == 0)

        var right = configuration(cluster, password: "password")
        right.cacheFile = URL(filePath: cluster.folder.path("cache.jsonl"))
        let (store, other) = (
            try PreferenceStore.etcd("allowed", right),
            try PreferenceStore.etcd("allowed", configuration(cluster, password: "password"))
        )
        let reports = Reports(of: store)
        try await store.load()
        try await other.load()
        try await store.transaction { ($0["a"], $0["b"]) = (1, 1) }
        try await Preference("a", default: 0, in: store).update { $0 += 1 }
        try await store.write(nil, for: "b")
        // The first write of a removed name compares the guard of its removal.
        try await other.write(2, for: "b")
        try await eventually("it shows \(store.contents)") { store.contents == ["a": 2, "b": 2] }
        #expect(reports.codes.isEmpty)
        for suite in ["allowed2", "allowe", "forbidden"] {
            let forbidden = try PreferenceStore.etcd(suite, configuration(cluster, password: "password"))
            await #expect(throws: PreferenceError.self) { try await forbidden.load() }
            let error = await #expect(throws: PreferenceError.self) { try await forbidden.write(1, for: "a") }
            same(error?.code, .notPermitted)
        }
        var unprefixed = configuration(cluster, password: nil)
        (unprefixed.prefix, unprefixed.credentials) = ("", EtcdCredentials(user: "free", password: "password"))
        try await PreferenceStore.etcd("free", unprefixed).write(1, for: "a")
    }

    /// Runs the example's script as the user `root`; returns its exit status.
    private func createUser(_ arguments: String..., on cluster: EtcdCluster) throws -> Int32 {
        let script = Process()
        script.executableURL = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Examples/Service/create-etcd-user")
        script.arguments = arguments
        script.environment = ProcessInfo.processInfo.environment.merging([
            "ETCDCTL_ENDPOINTS": cluster.endpoints[0], "ETCDCTL_USER": "root:secret",
        ]) { $1 }
        script.standardOutput = FileHandle.nullDevice
        try script.run()
        script.waitUntilExit()
        return script.terminationStatus
    }

    @Test
    func expiredTokenIsRenewedForWritesAndForTheWatch() async throws {
        let cluster = try Self.start(tokenSeconds: 1)
        let right = configuration(cluster, password: "password")
        let store = try PreferenceStore.etcd("allowed", right)
        let reports = Reports(of: store)
        try await store.transaction { $0["a"] = 1 }
        let expired = { cluster.nodes[0].log.components(separatedBy: "deleted a simple token").count - 1 }
        try await eventually("no token has expired") { expired() > 0 }
        try await store.transaction { $0["a"] = 2 }
        same(store["a"], 2)

        // A restart invalidates all tokens and ends the watch.
        cluster.nodes[0].kill()
        try cluster.nodes[0].start()
        let other = try PreferenceStore.etcd("allowed", right)
        try await other.transaction { $0["b"] = 3 }
        try await eventually("the watch did not come back with a new token") { store["b"] == 3 }
        #expect(reports.codes.isEmpty, "an expired token needs no action")
    }

    @Test
    func passwordCanBeReplacedWhileAStoreIsInUse() async throws {
        let cluster = try Self.start()
        let path = cluster.folder.path("password")
        func write(_ password: String) throws { try Data("\(password)\n".utf8).write(to: URL(filePath: path)) }
        try write("password")
        var right = configuration(cluster, password: nil)
        right.credentials = EtcdCredentials(user: "app", passwordFile: path)
        let store = try PreferenceStore.etcd("allowed", right)
        try await store.transaction { $0["a"] = 1 }
        for arguments in [
            ["user", "delete", "app"], ["user", "add", "app:next"], ["user", "grant-role", "app", "app"],
        ] {
            try cluster.control(["--user", "root:secret"] + arguments)
        }
        let error = #expect(throws: PreferenceError.self) { try store.transaction { $0["a"] = 2 } }
        same(error?.code, .notPermitted)
        try write("next")
        try await store.transaction { $0["a"] = 3 }
        // A restart ends the watch and invalidates all tokens.
        cluster.nodes[0].kill()
        try cluster.nodes[0].start()
        let other = try PreferenceStore.etcd("allowed", right)
        try await other.transaction { $0["b"] = 4 }
        try await eventually("the watch did not come back with the new password") { store["b"] == 4 }
    }

    @Test
    func descriptionsAndDumpsShowNeitherPasswordsNorTokens() async throws {
        let cluster = try Self.start()
        try cluster.control(["--user", "root:secret", "user", "add", "vault:hunter2"])
        try cluster.control(["--user", "root:secret", "user", "grant-role", "vault", "app"])
        var configuration = configuration(cluster, password: nil)
        configuration.credentials = EtcdCredentials(user: "vault", password: "hunter2")
        let log = TestLog()
        configuration.logger = log.logger
        let monitor = EtcdMonitor()
        let transport = try HTTPTransport(tls: nil, connectTimeout: .seconds(5))
        let backend = try EtcdBackend(suite: "allowed", configuration, monitor: monitor) { transport }
        let store = PreferenceStore(backend: backend)
        try await store.transaction { $0["a"] = 1 }
        let token = try #require(try backend.client.token(from: cluster.endpoints[0], within: .seconds(5)))
        let service = EtcdService(store)
        for value in [store, backend, backend.client, backend.watch, monitor, configuration, transport, service]
            as [Any]
        {
            let shown = ConfigurationTests.shown(value)
            #expect(!shown.isEmpty && !shown.contains("hunter2") && !shown.contains(token))
        }
        configuration.credentials = EtcdCredentials(user: "vault", password: "hunter2-wrong")
        let refused = try PreferenceStore.etcd("allowed", configuration)
        let error = #expect(throws: PreferenceError.self) { try refused.transaction { $0["a"] = 2 } }
        same(error.map { ConfigurationTests.shown($0).contains("hunter2") }, false)
        try await eventually("nothing is logged") { log.messages.contains("disconnected from etcd") }
        #expect(!log.text.contains("hunter2") && !log.text.contains(token))
    }

    @Test
    func watchReportsARevokedPermission() async throws {
        let cluster = try Self.start()
        let monitor = EtcdMonitor()
        let right = configuration(cluster, password: "password")
        let store = try PreferenceStore.etcd("allowed", right, monitor: monitor)
        let reports = Reports(of: store)
        try await store.transaction { $0["a"] = 1 }
        try cluster.control(["--user", "root:secret", "user", "revoke-role", "app", "app"])
        cluster.nodes[0].kill()
        try cluster.nodes[0].start()
        try await eventually("it was not reported") { reports.codes.contains(.notPermitted) }
        #expect(!monitor.status.isConnected)
        same(store["a"], 1)
    }
}
#endif
