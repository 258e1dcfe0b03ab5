/// The reason why a request failed, which decides what is done next.
enum GatewayFailure: Error, Hashable, Sendable {
    /// There was no connection, or the server had none to a leader or no room for the request; nothing was executed.
    case unconnected(String)
    /// The request was sent, but not answered in time.
    case unreachable(String)
    /// The server can't answer now: the leader changes, the request took too long, or the server shuts down.
    case transient(String)
    /// The token is missing, expired, or older than the last change of the users.
    case tokenRefused(String)
    /// The password for requesting a token can't be read.
    case noPassword(String)
    /// The server rejected the request for good.
    case refused(code: Int, message: String)
    /// The answer isn't one of etcd's gateway: a proxy has replaced or truncated it, or the endpoint is another service.
    case notUnderstood(String)

    /// Creates the failure for the code and text of an error of etcd.
    init(_ error: ErrorResponse) {
        let text = error.message
        switch error.code {
        // The texts of 3.4 to 3.6 for a request without a token, and with one from before a change of the users.
        case _ where text.contains("user name is empty") || text.contains("auth store is old"):
            self = .tokenRefused(text)
        // The server checks for a leader before it handles a request (`newUnaryInterceptor` of etcd 3.4 to 3.6), and raft drops
        // a proposal without one.
        case 14 where text.contains("no leader"), 2 where text.contains("proposal dropped"): self = .unconnected(text)
        // Checked before the proposal, too (`processInternalRaftRequestOnce`).
        case 8 where text.contains("too many requests"): self = .unconnected(text)
        // gRPC's codes for canceled, deadline exceeded, aborted, internal, as of a stream that was reset, and unavailable.
        case 1, 4, 10, 13, 14: self = .transient(text)
        case 16: self = .tokenRefused(text)
        default: self = .refused(code: error.code, message: text)
        }
    }

    /// Whether another endpoint, or the same one later, may answer.
    var isTemporary: Bool {
        switch self {
        case .unconnected, .unreachable, .transient: true
        case .tokenRefused, .noPassword, .refused, .notUnderstood: false
        }
    }

    /// Whether the server may have executed the request.
    var isInDoubt: Bool {
        switch self {
        case .unreachable, .transient, .notUnderstood: true
        case .unconnected, .tokenRefused, .noPassword, .refused: false
        }
    }

    /// Whether the servers reject all puts until an operator makes space and disarms the alarm.
    var isOutOfSpace: Bool {
        if case .refused(_, let text) = self { text.contains("database space exceeded") } else { false }
    }

    /// Whether the request itself is the cause: gRPC's codes for invalid argument, and out of range, as of a compacted revision.
    var isRequestError: Bool {
        if case .refused(let code, _) = self { code == 3 || code == 11 } else { false }
    }

    /// Whether the requested revision is compacted.
    var isCompacted: Bool {
        if case .refused(11, _) = self { true } else { false }
    }

    /// Whether the member that was asked doesn't have the requested revision yet.
    var isOfFuture: Bool {
        if case .refused(11, let text) = self { text.contains("future revision") } else { false }
    }

    var text: String {
        switch self {
        case .unconnected(let text), .unreachable(let text), .transient(let text): text
        case .tokenRefused(let text), .noPassword(let text), .notUnderstood(let text): text
        case .refused(_, let message): message
        }
    }
}
