/// Why a request had no answer, and so what to do next.
enum GatewayFailure: Error, Hashable, Sendable {
    /// No connection, so nothing was sent.
    case unconnected(String)
    /// Sent, but not answered, or not in time.
    case unreachable(String)
    /// The server can't answer now: it has no leader, is overloaded or ends.
    case transient(String)
    /// The token is missing, too old, or of another time.
    case tokenRefused(String)
    /// The password to ask for a token with can't be read.
    case noPassword(String)
    /// The server's final word.
    case refused(code: Int, message: String)
    /// What came is not what a gateway says.
    case notUnderstood(String)

    /// Sorts an error by the code and text that etcd gives it.
    init(_ error: ErrorResponse) {
        let text = error.message
        switch error.code {
        // Without a token, or with one that was made before users changed, this is what 3.4 to 3.6 say.
        case _ where text.contains("user name is empty") || text.contains("auth store is old"):
            self = .tokenRefused(text)
        // Codes of gRPC: canceled, deadline exceeded, aborted, unavailable.
        case 1, 4, 10, 14: self = .transient(text)
        // Without a code of its own: the leader is just being changed.
        case 2 where text.contains("proposal dropped"): self = .transient(text)
        case 8 where text.contains("too many requests"): self = .transient(text)
        case 16: self = .tokenRefused(text)
        default: self = .refused(code: error.code, message: text)
        }
    }

    /// Whether another endpoint, or the same one later, may do better.
    var isPassing: Bool {
        switch self {
        case .unconnected, .unreachable, .transient: true
        case .tokenRefused, .noPassword, .refused, .notUnderstood: false
        }
    }

    /// Whether what was asked may have been done.
    var isInDoubt: Bool {
        switch self {
        case .unreachable, .transient: true
        case .unconnected, .tokenRefused, .noPassword, .refused, .notUnderstood: false
        }
    }

    /// Whether the servers take nothing that needs space, until somebody makes some and disarms the alarm.
    var isOutOfSpace: Bool {
        if case .refused(_, let text) = self { text.contains("database space exceeded") } else { false }
    }

    /// Whether the request itself is wrong, or what it asks for is gone; codes of gRPC: invalid argument, out of range.
    var isVerdict: Bool {
        if case .refused(let code, _) = self { code == 3 || code == 11 } else { false }
    }

    /// Whether the revision that was asked for is compacted.
    var isCompacted: Bool {
        if case .refused(11, _) = self { true } else { false }
    }

    var text: String {
        switch self {
        case .unconnected(let text), .unreachable(let text), .transient(let text): text
        case .tokenRefused(let text), .noPassword(let text), .notUnderstood(let text): text
        case .refused(_, let message): message
        }
    }
}
