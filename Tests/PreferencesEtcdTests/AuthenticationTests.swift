#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
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
            #expect(error?.code == .notPermitted)
        }
        let forbidden = try PreferenceStore.etcd("forbidden", right)
        let reports = Reports(of: forbidden)
        #expect(forbidden.contents.isEmpty)
        // A forbidden range reads as if it were empty, without an error. The test is a task, so the blocking read is reported, too.
        #expect(reports.codes == [.misuse, .notPermitted])
        #expect(first.contents == ["a": 1])
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
        #expect(store["a"] == 2)

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
        #expect(error?.code == .notPermitted)
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
        let service = EtcdService(store, monitor: monitor)
        for value in [store, backend, backend.client, backend.watch, monitor, configuration, transport, service]
            as [Any]
        {
            let shown = ConfigurationTests.shown(value)
            #expect(!shown.isEmpty && !shown.contains("hunter2") && !shown.contains(token))
        }
        configuration.credentials = EtcdCredentials(user: "vault", password: "hunter2-wrong")
        let refused = try PreferenceStore.etcd("allowed", configuration)
        let error = #expect(throws: PreferenceError.self) { try refused.transaction { $0["a"] = 2 } }
        #expect(error.map { ConfigurationTests.shown($0).contains("hunter2") } == false)
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
        #expect(store["a"] == 1)
    }
}
#endif
