/// The token by which etcd knows the user; asked for when there is none, and again when it is refused.
struct TokenKeeper: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        /// Send with this token; nil where there is no user.
        case use(String?)
        /// Ask for a token first.
        case authenticate
    }

    private let hasUser: Bool
    private var token: String?

    init(hasUser: Bool) { self.hasUser = hasUser }

    var next: Step { hasUser && token == nil ? .authenticate : .use(token) }

    mutating func take(_ token: String) { self.token = token }

    /// Forgets a token, unless another thread has a newer one already.
    mutating func refuse(_ token: String?) {
        if self.token == token { self.token = nil }
    }
}

extension TokenKeeper: CustomReflectable {
    /// Whether there is a token, without its text; a description shows no more.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["hasToken": token != nil]) }
}
