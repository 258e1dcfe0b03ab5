import Foundation
import Testing

/// The program, controlled with files and a signal, and checked by its output.
struct GreeterTests {
    @Test(.timeLimit(.minutes(1)))
    func serviceFollowsTheFileAndTheUser() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "greeter-\(UUID().uuidString)")
        let suite = folder.appending(path: "com.example.greeter")
        try FileManager.default.createDirectory(at: suite, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        func write(_ text: String, to file: URL) throws { try Data(text.utf8).write(to: file, options: .atomic) }
        let (file, user) = (folder.appending(path: "greeter.json"), suite.appending(path: "preferences.jsonl"))

        try write(#"{"greeting": "Hello", "name": "everybody"}"#, to: file)
        let greeter = try Program(
            "greeter",
            in: folder,
            environment: ["GREETER_NAME": "Ada", "XDG_CONFIG_HOME": folder.path(percentEncoded: false)]
        )
        defer { greeter.end() }
        #expect(greeter.nextLine() == "Hello, Ada! (greeting: greeter.json, name: environment)")

        try write(#"{"greeting": "Welcome"}"#, to: file)
        #expect(greeter.nextLine() == "Welcome, Ada! (greeting: greeter.json, name: environment)")

        try write(#"{"name":"Pitt"}"# + "\n", to: user)
        #expect(greeter.nextLine() == "Welcome, Pitt! (greeting: greeter.json, name: store)")

        // A value that can't be read is reported, and the default is used.
        try write(#"{"greeting": 7}"#, to: file)
        #expect(greeter.nextLine() == "Hello, Pitt! (greeting: default, name: store)")

        greeter.end()
        #expect(greeter.nextLine() == "Goodbye, Pitt!")
        #expect(greeter.nextLine() == nil)
        #expect(greeter.exitCode() == 0)
    }
}

#if canImport(Darwin)
/// The folder or file of the test; the program is next to it.
private var testBundle: URL { Bundle(for: Program.self).bundleURL }
#else
/// The folder or file of the test; the program is next to it.
private var testBundle: URL { URL(filePath: CommandLine.arguments[0]) }
#endif

/// A program of this package that is running.
private final class Program {
    private let process = Process()
    private let output = Pipe()
    private var unread = Data()
    private var limit: DispatchWorkItem?

    init(_ name: String, in folder: URL, environment: [String: String]) throws {
        process.executableURL = testBundle.deletingLastPathComponent().appending(path: name)
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        try process.run()
        // A time limit of the test doesn't end a thread that waits for a line; ending the program ends the read.
        let limit = DispatchWorkItem { [id = process.processIdentifier] in kill(id, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 45, execute: limit)
        self.limit = limit
    }

    deinit { limit?.cancel() }

    /// Waits for the next line that the program prints; `nil` once it has ended.
    func nextLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread += more
        }
    }

    /// Sends SIGTERM.
    func end() { if process.isRunning { process.terminate() } }

    func exitCode() -> Int32 {
        process.waitUntilExit()
        limit?.cancel()
        return process.terminationStatus
    }
}
