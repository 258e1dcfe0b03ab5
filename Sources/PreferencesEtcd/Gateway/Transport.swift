internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A POST request to one endpoint.
struct GatewayRequest: Sendable {
    var endpoint: String
    /// The path, with a slash at its start, such as `/v3/kv/txn`.
    var path: String
    var body: Data
    var token: String?
    /// The time by which the whole answer must have arrived; `nil` for any time while some of it arrives within the timeout.
    var end: ContinuousClock.Instant?
}

extension GatewayRequest: CustomReflectable {
    /// A mirror without the token, and without the body, which may have a password.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["endpoint": endpoint, "path": path]) }
}

/// The connection of a client to its endpoints; tests replace it to inject faults.
protocol Transport: Sendable {
    /// Sends a request and returns the whole answer; blocks the calling thread.
    ///
    /// It fails if nothing arrives for `timeout`, as a large answer or a slow link needs time, or at the request's `end`.
    func send(_ request: GatewayRequest, timeout: Duration) throws(GatewayFailure) -> Data

    /// Sends a request, and calls `receive` with each line of the answer in order, on a thread of the transport.
    ///
    /// `receive` is called until the stream is cancelled, and once with its end.
    func stream(
        _ request: GatewayRequest,
        _ receive: @escaping @Sendable (StreamPart) -> Void
    ) -> any TransportStream

    /// Calls `handler` when the files of the certificates were changed: with `nil` if new connections use them, and with an error if
    /// they can't be used; on the thread of a request.
    func observeCertificates(_ handler: @escaping @Sendable (PreferenceError?) -> Void)
}

extension Transport {
    func observeCertificates(_ handler: @escaping @Sendable (PreferenceError?) -> Void) {}
}

enum StreamPart: Sendable {
    case line(Data)
    case end(GatewayFailure)
}

protocol TransportStream: Sendable {
    /// Ends the stream; a last call of `receive` may still be running.
    func cancel()
}
