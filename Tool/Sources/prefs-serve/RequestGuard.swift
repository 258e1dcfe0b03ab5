/// The rules by which the server decides from the request alone whether to answer it.
///
/// A page of another site can make the browser send requests to this server, and can point its own host name at it (DNS rebinding);
/// another user of the machine can connect. The headers `Origin`, `Sec-Fetch-Site` and `Host`, which no script can forge, reveal the
/// first two; the token keeps out all other clients.
struct RequestGuard: Sendable {
    let port: UInt16
    let token: PageToken
    let isReadOnly: Bool

    /// The parts of a request that the decision depends on.
    struct Request {
        var method = "GET"
        var path = "/"
        /// The parameter `token` of the address.
        var token: String?
        var host: String?
        var origin: String?
        /// `Sec-Fetch-Site`.
        var site: String?
        var authorization: String?
        var contentType: String?
        var transferEncoding: String?
        var contentLength: String?
    }

    enum Verdict: Equatable {
        case accepted(Route)
        case refused(Int, String)
        /// The page without values, in answer to a request for it without the token: a tab that has the token continues, and any
        /// other user learns where the link is.
        case signpost
    }

    /// The paths that the server answers.
    enum Route: String, CaseIterable {
        case page = "/"
        case style = "/page.css"
        case script = "/page.js"
        case events = "/api/events"
        case origin = "/api/origin"
        case write = "/api/write"
        case delete = "/api/delete"
        case undo = "/api/undo"

        /// Whether it changes values.
        var changes: Bool { self == .write || self == .delete || self == .undo }
        /// Whether it returns or changes values, so that it needs the token.
        var hasValues: Bool { rawValue.hasPrefix("/api/") }
        var method: String { changes ? "POST" : "GET" }
    }

    /// The maximum number of bytes of a body.
    static let bodyLimit = 1 << 20

    func verdict(_ request: Request) -> Verdict {
        guard let host = request.host?.lowercased(), hosts.contains(host) else {
            return .refused(421, "this server answers only for 127.0.0.1; open the link that `prefs serve` printed")
        }
        if let origin = request.origin, origin.lowercased() != "http://\(host)" {
            return .refused(
                403,
                "the request comes from a page of another origin; open the link that `prefs serve` printed"
            )
        }
        // "none" is an address that the user typed, or opened from another program.
        if let site = request.site, site != "same-origin", site != "none" {
            return .refused(
                403,
                "the request comes from another site; copy the link that `prefs serve` printed into the address bar"
            )
        }
        // Only pages need to be served, and a page sends a length.
        guard request.transferEncoding == nil else { return .refused(411, "a change must be sent with its length") }
        if request.method == "GET", let length = request.contentLength, length != "0" {
            return .refused(400, "a GET must not have a body")
        }
        guard let route = Route(rawValue: request.path) else { return .refused(404, "there is no such page") }
        guard request.method == route.method else {
            return .refused(405, "\(route.rawValue) accepts only \(route.method)")
        }
        if route == .page { return token.equals(request.token) ? .accepted(route) : .signpost }
        if route.hasValues {
            guard token.equals(bearer(request.authorization)) else {
                return .refused(403, "the token is missing, or is that of a server that has ended; \(Self.advice)")
            }
        }
        return route.changes ? verdictOnChange(request, route) : .accepted(route)
    }

    /// The advice to a reader without a token.
    static let advice = "open the link that `prefs serve` printed in its terminal"

    private func verdictOnChange(_ request: Request, _ route: Route) -> Verdict {
        guard !isReadOnly else { return .refused(403, "`prefs serve --read-only` changes nothing") }
        // A form of another site can't send this type.
        let type = request.contentType?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else { return .refused(415, "a change must be sent as application/json") }
        guard let length = request.contentLength.flatMap({ Int($0) }), length >= 0 else {
            return .refused(411, "a change must be sent with its length")
        }
        guard length <= Self.bodyLimit else {
            return .refused(
                413,
                "a change must not exceed \(Self.bodyLimit) bytes; use `prefs write` or `prefs import`"
            )
        }
        return .accepted(route)
    }

    private var hosts: [String] {
        ["127.0.0.1:\(port)", "localhost:\(port)"] + (port == 80 ? ["127.0.0.1", "localhost"] : [])
    }

    private func bearer(_ authorization: String?) -> String? {
        guard let authorization, authorization.lowercased().hasPrefix("bearer ") else { return nil }
        return String(authorization.dropFirst("bearer ".count))
    }
}

/// The secret that a page sends with each request: 192 random bits, new at each start.
struct PageToken: Sendable {
    let text: String

    /// Creates a token from a generator, which must be cryptographically secure except in tests.
    init(using generator: inout some RandomNumberGenerator) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        // 64 divides the generator's range, so that all digits are equally likely.
        text = String((0..<32).map { _ in digits[Int(generator.next() & 63 as UInt64)] })
    }

    /// Returns whether the texts are equal, in a time that doesn't depend on where they differ.
    func equals(_ other: String?) -> Bool {
        guard let other, other.utf8.count == text.utf8.count else { return false }
        return zip(text.utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
