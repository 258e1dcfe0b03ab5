import FlyingFox
import FlyingSocks
import FoundationEssentials
import Glibc
@_spi(Tool) import Preferences
import PrefsCommands

/// Serves pages on the loopback address: their files, a stream of events, and changes.
struct PageServer: Sendable {
    private let inspector: Inspector
    private let guardian: RequestGuard

    /// Listens on a port, calls `ready` with the link to the page, and answers requests until the task is cancelled.
    ///
    /// - Parameter port: The port, or 0 for any free port.
    /// - Throws: A `Failure` if the port can't be used, or can't be used any more.
    static func run(
        _ inspector: Inspector,
        port: UInt16,
        isReadOnly: Bool,
        ready: @escaping @Sendable (_ link: String) -> Void
    ) async throws {
        raiseDescriptorLimit()
        var generator = SystemRandomNumberGenerator()
        let token = PageToken(using: &generator)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listen(on: port, ready) { port in
                    PageServer(
                        inspector: inspector,
                        guardian: RequestGuard(port: port, token: token, isReadOnly: isReadOnly)
                    )
                }
            }
            group.addTask { try await inspector.run() }
            while try await group.next() != nil {}
        }
    }

    /// Raises the limit of open files to the system's maximum, as any user of the machine can open connections.
    private static func raiseDescriptorLimit() {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        // The limit stays as it was if this fails.
        setrlimit(files, &limit)
    }

    /// Answers requests with the server that `makePage` returns for the port, and listens again after FlyingFox stopped accepting.
    private static func listen(
        on port: UInt16,
        _ ready: @escaping @Sendable (_ link: String) -> Void,
        makePage: @escaping @Sendable (_ port: UInt16) -> PageServer
    ) async throws {
        var page: PageServer?
        while true {
            let server = HTTPServer(config: try configuration(page?.guardian.port ?? port))
            do {
                if let page {
                    await server.appendRoute("*") { await page.answer($0) }
                    return try await server.run()
                }
                return try await withThrowingTaskGroup(of: PageServer?.self) { group in
                    group.addTask {
                        try await server.run()
                        return nil
                    }
                    group.addTask {
                        try await server.waitUntilListening(timeout: 60)
                        guard case .ip4(_, let port)? = await server.listeningAddress else { return nil }
                        let page = makePage(port)
                        await server.appendRoute("*") { await page.answer($0) }
                        ready("http://127.0.0.1:\(port)/?token=\(page.guardian.token.text)")
                        return page
                    }
                    while let made = try await group.next() { page = made ?? page }
                }
            } catch let SocketError.failed(type, code, message) {
                guard let page else { throw failure(port, code, message) }
                // accept(2): the next call may succeed. All connections are closed by now, and pages connect again. There is no
                // pause, in which another user could listen on the port and get the token from a page.
                if type == "Accept", [EMFILE, ENFILE, ECONNABORTED].contains(code) { continue }
                throw Failure(
                    .failed,
                    "the page ended, as port \(page.guardian.port) can't be used any more: \(message); run `prefs serve` again"
                )
            }
        }
    }

    private static func configuration(_ port: UInt16) throws -> HTTPServer.Configuration {
        HTTPServer.Configuration(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port),
            // Practically none: a change waits for its store, which has its own timeout.
            timeout: 100_000,
            logger: .disabled
        )
    }

    private static func failure(_ port: UInt16, _ code: Int32, _ message: String) -> Failure {
        switch code {
        case EADDRINUSE:
            Failure(
                .failed,
                "port \(port) is in use by another program; choose another with --port, or leave --port out for a free one"
            )
        case EACCES:
            Failure(.notPermitted, "port \(port) is only for the administrator; choose one above 1023 with --port")
        default: Failure(.failed, "can't listen on 127.0.0.1:\(port): \(message)")
        }
    }

    // MARK: Requests

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch guardian.verdict(RequestGuard.Request(request)) {
        case .accepted(let route): return await answer(request, route)
        case .signpost: return Self.file(PackageResources.index_html, "text/html", .forbidden)
        case .refused(let code, let reason):
            var response = Self.lastAnswer("prefs: \(reason)\n", HTTPStatusCode(code, phrase: "Refused"))
            if code == 405 { response.headers[HTTPHeader("Allow")] = "GET, POST" }
            return response
        }
    }

    private func answer(_ request: HTTPRequest, _ route: RequestGuard.Route) async -> HTTPResponse {
        switch route {
        case .page: return Self.file(PackageResources.index_html, "text/html")
        case .style: return Self.file(PackageResources.page_css, "text/css")
        case .script: return Self.file(PackageResources.page_js, "text/javascript")
        case .events: return events()
        case .origin, .write, .delete, .undo:
            do { return Self.json(try await value(request, route)) } catch {
                let failure = Failure(error)
                return Self.json(JSONText.object(["error": .string(failure.message)]), failure.status.httpStatus)
            }
        }
    }

    /// Performs the request of a page, and returns the answer as JSON.
    private func value(_ request: HTTPRequest, _ route: RequestGuard.Route) async throws -> String {
        switch route {
        case .origin:
            let suite = request.query["suite"] ?? ""
            let lines = try await inspector.lines(of: request.query["name"] ?? "", in: suite)
            return JSONText.object(["lines": .array(lines.map { .integer(Int64($0)) })])
        case .undo:
            let edit = try await inspector.undo()
            return JSONText.object(["suite": .string(edit.suite), "name": .string(edit.name)])
        default:
            let change = try PageChange(try await Self.body(of: request))
            guard route == .delete || change.text != nil else { throw Failure(.usage, "the change has no text") }
            try await inspector.edit(change.suite, change.name, to: route == .delete ? nil : change.text)
            return "{}"
        }
    }

    private func events() -> HTTPResponse {
        guard let wakes = inspector.board.addPage() else {
            return Self.text("prefs: too many pages are open; close some\n", .serviceUnavailable)
        }
        let events = PageEvents(board: inspector.board, wakes: wakes)
        var response = HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: events))
        response.headers = Self.headers("text/event-stream")
        return response
    }

    // MARK: Bodies

    private static func body(of request: HTTPRequest) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await part in request.bodySequence {
                bytes += part
                // A broken client may send more than the length that it declared.
                guard bytes.count <= RequestGuard.bodyLimit else { throw Failure(.usage, "the change is too long") }
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.failed, "the change was received only in part: \(error); nothing was changed")
        }
        return bytes
    }

    private static func file(
        _ bytes: [UInt8],
        _ type: String,
        _ status: HTTPStatusCode = .ok
    ) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: headers(type), body: Data(bytes))
    }

    private static func text(_ text: String, _ status: HTTPStatusCode) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: headers("text/plain"), body: Data(text.utf8))
    }

    /// Returns an answer that closes the connection; otherwise the rest of the request would be read as the next request.
    private static func lastAnswer(_ text: String, _ status: HTTPStatusCode) -> HTTPResponse {
        let bytes = Array(text.utf8)
        var headers = headers("text/plain")
        headers[.connection] = "close"
        let body = HTTPBodySequence(from: LastBytes(bytes: bytes), count: bytes.count)
        return HTTPResponse(statusCode: status, headers: headers, body: body)
    }

    private static func json(_ text: String, _ status: HTTPStatusCode = .ok) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: headers("application/json"), body: Data(text.utf8))
    }

    /// Returns the headers of every answer, which forbid caching, framing, content from other sites and guessing of types.
    private static func headers(_ type: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers[.contentType] = "\(type); charset=utf-8"
        headers[HTTPHeader("Cache-Control")] = "no-store"
        headers[HTTPHeader("Content-Security-Policy")] = """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
            frame-ancestors 'none'; base-uri 'none'; form-action 'none'
            """
        headers[HTTPHeader("Cross-Origin-Opener-Policy")] = "same-origin"
        headers[HTTPHeader("Cross-Origin-Resource-Policy")] = "same-origin"
        headers[HTTPHeader("Referrer-Policy")] = "no-referrer"
        headers[HTTPHeader("X-Content-Type-Options")] = "nosniff"
        headers[HTTPHeader("X-Frame-Options")] = "DENY"
        return headers
    }
}

extension RequestGuard.Request {
    fileprivate init(_ request: HTTPRequest) {
        let headers = request.headers
        self.init(
            method: request.method.rawValue,
            path: request.path,
            token: request.query["token"],
            host: headers[.host],
            origin: headers[HTTPHeader("Origin")],
            site: headers[HTTPHeader("Sec-Fetch-Site")],
            authorization: headers[.authorization],
            contentType: headers[.contentType],
            transferEncoding: headers[.transferEncoding],
            contentLength: headers[.contentLength]
        )
    }
}

extension ExitStatus {
    fileprivate var httpStatus: HTTPStatusCode {
        switch self {
        case .done: .ok
        case .absent: .notFound
        case .usage: HTTPStatusCode(422, phrase: "Unprocessable Content")
        case .damaged: .conflict
        case .notPermitted: .forbidden
        case .failed: .internalServerError
        }
    }
}

/// A change as a page sends it.
private struct PageChange {
    let suite: String
    let name: String
    let text: String?

    init(_ body: [UInt8]) throws {
        let value: PropertyListValue
        do throws(PreferenceError) {
            value = try PreferenceText.value(in: String(decoding: body, as: UTF8.self))
        } catch {
            throw Failure(.usage, "the change can't be read: \(error.message); nothing was changed")
        }
        guard case .dictionary(let members) = value, case .string(let suite)? = members["suite"],
            case .string(let name)? = members["name"]
        else { throw Failure(.usage, "the change doesn't name a suite and a preference; nothing was changed") }
        self.suite = suite
        self.name = name
        if case .string(let text)? = members["text"] { self.text = text } else { text = nil }
    }
}

/// The body of an event stream: a message with the changes of the board, created when the page has read the previous one, or a comment
/// if nothing changed.
private struct PageEvents: AsyncBufferedSequence {
    typealias Element = UInt8

    let board: Board
    let wakes: AsyncStream<Void>

    func makeAsyncIterator() -> Iterator { Iterator(board: board, wakes: wakes.makeAsyncIterator()) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let board: Board
        var wakes: AsyncStream<Void>.Iterator
        var version = 0

        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard await wakes.next(isolation: #isolation) != nil else { return nil }
            guard let changes = board.changes(since: version) else { return Array(": still here\n\n".utf8) }
            version = changes.version
            return Array("data: \(changes.text)\n\n".utf8)
        }
    }
}

/// A body after which FlyingFox closes the connection: it does so only after an error, which this body ends with.
private struct LastBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    let bytes: [UInt8]

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var rest: [UInt8]

        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard !rest.isEmpty else { throw SocketError.disconnected }
            defer { rest = [] }
            return rest
        }
    }
}
