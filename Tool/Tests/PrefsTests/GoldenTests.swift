import Foundation
import Testing

/// Transcripts of sessions, compared exactly: standard output, standard error and exit code of the built program.
///
/// A transcript is a file in `Transcripts` that looks like a terminal: `sh` runs each line `$ prefs …`; the output follows, with `! `
/// before each line of standard error and `[code]` at the end. To record the transcripts after a change, run the tests with
/// `RECORD_TRANSCRIPTS=1` and read `git diff`.
struct GoldenTests {
    @Test(arguments: try Transcript.names())
    func transcriptIsAsItWas(_ name: String) throws {
        let transcript = try Transcript(name)
        let played = try transcript.play(with: try Tool())
        try transcript.recordIfWanted(played)
        #expect(played == transcript.text)
    }

    @Test
    func everyCommandHasATranscript() throws {
        let text = try Transcript.names().map { try Transcript($0).text }.joined()
        for command in try Tool().run(["--help"]).output.commands {
            #expect(text.contains("$ prefs \(command)"), "no transcript runs \(command)")
        }
    }
}

struct Transcript {
    let text: String
    private let path: String

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts").path

    /// Returns the names of the transcripts in a folder.
    static func names(in place: String = "") throws -> [String] {
        let path = URL(filePath: folder).appending(path: place).path
        return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".txt") }.sorted()
            .map { place.isEmpty ? $0 : "\(place)/\($0)" }
    }

    init(_ name: String) throws {
        path = "\(Self.folder)/\(name)"
        text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    func recordIfWanted(_ text: String) throws {
        guard ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] != nil else { return }
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// Returns the transcript as the built program produces it.
    func play(with tool: Tool) throws -> String {
        var played = ""
        var isBetween = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            // Comments and empty lines between an exit code and the next command aren't output.
            if isBetween, line.hasPrefix("#") || line.isEmpty { played += line + "\n" }
            isBetween = isBetween && !line.hasPrefix("$ ") || line.wholeMatch(of: /\[\d+\]/) != nil
            guard line.hasPrefix("$ ") else { continue }
            let run = try tool.shell(String(line.dropFirst(2)))
            played += line + "\n" + run.output
            if !run.output.isEmpty, !run.output.hasSuffix("\n") { played += "\n" }
            for line in run.error.split(separator: "\n") { played += "! \(line)\n" }
            played += "[\(run.status)]\n"
        }
        return played
    }
}

extension String {
    /// The commands that a help text lists.
    var commands: [String] {
        split(separator: "\n").drop { $0 != "SUBCOMMANDS:" }.dropFirst()
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.contains("See '") }
            // A name; its aliases follow after a comma.
            .compactMap { $0.split { $0 == " " || $0 == "," }.first.map(String.init) }
    }
}
