#if Etcd
import DurableFile
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesTesting
import Testing

@testable import PreferencesEtcd

/// The backend on a real server.
@Suite(needsEtcd)
struct ContractTests {
    @Test
    func backendKeepsTheContract() async throws {
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        try await PreferenceBackendContract.verify(patience: .seconds(60)) {
            let suite = freshSuite()
            let fault = Fault()
            return PreferenceBackendPlace(failNextWrite: { fault.plan() }) {
                let transport = FaultyTransport(
                    over: try HTTPTransport(tls: nil, connectTimeout: .seconds(5)),
                    fault
                )
                return try EtcdBackend(suite: suite, configuration, transport: transport)
            }
        }
    }
}

/// Whether the next write is to be refused.
final class Fault: Sendable {
    private let isPlanned = Lock(false)

    func plan() { isPlanned.withLock { $0 = true } }
    func take() -> Bool { isPlanned.withLock { exchange(&$0, with: false) } }
}

/// Refuses a write when it is told to, as a server without room does.
struct FaultyTransport: Transport {
    let transport: any Transport
    let fault: Fault

    init(over transport: any Transport, _ fault: Fault) {
        self.transport = transport
        self.fault = fault
    }

    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data {
        if request.path == "/v3/kv/txn", fault.take() {
            throw .refused(code: 8, message: "etcdserver: mvcc: database space exceeded")
        }
        return try transport.send(request, timeout: timeout)
    }

    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream {
        transport.stream(request, receive)
    }

    func close() { transport.close() }
}
#endif
