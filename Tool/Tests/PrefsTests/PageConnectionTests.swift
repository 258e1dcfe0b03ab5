import Foundation
import Testing

@testable import prefs_serve

/// Attacks by a client without a token on the server of `prefs serve`: heads, their limits, and many connections.
struct PageConnectionTests {
    private static func head(_ text: String) throws -> RequestHead? {
        var reader = RequestReader()
        reader.append(text.utf8)
        return try reader.head()
    }

    @Test
    func headIsReadInPieces() throws {
        let text =
            "POST /a%20b?name=a+b%2B&suite= HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-A:\t b c \t\r\nX-A: d\r\n\r\nbody"
        var reader = RequestReader()
        var heads: [RequestHead] = []
        for byte in text.utf8 {
            reader.append([byte])
            if heads.isEmpty, let head = try reader.head() { heads.append(head) }
        }
        let head = try #require(heads.first)
        #expect((head.method, head.path) == ("POST", "/a b"))
        #expect(head.query == ["name": "a b+", "suite": ""])
        #expect(head["host"] == "127.0.0.1:80" && head["x-a"] == "b c" && head["origin"] == nil)
        #expect(reader.bytes == Array("body".utf8))
    }

    @Test(arguments: [
        "", "GET / HTTP/1.1\nHost: a", "GET  / HTTP/1.1", "GET / HTTP/2", "GET http://a/ HTTP/1.1", " / HTTP/1.1",
        "GET /",
        "GET /%zz HTTP/1.1", "GET /%4 HTTP/1.1", "GET /%ff HTTP/1.1", "GET /?a=1&a=2 HTTP/1.1",
        "GET / HTTP/1.1\r\nHost",
        "GET / HTTP/1.1\r\nHost : a", "GET / HTTP/1.1\r\n: a", "GET / HTTP/1.1\r\nX: a\r\n b",
        "GET / HTTP/1.1\r\nX: a\rb",
        "GET / HTTP/1.1\r\nX: \u{0}", "GET / HTTP/1.1\r\nX: \u{7F}", "GET /ü HTTP/1.1", "GET / HTTP/1.1\r\nÜ: a",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nhost: 127.0.0.1",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
    ])
    func malformedHeadIsRejected(_ text: String) {
        let error = #expect(throws: RequestHead.Problem.self) { try Self.head(text + "\r\n\r\n") }
        #expect(error?.status == 400)
    }

    /// A browser sends the cookies of other servers on 127.0.0.1, too.
    @Test
    func cookieThatIsNotASCIIIsIgnored() throws {
        var reader = RequestReader()
        reader.append(Array("GET / HTTP/1.1\r\nCookie: a=ü".utf8) + [0xFF] + Array("\r\nHost: a\r\n\r\n".utf8))
        let head = try #require(try reader.head())
        #expect(head["host"] == "a")
    }

    @Test
    func headHasALimit() throws {
        let start = "GET / HTTP/1.1\r\nX: "
        let fitting = String(repeating: "x", count: RequestHead.limit - start.utf8.count - 4)
        #expect(try Self.head(start + fitting + "\r\n\r\n") != nil)
        #expect(try Self.head(start) == nil)
        let error = #expect(throws: RequestHead.Problem.self) { try Self.head(start + fitting + "x\r\n\r\n") }
        #expect(error?.status == 431)
    }

    @Test
    func longLinesDelayNoOtherRequest() throws {
        let server = try PageProcess("app")
        let attackers = try (0..<2).map { _ in try Connection(server.port) }
        for attacker in attackers {
            // The server closes the connection before all of it is sent.
            do { try attacker.send("GET /" + String(repeating: "a", count: 300_000)) } catch {
                #expect(error is POSIXError)
            }
        }
        #expect(try server.change("/api/write", ["suite": "app", "name": "volume", "text": "6"]).status == 200)
        do { #expect(try attackers[0].readAll().hasPrefix("HTTP/1.1 431 ")) } catch {
            #expect((error as? POSIXError)?.code == .ECONNRESET)
        }
    }

    @Test
    func silentConnectionsKeepNoPageOut() throws {
        let server = try PageProcess("app")
        let stream = try server.events()
        _ = try stream.read(until: "\"server\"")
        let silent = try (0..<300).map { _ in try Connection(server.port) }
        #expect(try server.change("/api/write", ["suite": "app", "name": "volume", "text": "6"]).status == 200)
        // Those that are closed only later, as their heads take too long, would still be open.
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.process)/fd").count
        #expect(open < 64 + 32, "\(open) files are open")
        // A page that is open stays so.
        _ = try stream.read(until: "\"text\":\"6\"")
        do { #expect(try silent[0].readAll().isEmpty) } catch {
            #expect((error as? POSIXError)?.code == .ECONNRESET)
        }
    }

    @Test
    func slowHeadEndsItsConnection() throws {
        let server = try PageProcess("app")
        let connection = try Connection(server.port)
        try connection.send("GET / HTTP/1.1\r\n")
        #expect(try connection.readAll().isEmpty)
    }

    @Test
    func twoHostsAreRefusedOverTheWire() throws {
        let server = try PageProcess("app")
        let headers = ["Host: 127.0.0.1:\(server.port)", "Authorization: Bearer \(server.token)"]
        let answer = try server.request("GET", "/api/origin?suite=app&name=a", headers)
        #expect(answer.status == 400 && answer.body == "prefs: the request has two headers Host\n", "\(answer)")
    }
}
