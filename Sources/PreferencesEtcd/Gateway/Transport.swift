internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One POST to one endpoint.
struct GatewayRequest: Sendable {
    var endpoint: String
    /// Begins with a slash, such as `/v3/kv/txn`.
    var path: String
    var body: Data
    var token: String?
}

extension GatewayRequest: CustomReflectable {
    /// Without the token, and without the body, which may have a password.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["endpoint": endpoint, "path": path]) }
}

/// How requests reach an endpoint; tests put faults between.
protocol Transport: Sendable {
    /// Sends and waits for the whole answer; blocks the calling thread no longer than `timeout`.
    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data

    /// Sends and hands on each line of the answer as it comes, in order, on a thread of the transport's.
    ///
    /// `receive` is called until the stream is cancelled, and with the end once.
    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream

    /// Calls `handler` each time that later connections use other certificates, and with an error if the files were changed
    /// but can't be used; on the thread of a request.
    func observeCertificates(_ handler: @escaping @Sendable (PreferencesError?) -> Void)
}

extension Transport {
    func observeCertificates(_ handler: @escaping @Sendable (PreferencesError?) -> Void) {}
}

enum StreamPart: Sendable {
    case line(Data)
    case end(GatewayFailure)
}

protocol TransportStream: Sendable {
    /// Ends the stream; the last call of `receive` may be under way.
    func cancel()
}
