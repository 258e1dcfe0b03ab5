#if ArgumentParser
internal import ArgumentParser
internal import Preferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The reason why a command of settings ends early, and its exit code.
struct CommandFailure: Error {
    /// The exit codes of the tool `prefs`.
    enum Status: Int32 {
        case absent = 1
        case usage
        case damaged
        case notPermitted
        case failed
    }

    let status: Status
    let message: String

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: PreferenceError) {
        let status: Status =
            switch error.code {
            case .invalidName, .invalid, .unencodable, .tooLarge, .misuse: .usage
            case .managed, .readOnly, .notPermitted: .notPermitted
            case .damaged, .unknownFormat, .unreadable: .damaged
            default: .failed
            }
        self.init(status, "\(error)")
    }

    /// Runs a command; a failure is printed to standard error, and ends the program with its code.
    static func run(_ body: () throws -> Void) throws {
        do { try body() } catch {
            let failure: CommandFailure
            switch error {
            case let error as CommandFailure: failure = error
            case let error as PreferenceError: failure = CommandFailure(error)
            default: throw error
            }
            CommandInput.warn("Error: " + failure.message)
            throw ExitCode(failure.status.rawValue)
        }
    }
}

/// The standard streams.
enum CommandInput {
    /// Returns what standard input has, without one line break at its end; on a terminal, asks for a secret.
    static func text(isSecret: Bool) throws -> String {
        if isatty(0) == 1 {
            guard isSecret else { throw CommandFailure(.usage, "the value is missing; nothing was changed") }
            guard let typed = getpass("Value: ") else {
                throw CommandFailure(.failed, "the terminal can't be read; nothing was changed")
            }
            return String(cString: typed)
        }
        guard var bytes = contents(of: 0) else { throw CommandFailure(.failed, "standard input can't be read") }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.usage, "standard input isn't UTF-8 text; nothing was changed")
        }
        return text
    }

    /// Returns the rest of a file; `nil` if it can't be read, then `errno` has the reason.
    static func contents(of descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Returns the value of an environment variable; `nil` if it is missing or empty.
    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Writes a line to standard output, behind all that the program has printed; `print` would ignore that it can't be written.
    static func print(_ text: String) throws {
        guard fflush(nil) == 0, put(text, on: 1) else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(.failed, "can't write the output: \(reason)")
        }
    }

    static func warn(_ text: String) { _ = put(text, on: 2) }

    /// Writes a line; returns whether that was possible, else `errno` has the reason.
    static func put(_ text: String, on descriptor: Int32) -> Bool {
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            rest.removeFirst(count)
        }
        return true
    }
}

extension PropertyListValue {
    /// The value alone: a text without quotes, any other as JSON.
    var plain: String {
        get throws { if case .string(let text) = self { text } else { try json() } }
    }
}

/// Rows of text in columns, which are aligned on a terminal and separated by tabs elsewhere; control characters are escaped.
struct TextTable {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    mutating func add(_ row: [String]) { rows.append(row.map { $0.escapingControls() }) }

    var text: String {
        guard isatty(1) == 1 else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        let all = [header.map { $0.uppercased() }] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let cells = row.indices.map { column in
                row[column] + String(repeating: " ", count: widths[column] - row[column].count)
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
        .joined(separator: "\n")
    }
}
#endif
