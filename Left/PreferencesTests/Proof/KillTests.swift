import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

struct KillTests {
    @Test
    func valueSetBeforeAKillIsThere() throws {
        let folder = try TemporaryFolder()
        for round in 1...rounds(200) {
            try same(status(ofWriterTo: folder.path("preferences.jsonl")), SIGKILL, "killed, not ended")
            try same(contents(of: folder.path("preferences.jsonl"))["count"], .integer(Int64(round)))
        }
    }

    /// Returns the values that a process finds when it opens the file.
    private func contents(of path: String) throws -> [String: PropertyListValue] {
        let host = PreferenceBackendHost(changed: { _ in }, report: { Issue.record($0) })
        return try FileBackend(path: path).load(host: host)
    }

    private func status(ofWriterTo path: String) throws -> Int32 {
        let variables = ProcessInfo.processInfo.environment
        return try statusOfProgram([BuiltProgram.path("KillWriter"), path], variables: variables)
    }
}
