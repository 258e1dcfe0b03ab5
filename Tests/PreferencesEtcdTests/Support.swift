#if Etcd
import DurableFile
import EtcdTestSupport
import Foundation
import Preferences
import Testing

@testable import PreferencesEtcd

/// Runs where etcd is installed; CI installs it, so that there it must be.
let needsEtcd = ConditionTrait.enabled(
    if: EtcdCluster.isInstalled || ProcessInfo.processInfo.environment["CI"] == "true",
    "SKIPPED: etcd and etcdctl are not installed (Debian: etcd-server, etcd-client)"
)

/// One node that most tests share, each with a suite of its own.
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
    /// With times that suit a machine which may be slow.
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
    /// A store over a transport that a test can disturb.
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

/// What a store reported, in order.
final class Reports: Sendable {
    private let reported = Lock<[PreferencesError]>([])

    init(of store: PreferenceStore) { store.issueHandler = { [self] error in reported.withLock { $0.append(error) } } }

    var codes: [PreferencesError.Code] { reported.withLock { $0.map(\.code) } }
}

/// A suite that no other test uses.
func freshSuite() -> String { "suite.\(UUID().uuidString)" }

/// Waits until something is true; a failure where it never is.
func eventually(
    _ what: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    // The sleep may have been a long one.
    if try condition() { return }
    Issue.record(what, sourceLocation: sourceLocation)
}
#endif
