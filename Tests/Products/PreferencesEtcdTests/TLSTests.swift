#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import NIOPosix
@testable import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of encrypted connections, with certificates that the tests create.
@Suite(needsEtcd)
struct TLSTests {
    /// Returns a configuration with the certificates that `install` copied.
    private static func installed(_ cluster: EtcdCluster) -> EtcdConfiguration {
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.tls = EtcdTLS(
            authority: cluster.folder.path("my-authority.pem"),
            certificate: cluster.folder.path("my-client.pem"),
            privateKey: cluster.folder.path("my-client.key")
        )
        return configuration
    }

    private static func start() throws -> EtcdCluster {
        try EtcdCluster.start(scheme: "https") { folder in
            try EtcdCertificates.run(
                "authority right; authority wrong; sign server right; sign client right; sign stranger wrong",
                in: folder
            )
            return [
                "--cert-file", folder.path("server.pem"), "--key-file", folder.path("server.key"), "--client-cert-auth",
                "--trusted-ca-file", folder.path("right.pem"),
            ]
        } flags: { folder in
            [
                "--cacert", folder.path("right.pem"), "--cert", folder.path("client.pem"), "--key",
                folder.path("client.key"),
            ]
        }
    }

    @Test
    func mutualTLSWorksAndEveryWrongCertificateIsAnError() async throws {
        let cluster = try Self.start()
        let suite = freshSuite()
        func store(
            authority: String?,
            client: String?,
            timeout: Duration = .seconds(60),
            _ monitor: EtcdMonitor = EtcdMonitor()
        ) throws -> PreferenceStore {
            var configuration = EtcdConfiguration.testing(cluster.endpoints)
            configuration.timeout = timeout
            configuration.tls = EtcdTLS(
                authority: authority.map { cluster.folder.path("\($0).pem") },
                certificate: client.map { cluster.folder.path("\($0).pem") },
                privateKey: client.map { cluster.folder.path("\($0).key") }
            )
            return try PreferenceStore.etcd(suite, configuration, monitor: monitor)
        }
        let (first, second) = (
            try store(authority: "right", client: "client"), try store(authority: "right", client: "client")
        )
        #expect(second.contents.isEmpty)
        try await first.transaction { $0["a"] = 1 }
        try await eventually("the watch delivers nothing") { second["a"] == 1 }

        for (authority, client) in [("wrong", "client"), (nil, "client"), ("right", "stranger"), ("right", nil)] {
            let monitor = EtcdMonitor()
            let refused = try store(authority: authority, client: client, timeout: .seconds(8), monitor)
            let error = await #expect(throws: PreferenceError.self) { try await refused.load() }
            same(error?.code, .unavailable)
            let later = #expect(throws: PreferenceError.self) { try refused.transaction { $0["a"] = 2 } }
            same(later?.code, .unavailable)
            // A server that rejects a client may close the connection before it sends the reason.
            guard authority != "right" else { continue }
            // On a busy machine, both calls may time out before a handshake has ended; the watch goes on trying.
            try await eventually("the reason is not shown: \(String(describing: monitor.status.error))") {
                monitor.status.error.map { "\($0)".contains("not signed by an authority") } == true
            }
        }
        same(first.contents, ["a": 1])
    }

    @Test
    func authorityAndCertificatesCanBeReplacedWhileAStoreIsInUse() async throws {
        let cluster = try Self.start()
        try EtcdCertificates.run("install right client", in: cluster.folder)
        let suite = freshSuite()
        let store = try PreferenceStore.etcd(suite, Self.installed(cluster))
        try await store.transaction { $0["a"] = 1 }
        // The servers read their authority when they start.
        cluster.nodes[0].kill()
        try EtcdCertificates.run(
            "authority right; sign server right; sign client right; install right client",
            in: cluster.folder
        )
        try cluster.nodes[0].start()
        try #require(try cluster.waitUntilHealthy())
        try await store.transaction { $0["a"] = 2 }
        let other = try PreferenceStore.etcd(suite, Self.installed(cluster))
        try await other.transaction { $0["b"] = 3 }
        try await eventually("the watch did not come back with the new certificates") { store["b"] == 3 }
        same(store["a"], 2)
    }

    @Test
    func expiredClientCertificateIsReplaced() async throws {
        let cluster = try Self.start()
        try EtcdCertificates.run("sign expired right -1; install right expired", in: cluster.folder)
        var configuration = Self.installed(cluster)
        configuration.timeout = .seconds(4)
        let monitor = EtcdMonitor()
        let store = try PreferenceStore.etcd(freshSuite(), configuration, monitor: monitor)
        let error = #expect(throws: PreferenceError.self) { try store.transaction { $0["a"] = 1 } }
        same(error?.code, .unavailable)
        #expect(!monitor.status.isConnected)
        // A server that rejects a client may close the connection before it sends the reason.
        let path = try #require(try configuration.tls?.fileOutOfDate(at: Date()))
        let expired = GatewayFailure.unconnected("SSL, \(path) is out of date")
        #expect(PreferenceError(expired).message.contains("my-client.pem is out of date"))
        #expect(PreferenceError(expired).message.contains("replace its file"))
        try EtcdCertificates.run("install right client", in: cluster.folder)
        try await eventually("the watch is not opened with the new certificate") { monitor.status.isConnected }
        // On a busy machine, one call may take longer than the store's timeout.
        try await eventually("no write is stored") {
            do { try store.transaction { $0["a"] = 1 } } catch PreferenceError.unavailable { return false }
            return true
        }
        same(store["a"], 1)
    }

    @Test
    func unusableFilesAreReportedOnceAndThePreviousOnesStayInUse() async throws {
        let cluster = try Self.start()
        try EtcdCertificates.run("sign next right; install right client", in: cluster.folder)
        let monitor = EtcdMonitor()
        let log = TestLog()
        var configuration = Self.installed(cluster)
        configuration.logger = log.logger
        let store = try PreferenceStore.etcd(freshSuite(), configuration, monitor: monitor)
        let reports = Reports(of: store)
        try await store.transaction { $0["a"] = 1 }
        try await eventually("the watch is nowhere") { monitor.status.isConnected }
        let task = Task { await monitor.statuses.first { !$0.isConnected } }

        // The file has no certificate, is missing, and has one that doesn't match the key.
        // A file that is replaced is never seen half written, which would be one more report.
        let changes = [
            "echo x > part; mv part my-client.pem", "rm my-client.pem", "cp next.pem part; mv part my-client.pem",
        ]
        for (count, change) in changes.enumerated() {
            try EtcdCertificates.run(change, in: cluster.folder)
            try await eventually("nothing is reported: \(change)") { reports.codes.count > count }
            try await store.transaction { $0["a"] = .integer(Int64(count)) }
        }
        same(reports.codes, [.unavailable, .unavailable, .unavailable])
        try EtcdCertificates.run("cp next.key part; mv part my-client.key", in: cluster.folder)
        try await eventually("the new certificate is not used") {
            log.messages.contains("the watch moved to another connection")
        }
        same(log.messages.count { $0 == "the changed certificates can't be used" }, 3)
        same(log.messages.count { $0 == "new connections use the changed certificates" }, 1)
        try await store.transaction { $0["a"] = 9 }
        same(reports.codes.count, 3)
        task.cancel()
        #expect(await task.value == nil, "the watch was disconnected when it moved")
    }

    @Test
    func missingFileIsReportedOnceHoweverOftenItIsChecked() throws {
        let folder = try TemporaryFolder()
        try EtcdCertificates.run("authority right", in: folder)
        let loops = MultiThreadedEventLoopGroup.singleton
        let source = try ConnectionSource(
            EtcdTLS(authority: folder.path("right.pem")),
            connectTimeout: .seconds(1),
            on: loops
        )
        let reports = Lock([PreferenceError?]())
        source.observe { error in reports.withLock { $0.append(error) } }
        try FileManager.default.removeItem(atPath: folder.path("right.pem"))
        for _ in 0..<100 {
            source.setNeedsCheck()
            _ = source.current()
        }
        same(reports.withLock { $0.count }, 1)
    }

    @Test(arguments: [
        ("SSLV3_ALERT_CERTIFICATE_UNKNOWN", "rejects the client's certificate"),
        ("TLSV1_ALERT_UNKNOWN_CA", "rejects the client's"),
        ("TLSV1_ALERT_CERTIFICATE_REQUIRED", "requires a client certificate"),
        ("TLSV1_ALERT_PROTOCOL_VERSION", "check the configuration's tls"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", "check the configuration's tls"),
    ])
    func messageNamesTheCauseOfAnAlert(alert: String, text: String) {
        #expect(PreferenceError(GatewayFailure.unconnected("SSL routines: \(alert)")).message.contains(text))
    }

    /// A bundle of authorities often has one that has expired.
    @Test
    func authoritiesAreOutOfDateOnlyIfAllAre() throws {
        let cluster = try Self.start()
        try EtcdCertificates.run("sign expired right -1; cat expired.pem right.pem > bundle.pem", in: cluster.folder)
        func file(_ name: String) throws -> String? {
            try EtcdTLS(authority: cluster.folder.path(name)).fileOutOfDate(at: Date())
        }
        try same(file("bundle.pem"), nil)
        #expect(try file("expired.pem") != nil)
    }

    @Test
    func missingCertificateFileIsAnErrorAtOnce() {
        var configuration = EtcdConfiguration(endpoints: ["https://127.0.0.1:1"])
        configuration.tls = EtcdTLS(authority: "/nowhere/authority.pem")
        let error = #expect(throws: PreferenceError.self) { try PreferenceStore.etcd("suite", configuration) }
        same(error?.code, .unavailable)
    }
}
#endif
