import Foundation
import Testing

/// A `prefs serve` that runs until the test ends.
final class PageProcess {
    let tool: Tool
    let port: UInt16
    let token: String
    let process: pid_t

    struct Answer: CustomStringConvertible {
        let status: Int
        let head: String
        let body: String

        var description: String { "\(status): \(body)" }
    }

    /// - Parameters:
    ///   - words: The words after `serve`.
    ///   - before: A shell command to run before the server starts.
    init(_ words: String, before: String = "") throws {
        tool = try Tool()
        // The FIFO gets a line as soon as the server listens.
        let run = try tool.shell(
            "\(before) mkfifo link && { prefs serve \(words) >link 2>error </dev/null & echo $! >pid; } && head -n 1 link"
        )
        let link = try #require(URLComponents(string: run.output.trimmingCharacters(in: .newlines)), "\(run)")
        port = UInt16(try #require(link.port, "\(run)"))
        token = try #require(link.queryItems?.first?.value)
        process = try #require(pid_t(try tool.read("pid").trimmingCharacters(in: .newlines)))
    }

    deinit { kill(process, SIGTERM) }

    func request(_ method: String, _ path: String, _ headers: [String], host: String? = nil, body: String = "") throws
        -> Answer
    {
        let connection = try Connection(port)
        let lines = ["\(method) \(path) HTTP/1.1", host ?? "Host: 127.0.0.1:\(port)", "Connection: close"] + headers
        try connection.send((lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n"))
        let parts = try connection.readAll().split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        let head = try #require(parts.first)
        let status = try #require(Int(head.split(separator: " ").dropFirst().first ?? ""))
        return Answer(status: status, head: head, body: parts.count > 1 ? parts[1] : "")
    }

    func change(_ path: String, _ members: [String: String] = [:]) throws -> Answer {
        let body = String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
        return try request(
            "POST",
            path,
            ["Authorization: Bearer \(token)", "Content-Type: application/json"],
            body: body
        )
    }

    /// Returns a connection that receives the server's events.
    func events() throws -> Connection {
        let connection = try Connection(port)
        try connection.send(
            "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n"
        )
        return connection
    }
}

/// A connection to the server.
final class Connection {
    private let descriptor: Int32
    private var text = ""

    init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // So that a silent server fails the test instead of blocking it.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Returns the received text up to `wanted`; the rest is kept for the next call.
    ///
    /// Fails if the server sends a dozen comments, each of which means that nothing changed.
    func read(until wanted: String) throws -> String {
        while true {
            try #require(text.split(separator: ": still here").count < 12, "no \(wanted) came: \(text.suffix(2000))")
            if let range = text.range(of: wanted) {
                let read = String(text[..<range.upperBound])
                text.removeSubrange(..<range.upperBound)
                return read
            }
            let more = try part()
            try #require(!more.isEmpty, "the server ended before \(wanted): \(text.suffix(2000))")
            text += more
        }
    }

    func readAll() throws -> String {
        while case let more = try part(), !more.isEmpty {
            text += more
            // An accepted event stream has no end.
            if text.contains(": still here") { break }
        }
        return text
    }

    private func part() throws -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
