import Preferences
import PrefsCommands

/// Serves pages on the loopback address: their files, a stream of events, and changes.
struct PageServer: Sendable {
    private let inspector: Inspector
    private let guardian: RequestGuard

    /// Listens on a port, calls `ready` with the link to the page, and answers requests until the process ends.
    ///
    /// - Parameter port: The port, or 0 for any free port.
    /// - Throws: A `Failure` if the port can't be used.
    static func run(
        _ inspector: Inspector,
        port: UInt16,
        isReadOnly: Bool,
        ready: @escaping @Sendable (_ link: String) -> Void
    ) async throws {
        let files = raiseDescriptorLimit()
        var generator = SystemRandomNumberGenerator()
        let token = PageToken(using: &generator)
        let server: HTTPServer
        do throws(HTTPServer.SystemError) { server = try HTTPServer(port: port, files: files) } catch {
            throw failure(port, error)
        }
        let page = PageServer(
            inspector: inspector,
            guardian: RequestGuard(port: server.port, token: token, isReadOnly: isReadOnly)
        )
        ready("http://127.0.0.1:\(server.port)/?token=\(token.text)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { page.decide($0) } }
            group.addTask { try await inspector.run() }
            while try await group.next() != nil {}
        }
    }

    /// Raises the limit of open files to the system's maximum, as any user of the machine can open connections, and returns it.
    private static func raiseDescriptorLimit() -> Int {
        let files = limitOfOpenFiles
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 64 }
        let old = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        if setrlimit(files, &limit) != 0 { limit.rlim_cur = old }
        return Int(clamping: limit.rlim_cur)
    }

    private static func failure(_ port: UInt16, _ error: HTTPServer.SystemError) -> Failure {
        switch error.code {
        case EADDRINUSE:
            Failure(
                .failed,
                "port \(port) is in use by another program; choose another with --port, or leave --port out for a free one"
            )
        case EACCES:
            Failure(.notPermitted, "port \(port) is only for the administrator; choose one above 1023 with --port")
        default: Failure(.failed, "can't listen on 127.0.0.1:\(port): \(error.message)")
        }
    }

    // MARK: Requests

    private func decide(_ head: RequestHead) -> HTTPServer.Decision {
        switch guardian.verdict(RequestGuard.Request(head)) {
        case .accepted(let route): return decide(head, route)
        case .signpost: return .answer(.file(PackageResources.index_html, "text/html", 403))
        case .refused(let code, let reason):
            var response = Response.text(reason, code)
            if code == 405 { response.header = "Allow: GET, POST\r\n" }
            return .answer(response)
        }
    }

    private func decide(_ head: RequestHead, _ route: RequestGuard.Route) -> HTTPServer.Decision {
        switch route {
        case .page: return .answer(.file(PackageResources.index_html, "text/html"))
        case .style: return .answer(.file(PackageResources.page_css, "text/css"))
        case .script: return .answer(.file(PackageResources.page_js, "text/javascript"))
        case .events: return events()
        case .origin, .write, .delete, .undo:
            let length = head["content-length"].flatMap { Int($0) } ?? 0
            return .respond(length: length) { body in
                do { return .json(try await value(head.query, route, body)) } catch {
                    let failure = Failure(error)
                    return .json(JSONText.object(["error": .string(failure.message)]), failure.status.httpStatus)
                }
            }
        }
    }

    /// Sends the changes of the board, each created when the page has read the previous one, or a comment if nothing changed.
    private func events() -> HTTPServer.Decision {
        let board = inspector.board
        guard let wakes = board.addPage() else {
            return .answer(.text("too many pages are open; close some", 503))
        }
        return .stream(type: "text/event-stream") { send in
            var version = 0
            for await _ in wakes {
                let changes = board.changes(since: version)
                version = changes?.version ?? version
                let text = changes.map { "data: \($0.text)\n\n" } ?? ": still here\n\n"
                guard await send(Array(text.utf8)) else { return }
            }
        }
    }

    /// Performs the request of a page, and returns the answer as JSON.
    private func value(
        _ query: [String: String],
        _ route: RequestGuard.Route,
        _ body: [UInt8]
    ) async throws -> String {
        switch route {
        case .origin:
            let suite = query["suite"] ?? ""
            let lines = try await inspector.lines(of: query["name"] ?? "", in: suite)
            return JSONText.object(["lines": .array(lines.map { .integer(Int64($0)) })])
        case .undo:
            let edit = try await inspector.undo()
            return JSONText.object(["suite": .string(edit.suite), "name": .string(edit.name)])
        default:
            let change = try PageChange(body)
            guard route == .delete || change.text != nil else { throw Failure(.usage, "the change has no text") }
            try await inspector.edit(change.suite, change.name, to: route == .delete ? nil : change.text)
            return "{}"
        }
    }
}

extension RequestGuard.Request {
    fileprivate init(_ head: RequestHead) {
        self.init(
            method: head.method,
            path: head.path,
            token: head.query["token"],
            host: head["host"],
            origin: head["origin"],
            site: head["sec-fetch-site"],
            authorization: head["authorization"],
            contentType: head["content-type"],
            transferEncoding: head["transfer-encoding"],
            contentLength: head["content-length"]
        )
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
            value = try PropertyListValue(json: String(decoding: body, as: UTF8.self))
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
