#if Etcd
import EtcdTestSupport
import Foundation
@testable import Preferences
import Testing

@testable import PreferencesEtcd

/// Runs the suite if etcd is installed; in CI it must be.
let needsEtcd = ConditionTrait.enabled(
    if: EtcdCluster.isInstalled || ProcessInfo.processInfo.environment["CI"] == "true",
    "SKIPPED: etcd and etcdctl are not installed (Debian: etcd-server, etcd-client)"
)

/// A node that most tests share, each with its own suite.
enum SharedNode {
    private static let node = Lock<EtcdCluster?>(nil)

    static func get() throws -> EtcdCluster {
        try node.withLock { node in
            if let node { return node }
            let started = try EtcdCluster.start()
            node = started
            return started
        }
    }
}

extension EtcdConfiguration {
    /// Returns a configuration with timeouts for a slow machine.
    static func testing(_ endpoints: [String]) -> EtcdConfiguration {
        var configuration = EtcdConfiguration(endpoints: endpoints)
        configuration.prefix = "tests"
        configuration.timeout = .seconds(60)
        configuration.attemptTimeout = .seconds(5)
        configuration.probeInterval = .milliseconds(200)
        return configuration
    }
}

extension PreferenceStore {
    /// Creates a store over a transport into which a test can inject faults.
    convenience init(
        etcd suite: String,
        _ configuration: EtcdConfiguration,
        monitor: EtcdMonitor = EtcdMonitor(),
        over transport: any Transport
    ) throws {
        self.init(
            backend: try EtcdBackend(suite: suite, configuration, monitor: monitor) { transport }
        )
    }
}

extension TestTransport {
    /// Ends all connections of a store once it has one, and waits until its state shows that.
    func cut(_ monitor: EtcdMonitor) async throws {
        try await eventually("it is not connected") { monitor.status.isConnected }
        cut()
        try await eventually("the state does not show it") { !monitor.status.isConnected }
    }
}

/// The errors that a store reported, in order.
final class Reports: Sendable {
    private let reported = Lock<[PreferenceError]>([])

    init(of store: PreferenceStore) { store.issueHandler = { [self] error in reported.withLock { $0.append(error) } } }

    var errors: [PreferenceError] { reported.withLock { $0 } }
    var codes: [PreferenceError.Code] { errors.map(\.code) }
}

/// Returns the name of a suite that no other test uses.
func freshSuite() -> String { "suite.\(UUID().uuidString)" }

/// Waits until a condition holds; records a failure if it doesn't within 60 s.
func eventually(
    _ failure: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    // The last sleep may have been longer than asked for.
    if try condition() { return }
    Issue.record(failure, sourceLocation: sourceLocation)
}
#endif
