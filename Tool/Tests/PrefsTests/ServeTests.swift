import Foundation
import Synchronization
import Testing

@testable import PrefsCommands
@testable import prefs_serve

/// The server of `prefs serve`, without a browser: the requests that it accepts, the changes that it sends, and edits.
/// `Scripts/check-page` tests the page itself.
struct ServeTests {
    // MARK: Request guard

    private static let guardian = RequestGuard(port: 8000, token: token, isReadOnly: false)
    private static let token = {
        var zeros = Zeros()
        return PageToken(using: &zeros)
    }()

    private struct Zeros: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    /// Returns the verdict on a valid request after `change` modified it.
    private static func verdict(
        readOnly: Bool = false,
        _ change: (inout RequestGuard.Request) -> Void
    ) -> RequestGuard.Verdict {
        var request = RequestGuard.Request(method: "POST", path: "/api/write", host: "127.0.0.1:8000")
        request.origin = "http://127.0.0.1:8000"
        request.site = "same-origin"
        request.authorization = "Bearer \(token.text)"
        request.contentType = "application/json"
        request.contentLength = "10"
        change(&request)
        // As browsers do.
        if request.method == "GET", request.contentLength == "10" { request.contentLength = nil }
        return RequestGuard(port: 8000, token: token, isReadOnly: readOnly).verdict(request)
    }

    private static func status(_ verdict: RequestGuard.Verdict) -> Int {
        switch verdict {
        case .accepted: 200
        case .signpost: 403
        case .refused(let status, _): status
        }
    }

    @Test
    func requestOfThePageIsAccepted() {
        #expect(Self.verdict { _ in } == .accepted(.write))
        #expect(
            Self.verdict {
                $0.host = "localhost:8000"
                $0.origin = "http://localhost:8000"
            } == .accepted(.write)
        )
        #expect(Self.verdict { $0.contentType = "application/json; charset=utf-8" } == .accepted(.write))
        #expect(
            Self.verdict {
                ($0.method, $0.path, $0.token) = ("GET", "/", Self.token.text)
                ($0.origin, $0.site, $0.authorization) = (nil, "none", nil)
            } == .accepted(.page)
        )
    }

    @Test(arguments: [
        nil as String?, "evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001",
        "127.0.0.1:8000.evil.example",
        "[::1]:8000", "",
    ])
    func foreignHostIsRefused(_ host: String?) {
        for route in RequestGuard.Route.allCases {
            let verdict = Self.verdict {
                ($0.host, $0.origin, $0.path, $0.method) = (host, nil, route.rawValue, route.method)
            }
            #expect(Self.status(verdict) == 421, "\(route)")
        }
    }

    @Test(arguments: [
        "null", "http://evil.example", "https://127.0.0.1:8000", "http://127.0.0.1:8001", "http://localhost:8000", "",
    ])
    func foreignOriginIsRefused(_ origin: String) {
        for route in RequestGuard.Route.allCases {
            let verdict = Self.verdict { ($0.origin, $0.path, $0.method) = (origin, route.rawValue, route.method) }
            #expect(Self.status(verdict) == 403, "\(route)")
        }
    }

    @Test(arguments: ["cross-site", "same-site", ""])
    func requestOfAnotherSiteIsRefused(_ site: String) {
        #expect(Self.status(Self.verdict { $0.site = site }) == 403)
        #expect(
            Self.status(Self.verdict { ($0.method, $0.path, $0.token, $0.site) = ("GET", "/", Self.token.text, site) })
                == 403
        )
    }

    @Test(arguments: [
        nil as String?, "", "Bearer", "Bearer ", "Basic \(token.text)", "Bearer \(token.text)A",
        "Bearer b\(token.text.dropFirst())",
    ])
    func requestWithoutTheTokenIsRefused(_ authorization: String?) {
        for route in RequestGuard.Route.allCases where route.hasValues {
            let verdict = Self.verdict {
                ($0.authorization, $0.path, $0.method) = (authorization, route.rawValue, route.method)
                // Addresses are kept in histories and logs, so a token in them isn't accepted.
                $0.token = Self.token.text
            }
            #expect(Self.status(verdict) == 403, "\(route)")
        }
        #expect(Self.verdict { ($0.method, $0.path, $0.token) = ("GET", "/", nil) } == .signpost)
        #expect(Self.verdict { ($0.method, $0.path, $0.token) = ("GET", "/", "wrong") } == .signpost)
    }

    @Test
    func otherMethodsTypesLengthsAndPathsAreRefused() {
        for method in ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"] {
            #expect(Self.status(Self.verdict { $0.method = method }) == 405, "\(method)")
        }
        for type in [nil as String?, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            #expect(Self.status(Self.verdict { $0.contentType = type }) == 415, "\(type ?? "none")")
        }
        #expect(Self.status(Self.verdict { $0.contentLength = "1048577" }) == 413)
        #expect(Self.status(Self.verdict { $0.contentLength = nil }) == 411)
        #expect(Self.status(Self.verdict { $0.contentLength = "-1" }) == 411)
        #expect(Self.status(Self.verdict { $0.path = "/api/../etc/passwd" }) == 404)
        #expect(Self.status(Self.verdict { ($0.transferEncoding, $0.contentLength) = ("chunked", nil) }) == 411)
        let events = Self.verdict {
            ($0.method, $0.path) = ("GET", "/api/events")
            $0.contentLength = "1"
        }
        #expect(Self.status(events) == 400)
    }

    @Test
    func readOnlyServerRefusesEveryChange() {
        for route in RequestGuard.Route.allCases {
            let verdict = Self.verdict(readOnly: true) { request in
                (request.path, request.method, request.token) = (route.rawValue, route.method, Self.token.text)
            }
            #expect(Self.status(verdict) == (route.changes ? 403 : 200), "\(route)")
        }
    }

    @Test
    func tokensAreLongAndDiffer() {
        var generator = SystemRandomNumberGenerator()
        let tokens = (0..<100).map { _ in PageToken(using: &generator).text }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.count == 32 })
    }

    // MARK: Board

    @Test
    func slowPageGetsOnlyTheNewestState() throws {
        let board = Board(title: "{}")
        board.show("app", info: "{}", rows: ["a": "1", "b": "1"])
        let first = try #require(board.changes(since: 0))
        #expect(first.text.contains("\"whole\":true"))
        for value in 2...50 { board.show("app", info: "{}", rows: ["a": "\(value)"]) }
        let second = try #require(board.changes(since: first.version))
        #expect(second.text == "{\"suites\":[{\"name\":\"app\",\"rows\":[50]}]}")
        #expect(board.changes(since: second.version) == nil)
        board.show("app", info: "{}", rows: ["b": nil])
        #expect(board.changes(since: second.version)?.text == "{\"suites\":[{\"name\":\"app\",\"removed\":[\"b\"]}]}")
        board.remove("app")
        #expect(board.changes(since: second.version)?.text == "{\"suites\":[{\"name\":\"app\",\"gone\":true}]}")
    }

    @Test
    func removedNamesDoNotAccumulate() throws {
        let board = Board(title: "{}")
        board.show("app", info: "{}", rows: ["a": "1"])
        let before = try #require(board.changes(since: 0)).version
        for number in 0..<3000 {
            board.show("app", info: "{}", rows: ["\(number)": "1"])
            board.show("app", info: "{}", rows: ["\(number)": nil])
        }
        let changes = try #require(board.changes(since: before)).text
        // A page that missed the changes gets all current rows.
        #expect(changes.contains("\"whole\":true") && changes.contains("\"rows\":[1]"))
        #expect(changes.utf8.count < 20_000)
    }

    // MARK: Suites

    @Test
    func suiteThatEndedIsNotShownAgain() async throws {
        let tool = try Tool()
        try tool.write("{\"volume\":5}\n", to: "settings.jsonl")
        let board = Board(title: "{}")
        let suite = InspectedSuite("app", try FilePlace(file: tool.folder + "/settings.jsonl"), on: board)
        _ = try await suite.lines(of: "volume")
        #expect(board.changes(since: 0)?.text.contains("\"name\":\"app\"") == true)
        suite.refreshSoon()
        suite.end()
        // Runs on the suite's queue, after the refresh.
        _ = try await suite.lines(of: "volume")
        #expect(board.changes(since: 0)?.text.contains("\"name\":\"app\"") == false)
    }

    /// For each recorded edit, whether the file had its value at that moment.
    private final class Records: Sendable {
        let areStored = Mutex<[Bool]>([])
    }

    @Test
    func editIsRecordedBeforeTheNextOne() async throws {
        let tool = try Tool()
        let file = tool.folder + "/settings.jsonl"
        let suite = InspectedSuite("app", try FilePlace(file: file), on: Board(title: "{}"))
        let records = Records()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in 1...100 {
                group.addTask {
                    try await suite.edit("volume", to: "\(value)") { edit in
                        do {
                            let stored = try FilePlace(file: file).layers { _ in }.last?.contents["volume"]
                            records.areStored.withLock { $0.append([stored] == edit.after.map(\.value)) }
                        } catch { Issue.record(error) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(records.areStored.withLock { $0 } == Array(repeating: true, count: 100))
    }

    // MARK: Running program

    @Test
    func onlyTheChangeOfAnotherProcessIsSent() throws {
        let server = try PageProcess("app")
        try server.tool.run("write app volume 5")
        try server.tool.run("write app theme -string dark")
        let stream = try server.events()
        _ = try stream.read(until: "\"theme\"")
        try server.tool.run("write app volume 6")
        let events = try stream.read(until: "\"text\":\"6\"")
        let last = events.split(separator: "data: ").last.map(String.init) ?? ""
        #expect(last.contains("\"name\":\"volume\"") && !last.contains("theme"), "\(last)")
        try server.tool.run("delete app volume")
        _ = try stream.read(until: "\"removed\":[\"volume\"]")
    }

    @Test
    func editReachesTheFileAndCanBeUndone() throws {
        let server = try PageProcess("")
        try server.tool.run("write app volume 5")
        let stream = try server.events()
        _ = try stream.read(until: "\"volume\"")
        #expect(
            try server.change("/api/write", ["suite": "app", "name": "volume", "text": "9223372036854775807"]).status
                == 200
        )
        #expect(try server.tool.run("read app volume").output == "9223372036854775807\n")
        _ = try stream.read(until: "\"text\":\"9223372036854775807\"")
        #expect(try server.change("/api/delete", ["suite": "app", "name": "volume"]).status == 200)
        #expect(try server.tool.run("read app volume").status == 1)
        #expect(try server.change("/api/undo").status == 200)
        #expect(try server.change("/api/undo").status == 200)
        #expect(try server.tool.run("read app volume").output == "5\n")
        let end = try server.change("/api/undo")
        #expect(end.status == 404 && end.body.contains("there is no edit to undo"))
    }

    @Test
    func editThatAnotherProcessReplacedIsNotUndone() throws {
        let server = try PageProcess("app")
        try server.tool.run("write app volume 5")
        #expect(try server.change("/api/write", ["suite": "app", "name": "volume", "text": "6"]).status == 200)
        try server.tool.run("write app volume 7")
        let undo = try server.change("/api/undo")
        #expect(undo.status == 404 && undo.body.contains("was changed after this edit"), "\(undo)")
        #expect(try server.tool.run("read app volume").output == "7\n")
    }

    @Test
    func valueThatTheSchemaRejectsIsNotWritten() throws {
        let server = try PageProcess("app")
        try server.tool.write(
            #"{"properties":{"volume":{"type":"integer","maximum":10}}}"#,
            to: "config/app/preferences.schema.json"
        )
        try server.tool.run("write app volume 5")
        for (text, reason) in [("11", "outside"), ("\"a\"", "of type integer"), ("[1,", "this isn't a value")] {
            let answer = try server.change("/api/write", ["suite": "app", "name": "volume", "text": text])
            #expect(answer.status == 422 && answer.body.contains(reason), "\(answer)")
        }
        let other = try server.change("/api/write", ["suite": "other", "name": "volume", "text": "1"])
        #expect(other.status == 404 && other.body.contains("doesn't show"))
        #expect(try server.tool.run("read app volume").output == "5\n")
    }

    @Test
    func damageAndSchemaAndHiddenLayersAreSent() throws {
        let server = try PageProcess("app")
        try server.tool.run("write app volume 5")
        let stream = try server.events()
        _ = try stream.read(until: "\"volume\"")
        try server.tool.shell("echo '{\"theme\":' >> config/app/preferences.jsonl")
        _ = try stream.read(until: "\"damage\":[\"")
        try server.tool.write("{\"volume\":3}\n", to: "system/app/preferences.jsonl")
        _ = try stream.read(until: "\"layers\":[\"3\",\"5\",\"\"]")
        try server.tool.write(
            #"{"properties":{"volume":{"description":"How loud"}}}"#,
            to: "config/app/preferences.schema.json"
        )
        _ = try stream.read(until: "How loud")
    }

    @Test
    func createdAndRemovedSuiteIsSent() throws {
        let server = try PageProcess("")
        let stream = try server.events()
        try server.tool.run("write later volume 5")
        _ = try stream.read(until: "\"name\":\"later\"")
        try server.tool.shell("rm -r config/later")
        _ = try stream.read(until: "\"gone\":true")
    }

    @Test
    func suiteThatCanNotBeReadIsShownUntilItIsGone() throws {
        let server = try PageProcess("")
        let stream = try server.events()
        try server.tool.shell("mkdir -p config/app/preferences.jsonl")
        _ = try stream.read(until: "isn't a regular file")
        try server.tool.shell("rmdir config/app/preferences.jsonl")
        _ = try stream.read(until: "\"gone\":true")
        try server.tool.run("write app volume 5")
        _ = try stream.read(until: "\"name\":\"volume\"")
    }

    @Test
    func pageThatDoesNotReadDelaysNoOtherPage() throws {
        let server = try PageProcess("app")
        try server.tool.write(
            (0..<2000).map { "{\"name\($0)\":\"\(String(repeating: "x", count: 1000))\"}\n" }.joined(),
            to: "config/app/preferences.jsonl"
        )
        // Far more than fits into the buffers of its connection.
        let idle = try server.events()
        let stream = try server.events()
        _ = try stream.read(until: "\"name1999\"")
        try server.tool.run("write app name0 -string new")
        _ = try stream.read(until: "\"text\":\"\\\"new\\\"\"")
        withExtendedLifetime(idle) {}
    }

    @Test
    func linesOfAValueAreFound() throws {
        let server = try PageProcess("app")
        try server.tool.write(
            "{\"volume\":1}\n{\"theme\":\"volume\"}\n{\"volume\":2}\n",
            to: "config/app/preferences.jsonl"
        )
        let answer = try server.request(
            "GET",
            "/api/origin?suite=app&name=volume",
            ["Authorization: Bearer \(server.token)"]
        )
        #expect(answer.body == "{\"lines\":[0,3,0]}")
    }

    @Test
    func everyAttackOverTheWireIsRefused() throws {
        let server = try PageProcess("app --read-only")
        let host = "Host: 127.0.0.1:\(server.port)"
        let bearer = "Authorization: Bearer \(server.token)"
        #expect(try server.request("GET", "/api/events", [], host: "Host: evil.example:\(server.port)").status == 421)
        #expect(try server.request("GET", "/api/events", [bearer, "Origin: http://evil.example"]).status == 403)
        #expect(try server.request("GET", "/api/events", [bearer, "Sec-Fetch-Site: cross-site"]).status == 403)
        #expect(try server.request("GET", "/api/events", []).status == 403)
        let shell = try server.request("GET", "/", [], host: host)
        #expect(shell.status == 403 && shell.body.contains("prefs serve"))
        let page = try server.request("GET", "/?token=\(server.token)", [])
        #expect(page.status == 200)
        for header in [
            "frame-ancestors 'none'", "nosniff", "no-referrer", "no-store", "Cross-Origin-Resource-Policy: same-origin",
        ] {
            #expect(page.head.contains(header), "\(header)")
        }
        #expect(!page.head.contains("Access-Control-Allow-Origin"))
        let change = try server.change("/api/write", ["suite": "app", "name": "volume", "text": "1"])
        #expect(change.status == 403 && change.body.contains("--read-only"))
        #expect(try server.tool.run("read app volume").status == 1)
        for file in ["cmdline", "environ"] {
            let text = try Data(contentsOf: URL(filePath: "/proc/\(server.process)/\(file)"))
            #expect(text.range(of: Data(server.token.utf8)) == nil, "\(file)")
        }
    }

    /// Otherwise the rest of the request would be read as the next one (request smuggling).
    @Test(
        arguments: ["GET", "POST"],
        ["Transfer-Encoding: chunked", "Content-Length: 9999999999", "Content-Length: 9000"]
    )
    func refusedRequestEndsItsConnection(_ method: String, _ body: String) throws {
        let server = try PageProcess("app")
        let connection = try Connection(server.port)
        try connection.send("\(method) /api/events HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(body)\r\n\r\n")
        // A rejected body must not be read as a request.
        if body.hasSuffix(" 9000") { try connection.send(String(repeating: "x", count: 9000)) }
        let answers = try connection.readAll()
        #expect(
            answers.components(separatedBy: "HTTP/1.1 ").count == 2 && answers.contains("Connection: close"),
            "\(answers)"
        )
    }

    @Test
    func connectionsThatExceedTheLimitDoNotEndIt() throws {
        let server = try PageProcess("app", before: "ulimit -n 64;")
        try server.tool.run("write app volume 5")
        var connections: [Connection] = []
        for _ in 0..<200 {
            connections.append(try Connection(server.port))
        }
        // The server closes the first connection when there are too many.
        do { #expect(try connections[0].readAll().isEmpty) } catch {
            #expect((error as? POSIXError)?.code == .ECONNRESET)
        }
        #expect(try server.change("/api/write", ["suite": "app", "name": "volume", "text": "6"]).status == 200)
        withExtendedLifetime(connections) {}
        #expect(try server.tool.run("read app volume").output == "6\n")
    }

    @Test
    func portInUseIsReported() throws {
        let server = try PageProcess("app")
        let run = try server.tool.run("serve app --port \(server.port)")
        #expect(run.status == 5 && run.error.contains("port \(server.port) is in use by another program"), "\(run)")
        #expect(run.output.isEmpty)
    }

    @Test
    func ctrlCEndsItWithTheStatusOfAnInterrupt() throws {
        let tool = try Tool()
        guard let session = try TerminalSession(tool, "trap : INT; prefs serve; echo ended with $?") else { return }
        let screen = try session.screen(showing: "Ctrl-C ends the page")
        #expect(screen.contains("http://127.0.0.1:"))
        try session.press("C-c")
        #expect(try session.screen(showing: "ended with").contains("ended with 130"))
    }
}

#if Etcd
@Suite(needsEtcd)
struct ServeEtcdTests {
    @Test(arguments: ["app", ""])
    func fleetsSuiteIsShownAndEdited(_ suite: String) throws {
        let server = try EtcdServer.start()
        defer { server.kill() }
        let etcd = "--etcd \(server.url)"
        let page = try PageProcess("\(etcd) \(suite)")
        try page.tool.run("\(etcd) write app volume 5")
        let stream = try page.events()
        _ = try stream.read(until: "\"source\":\"etcd\",\"text\":\"5\"")
        try page.tool.run("\(etcd) write app volume 6")
        _ = try stream.read(until: "\"text\":\"6\"")
        #expect(try page.change("/api/write", ["suite": "app", "name": "volume", "text": "7"]).status == 200)
        #expect(try page.tool.run("\(etcd) read app volume").output == "7\n")
        #expect(try page.change("/api/undo").status == 200)
        #expect(try page.tool.run("\(etcd) read app volume").output == "6\n")
        server.kill()
        _ = try stream.read(until: "the connection to etcd is lost")
    }
}
#endif
