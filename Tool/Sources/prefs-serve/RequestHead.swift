/// The head of a request of HTTP/1.1: the request line and the headers.
struct RequestHead: Sendable, Equatable {
    let method: String
    /// The decoded path, without the query.
    let path: String
    let query: [String: String]
    /// The headers by their names in lower case.
    private let headers: [String: String]

    /// The maximum number of bytes of a head.
    static let limit = 16 << 10

    /// The reason why a request isn't read, with the status of the answer.
    struct Problem: Error, Equatable {
        let status: Int
        let reason: String
    }

    /// Creates the head from its lines, without the empty line that ends it.
    init(_ bytes: ArraySlice<UInt8>) throws(Problem) {
        var lines: [String] = []
        var rest = bytes[...]
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "\r")) ?? rest.endIndex
            let line = rest[..<end]
            // Other control characters, a bare line feed among them, end a line for some programs, and not for others. A browser
            // sends the cookies of all servers on this address, also those that aren't ASCII.
            guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
                throw Self.malformed("has a character that isn't allowed")
            }
            lines.append(String(decoding: line, as: UTF8.self))
            guard end < rest.endIndex else { break }
            rest = rest[end...].dropFirst()
            guard rest.popFirst() == UInt8(ascii: "\n") else { throw Self.malformed("has a carriage return alone") }
        }
        guard Self.isASCII(lines[0]) else { throw Self.malformed("has a character that isn't allowed") }
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[1].hasPrefix("/"), ["HTTP/1.1", "HTTP/1.0"].contains(words[2])
        else { throw Self.malformed("has no request line of HTTP/1.1") }
        method = String(words[0])
        let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = try Self.decoded(parts[0])
        query = try Self.query(parts.count > 1 ? parts[1] : "")
        headers = try Self.headers(lines.dropFirst())
    }

    /// Returns the value of a header by its name in lower case.
    subscript(name: String) -> String? { headers[name] }

    /// The headers that decide whether a request is accepted; of two values, another program might believe the other one.
    private static let unique: Set = [
        "host", "origin", "sec-fetch-site", "authorization", "content-type", "content-length", "transfer-encoding",
    ]

    private static func headers(_ lines: ArraySlice<String>) throws(Problem) -> [String: String] {
        var headers: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, isASCII(parts[0]),
                !parts[0].contains(where: { $0 == " " || $0 == "\t" })
            else {
                throw malformed("has a header without a name")
            }
            let name = parts[0].lowercased()
            var value = parts[1]
            while let first = value.first, first == " " || first == "\t" { value.removeFirst() }
            while let last = value.last, last == " " || last == "\t" { value.removeLast() }
            guard headers[name] == nil else {
                if unique.contains(name) { throw malformed("has two headers \(parts[0])") }
                continue
            }
            headers[name] = String(value)
        }
        return headers
    }

    private static func isASCII(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func query(_ text: Substring) throws(Problem) -> [String: String] {
        var query: [String: String] = [:]
        for part in text.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decoded(sides[0], isForm: true)
            guard query[name] == nil else { throw malformed("has two parameters of one name") }
            query[name] = sides.count > 1 ? try decoded(sides[1], isForm: true) : ""
        }
        return query
    }

    /// Returns the text of percent-encoded bytes; in a form a plus sign is a space.
    private static func decoded(_ text: Substring, isForm: Bool = false) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where isForm: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexadecimal),
                    let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { throw malformed("has an address that can't be decoded") }
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw malformed("has an address that isn't UTF-8")
        }
        return decoded
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    private static func malformed(_ reason: String) -> Problem { Problem(status: 400, reason: "the request \(reason)") }
}

/// The received bytes of a request, each of which is looked at once for the end of the head.
struct RequestReader {
    private(set) var bytes: [UInt8] = []
    private var searched = 0

    mutating func append(_ part: some Collection<UInt8>) { bytes += part }

    /// Removes and returns the head as soon as it is complete; what follows stays in `bytes`.
    mutating func head() throws(RequestHead.Problem) -> RequestHead? {
        let end = Array("\r\n\r\n".utf8)
        while searched + end.count <= min(bytes.count, RequestHead.limit) {
            guard bytes[searched..<searched + end.count].elementsEqual(end) else {
                searched += 1
                continue
            }
            let head = try RequestHead(bytes[..<searched])
            bytes.removeFirst(searched + end.count)
            return head
        }
        guard bytes.count < RequestHead.limit else {
            throw RequestHead.Problem(status: 431, reason: "the head of the request exceeds \(RequestHead.limit) bytes")
        }
        return nil
    }
}
