/// The token that authenticates the user; it is requested before the first request, and again when etcd rejects it.
struct TokenKeeper: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// Send this token; `nil` if the configuration has no user.
        case use(String?)
        /// Request a token first.
        case authenticate
    }

    private let hasUser: Bool
    private var token: String?

    init(hasUser: Bool) { self.hasUser = hasUser }

    var next: Step { hasUser && token == nil ? .authenticate : .use(token) }

    mutating func set(_ token: String) { self.token = token }

    /// Removes a token that etcd rejected, unless another thread has replaced it already.
    mutating func invalidate(_ token: String?) {
        if self.token == token { self.token = nil }
    }
}

extension TokenKeeper: CustomReflectable {
    /// A mirror with only whether there is a token, which descriptions and dumps use.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["hasToken": token != nil]) }
}
