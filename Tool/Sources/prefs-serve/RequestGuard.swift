/// Decides by a request alone whether the page's server answers it.
///
/// A page of another site can make the browser send requests here, and can have its own host name lead here (DNS
/// rebinding); another user of the machine can connect. The browser tells of the first two by `Origin`, `Sec-Fetch-Site`
/// and `Host`, which no script can forge; the token keeps all others out.
struct RequestGuard: Sendable {
    let port: UInt16
    let token: PageToken
    let isReadOnly: Bool

    /// The parts of a request that decide.
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
        /// The page's shell, which holds no value, to a request without the token: a tab that has it goes on, and every other
        /// reader learns where the link is.
        case signpost
    }

    /// The paths that there are.
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
        /// Whether it tells or changes values, so that it needs the token.
        var hasValues: Bool { rawValue.hasPrefix("/api/") }
        var method: String { changes ? "POST" : "GET" }
    }

    /// The most bytes of a body.
    static let bodyLimit = 1 << 20

    func verdict(_ request: Request) -> Verdict {
        guard let host = request.host?.lowercased(), hosts.contains(host) else {
            return .refused(421, "this server answers for 127.0.0.1 alone; open the link that `prefs serve` printed")
        }
        if let origin = request.origin, origin.lowercased() != "http://\(host)" {
            return .refused(403, "a page of another origin asked; open the link that `prefs serve` printed")
        }
        // "none" is an address that the user typed or opened from outside the browser.
        if let site = request.site, site != "same-origin", site != "none" {
            return .refused(
                403,
                "another site led here; copy the link that `prefs serve` printed into the address bar"
            )
        }
        // Nobody but a page has to be understood here, and a page sends a length.
        guard request.transferEncoding == nil else { return .refused(411, "a change is sent with its length") }
        if request.method == "GET", let length = request.contentLength, length != "0" {
            return .refused(400, "a GET has no body")
        }
        guard let route = Route(rawValue: request.path) else { return .refused(404, "there is no such page") }
        guard request.method == route.method else {
            return .refused(405, "\(route.rawValue) takes \(route.method) alone")
        }
        if route == .page { return token.equals(request.token) ? .accepted(route) : .signpost }
        if route.hasValues {
            guard token.equals(bearer(request.authorization)) else {
                return .refused(403, "the token is missing or is of a server that ended; \(Self.advice)")
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
        guard type == "application/json" else { return .refused(415, "a change is sent as application/json") }
        guard let length = request.contentLength.flatMap({ Int($0) }), length >= 0 else {
            return .refused(411, "a change is sent with its length")
        }
        guard length <= Self.bodyLimit else {
            return .refused(413, "a change may have \(Self.bodyLimit) bytes; use `prefs write` or `prefs import`")
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

/// The secret that a page shows with each request: 192 random bits, new at each start.
struct PageToken: Sendable {
    let text: String

    /// - Parameter generator: The system's, which is for secrets, unless a test needs to know the token.
    init(using generator: inout some RandomNumberGenerator) {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        // 64 digits divide the generator's range, so that each is as likely.
        text = String((0..<32).map { _ in digits[Int(generator.next() & 63 as UInt64)] })
    }

    /// Compares in a time that doesn't depend on where the texts differ.
    func equals(_ other: String?) -> Bool {
        guard let other, other.utf8.count == text.utf8.count else { return false }
        return zip(text.utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
