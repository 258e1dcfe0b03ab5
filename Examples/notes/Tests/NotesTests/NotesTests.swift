import ArgumentParser
import Foundation
import PreferencesArgumentParser
import Testing

@testable import notes

/// The program, by its output.
struct NotesTests {
    private func notes(_ words: String..., environment: [String: String] = [:], in folder: URL) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = words
        let places = ["XDG_CONFIG_HOME": folder.path, "XDG_STATE_HOME": folder.path, "HOME": folder.path]
        process.environment = environment.merging(places) { $1 }
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }

    @Test
    func optionsBeatTheEnvironmentAndTheFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        for text in ["bread", "milk", "a call"] { _ = try notes("add", text, in: folder) }
        #expect(try notes(in: folder) == "a call\nmilk\nbread\n")
        _ = try notes("config", "set", "limit", "2", in: folder)
        #expect(try notes(in: folder) == "a call\nmilk\n")
        #expect(try notes(environment: ["NOTES_LIMIT": "1"], in: folder) == "a call\n")
        #expect(
            try notes("-n", "3", "--order=oldest", "--hidden", "milk", environment: ["NOTES_LIMIT": "1"], in: folder)
                == "bread\na call\n"
        )
    }

    @Test
    func optionsHaveDifferentNames() throws {
        try NotesTool.checkPreferenceOptions()
    }
}

#if canImport(Darwin)
private final class TestBundle {}
private let program = Bundle(for: TestBundle.self).bundleURL.deletingLastPathComponent().appending(path: "notes")
#else
private let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "notes")
#endif
