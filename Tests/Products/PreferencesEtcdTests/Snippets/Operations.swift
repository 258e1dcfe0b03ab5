#if Etcd
import EtcdTestSupport
import Logging
import Preferences
import PreferencesEtcd
import ServiceLifecycle
import TestSupport
import Testing
import UnixSignals

/// The code of the guide to operations.
@Suite(needsEtcd)
struct OperationsGuideTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test
    func fleetIsConfigured() {
        // snippet: fleet
        var configuration = EtcdConfiguration(endpoints: [
            "https://etcd1.example.com:2379", "https://etcd2.example.com:2379", "https://etcd3.example.com:2379",
        ])
        configuration.tls = EtcdTLS(authority: "/etc/shop/authority.pem")
        configuration.credentials = EtcdCredentials(user: "shop", passwordFile: "/run/secrets/shop")
        configuration.probeInterval = .seconds(300)
        // end
        let error = #expect(throws: PreferenceError.self) { try PreferenceStore.etcd("shop", configuration) }
        same(error?.message.contains("/run/secrets/shop"), true)
    }

    private struct Ended: Error {}

    /// A service that ends the group.
    private struct Server: Service {
        func run() async throws { throw Ended() }
    }

    @Test
    func storeIsAService() async throws {
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        let suite = freshSuite()
        let server = Server()
        await #expect(throws: Ended.self) {
            // snippet: service
            let store = try PreferenceStore.etcd(suite, configuration)
            let group = ServiceGroup(
                services: [EtcdService(store), server],
                gracefulShutdownSignals: [.sigterm],
                logger: logger
            )
            try await group.run()
            // end
        }
    }
}
#endif
