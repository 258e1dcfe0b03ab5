#if Etcd
import EtcdTestSupport
import PreferencesTesting
import Testing

@testable import Preferences
@testable import PreferencesEtcd

/// The contract test of the backend on a real server.
@Suite(needsEtcd)
struct ContractTests {
    @Test
    func backendKeepsTheContract() async throws {
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        try await PreferenceBackendContract.verify(patience: .seconds(60)) {
            let suite = freshSuite()
            let fault = Fault()
            return PreferenceBackendPlace(failNextWrite: { fault.plan() }) {
                let transport = try TestTransport { _ in fault.take() ? .refusal : nil }
                return try EtcdBackend(suite: suite, configuration) { transport }
            }
        }
    }
}

/// A switch that makes the server reject the next write.
final class Fault: Sendable {
    private let isPlanned = Lock(false)

    func plan() { isPlanned.withLock { $0 = true } }
    func take() -> Bool { isPlanned.withLock { exchange(&$0, with: false) } }
}
#endif
