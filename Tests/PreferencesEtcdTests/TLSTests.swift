#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
import Testing

@testable import PreferencesEtcd

/// Encrypted connections, with certificates made for the test.
@Suite(needsEtcd)
struct TLSTests {
    /// Two authorities, a certificate of the server by the first, and certificates of clients by each.
    private static func makeCertificates(in folder: TemporaryFolder) throws {
        let script = """
            set -e
            for authority in right wrong; do
              openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/O=$authority" -keyout $authority.key -out $authority.pem
            done
            sign() { # name, authority
              openssl req -newkey rsa:2048 -nodes -subj "/O=$1" -keyout $1.key -out $1.csr
              printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' > $1.ext
              openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days 2 -extfile $1.ext -out $1.pem
            }
            sign server right; sign client right; sign stranger wrong
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "{ \(script)\n} >openssl.log 2>&1"]
        process.currentDirectoryURL = URL(filePath: folder.path)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw EtcdObstacle(try folder.read("openssl.log")) }
    }

    private static func start() throws -> EtcdCluster {
        try EtcdCluster.start(scheme: "https") { folder in
            try makeCertificates(in: folder)
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
        func store(authority: String?, client: String?, timeout: Duration = .seconds(60)) throws -> PreferenceStore {
            var configuration = EtcdConfiguration.testing(cluster.endpoints)
            configuration.timeout = timeout
            configuration.tls = EtcdTLS(
                authority: authority.map { cluster.folder.path("\($0).pem") },
                certificate: client.map { cluster.folder.path("\($0).pem") },
                privateKey: client.map { cluster.folder.path("\($0).key") }
            )
            return try PreferenceStore.etcd(suite, configuration)
        }
        let (first, second) = (
            try store(authority: "right", client: "client"), try store(authority: "right", client: "client")
        )
        #expect(second.contents.isEmpty)
        try first.transaction { $0["a"] = 1 }
        try await eventually("the watch tells nothing") { second["a"] == 1 }

        for (authority, client) in [("wrong", "client"), (nil, "client"), ("right", "stranger"), ("right", nil)] {
            let refused = try store(authority: authority, client: client, timeout: .seconds(8))
            let error = #expect(throws: PreferencesError.self) { try refused.transaction { $0["a"] = 2 } }
            #expect(error?.code == .unavailable)
            // A server that refuses a client may end the connection before it has said why.
            guard authority != "right" else { continue }
            #expect(
                error.map { "\($0)".contains("no encrypted connection can be made") } == true,
                "\(String(describing: error))"
            )
        }
        #expect(first.contents == ["a": 1])
    }

    @Test
    func certificateFileThatIsNotThereIsAnErrorAtOnce() {
        var configuration = EtcdConfiguration(endpoints: ["https://127.0.0.1:1"])
        configuration.tls = EtcdTLS(authority: "/nowhere/authority.pem")
        let error = #expect(throws: PreferencesError.self) { try PreferenceStore.etcd("suite", configuration) }
        #expect(error?.code == .unavailable)
    }
}
#endif
