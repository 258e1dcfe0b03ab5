import PrefsCommands

/// An answer, after which the connection is closed: otherwise the rest of a refused request would be read as the next one.
struct Response: Sendable {
    var status: Int
    var type: String
    var body: [UInt8]
    /// A further header, with its line end.
    var header = ""

    static func file(_ bytes: [UInt8], _ type: String, _ status: Int = 200) -> Response {
        Response(status: status, type: type, body: bytes)
    }

    static func text(_ text: String, _ status: Int) -> Response {
        Response(status: status, type: "text/plain", body: Array("prefs: \(text)\n".utf8))
    }

    static func json(_ text: String, _ status: Int = 200) -> Response {
        Response(status: status, type: "application/json", body: Array(text.utf8))
    }

    /// The bytes on the connection.
    var bytes: [UInt8] { Self.head(status, type, "Content-Length: \(body.count)\r\n\(header)") + body }

    /// Returns the head of every answer, which forbids caching, framing, content from other sites and guessing of types.
    static func head(_ status: Int, _ type: String, _ more: String = "") -> [UInt8] {
        let reason = status == 200 ? "OK" : "Refused"
        let text = """
            HTTP/1.1 \(status) \(reason)
            Content-Type: \(type); charset=utf-8
            Cache-Control: no-store
            Connection: close
            Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
            connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'
            Cross-Origin-Opener-Policy: same-origin
            Cross-Origin-Resource-Policy: same-origin
            Referrer-Policy: no-referrer
            X-Content-Type-Options: nosniff
            X-Frame-Options: DENY

            """
        return Array((text.split(separator: "\n").map { $0 + "\r\n" }.joined() + more + "\r\n").utf8)
    }
}

extension ExitStatus {
    /// The status of the answer for a failure.
    var httpStatus: Int {
        switch self {
        case .done: 200
        case .absent: 404
        case .usage: 422
        case .damaged: 409
        case .notPermitted: 403
        case .failed: 500
        }
    }
}
