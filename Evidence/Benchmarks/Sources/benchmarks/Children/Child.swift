import Foundation
import Glibc

/// Another process, with pipes to its input and from its output; it ends with this object.
final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    /// Starts this program in one of its roles.
    convenience init(role arguments: String...) throws {
        try self.init(CommandLine.arguments[0], ["child"] + arguments)
    }

    /// Starts a program, which is searched for in the folders of `PATH` unless a path is given.
    init(_ program: String, _ arguments: [String], isQuiet: Bool = false) throws {
        guard let path = Self.path(of: program) else { throw Unavailable("\(program) is missing; install it") }
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        if isQuiet { process.standardError = FileHandle.nullDevice }
        try process.run()
    }

    deinit { end() }

    /// Ends the process, even if it was never started.
    func end() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    var identifier: Int32 { process.processIdentifier }

    func send(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Returns the next line of its output; throws at the end.
    func readLine() throws -> String {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var waiting = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 600_000) > 0 else { throw Failure("\(process.arguments ?? []) doesn't answer") }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure("\(process.arguments ?? []) ended before it answered") }
            received += more
        }
    }

    /// Returns the numbers on the next line.
    func readNumbers() throws -> [Double] {
        let line = try readLine()
        return try line.split(separator: " ").map { word in
            guard let number = Double(word) else { throw Failure("\(line) is not all numbers") }
            return number
        }
    }

    func readNumber() throws -> Double {
        guard let number = try readNumbers().first else { throw Failure("a number is missing") }
        return number
    }

    /// Waits for its end; returns its exit code.
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Returns the path of another program of this package, which was built with this one.
    static func sibling(_ program: String) -> String {
        let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appending(path: program).path
    }

    static func path(of program: String) -> String? {
        if program.contains("/") { return program }
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
