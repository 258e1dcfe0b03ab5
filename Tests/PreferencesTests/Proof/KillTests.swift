import DurableFile
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
        let writer = BuiltProgram.path("KillWriter")
        var arguments = [strdup(writer), strdup(path), nil]
        var environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var process = pid_t()
        try #require(posix_spawn(&process, writer, nil, nil, &arguments, &environment) == 0)
        var status = Int32()
        try #require(waitpid(process, &status, 0) == process)
        return status
    }
}
