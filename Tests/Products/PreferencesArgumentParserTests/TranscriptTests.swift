#if ArgumentParser
import FileTestSupport
import Foundation
import TestSupport
import Testing

/// Transcripts of sessions with a program, compared exactly, so that a version of swift-argument-parser that reads the options otherwise
/// is noticed.
///
/// A transcript is a file in `Transcripts` that looks like a terminal: `sh` runs each line `$ notes …`; the output follows, with `! `
/// before each line of standard error and `[code]` at the end. To record the transcripts after a change, run the tests with
/// `RECORD_TRANSCRIPTS=1` and read `git diff`.
struct TranscriptTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")

    @Test(arguments: ["completion", "config", "edit", "errors", "help", "options", "unreadable"])
    func transcriptIsAsItWas(_ name: String) throws {
        let url = Self.folder.appending(path: "\(name).txt")
        let text = try String(contentsOf: url, encoding: .utf8)
        let played = try play(text)
        if ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] != nil {
            try Data(played.utf8).write(to: url)
        }
        same(played, text)
    }

    private func play(_ text: String) throws -> String {
        let home = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: home.path("bin"), withIntermediateDirectories: true)
        let program = BuiltProgram.path("NotesProbe")
        try home.write("#!/bin/sh\nexec '\(program)' \"$@\"\n", to: "bin/notes")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.path("bin/notes"))
        var played = ""
        var isBetween = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            // Comments and empty lines between an exit code and the next command aren't output.
            if isBetween, line.hasPrefix("#") || line.isEmpty { played += line + "\n" }
            isBetween = isBetween && !line.hasPrefix("$ ") || line.wholeMatch(of: /\[\d+\]/) != nil
            guard line.hasPrefix("$ ") else { continue }
            let (output, error, status) = try run(String(line.dropFirst(2)), in: home)
            played += line + "\n" + output
            if !output.isEmpty, !output.hasSuffix("\n") { played += "\n" }
            for line in error.split(separator: "\n") { played += "! \(line)\n" }
            played += "[\(status)]\n"
        }
        return played
    }

    private func run(_ command: String, in home: TemporaryFolder) throws -> (String, String, Int32) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = [
            "PATH": home.path("bin") + ":/usr/bin:/bin", "HOME": home.path, "COLUMNS": "80", "TMPDIR": home.path,
            "XDG_CONFIG_HOME": home.path("config"), "XDG_CONFIG_DIRS": home.path("xdg"),
        ]
        let output = home.path("output")
        let error = home.path("error")
        for path in [output, error] { try Data().write(to: URL(filePath: path)) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: error))
        try process.run()
        process.waitUntilExit()
        func text(_ name: String) throws -> String {
            try home.read(name).replacing(home.path, with: "~")
        }
        return (try text("output"), try text("error"), process.terminationStatus)
    }
}
#endif
