import Foundation
import PreferencesInspection
import TestSupport
import Testing

@testable import Preferences

/// The changes that a file still holds, for `prefs undo`.
struct HistoryTests {
    private func history(_ lines: String...) throws -> PreferencesHistory {
        try PreferencesHistory(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    @Test
    func eachLineHasTheValuesBeforeAndAfterIt() throws {
        let history = try history(#"{"a":1}"#, #"{"a":2,"b":true}"#, #"{"a":null}"#)
        same(history.entries.map(\.line), [1, 2, 3])
        same(history.entries.map(\.change.old), [[:], ["a": 1], ["a": 2]])
        same(history.entries.map(\.change.new), [["a": 1], ["a": 2, "b": true], [:]])
        same(history.entries.map(\.change.names), [["a"], ["a", "b"], ["a"]])
        #expect(history.contents == ["b": true] && history.compactedLine == nil)
    }

    @Test
    func aLineThatChangesNothingIsLeftOut() throws {
        let history = try history(
            #"{"a":1}"#,
            #"{"a":1}"#,
            #"{"b":null}"#,
            "",
            #"{"$comment":"note"}"#,
            #"{"a":1,"a":2,"a":1}"#
        )
        same(history.entries.map(\.line), [1])
    }

    @Test
    func damagedLinesAreSkippedAndCounted() throws {
        let history = try history(#"{"a":"#, "\u{1}", #"{"a":1}"#)
        same(history.entries.map(\.line), [3])
    }

    @Test(arguments: ["{\"a\":1}", "{\"a\":1}\r\n", "\u{FEFF}{\"a\":1}\n"])
    func aLineCountsAsInAStore(text: String) throws {
        let history = try PreferencesHistory(Array(text.utf8))
        #expect(history.contents == ["a": 1] && history.entries.map(\.line) == [1])
    }

    @Test
    func anUnfinishedLineDoesNotCount() throws {
        try same(PreferencesHistory(Array("{\"a\":1}\n{\"a\":".utf8)).contents, ["a": 1])
    }

    @Test
    func aNewerFormatIsAnError() {
        let error = #expect(throws: PreferenceError.self) { try history(#"{"a":1}"#, #"{"$format":2}"#) }
        same(error?.code, .unknownFormat)
    }

    @Test
    func whatStandsBeforeACompactionHasNoHistory() throws {
        let history = try history(#"{"a":1}"#, #"{"b":2}"#, #"{"$comment":"compacted"}"#, #"{"b":3,"c":4}"#)
        same(history.compactedLine, 3)
        same(history.entries.map(\.change.old), [["b": 2]])
        same(history.contents, ["a": 1, "b": 3, "c": 4])
    }

    @Test
    func aCompactionMarksWhatItWroteOnceAndKeepsComments() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "preferences.jsonl").path
            try Data("{\"a\":1}\n{\"$comment\":\"note\"}\n{\"a\":2}\n".utf8).write(to: URL(filePath: path))
            for added in ["", "{\"b\":1}\n"] {
                let old = try Data(contentsOf: URL(filePath: path))
                try (old + Data(added.utf8)).write(to: URL(filePath: path))
                let backend = FileBackend(path: path, watcher: nil)
                _ = try backend.load(host: PreferenceBackendHost(changed: { _ in }, report: { Issue.record($0) }))
                try backend.compact()
                let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
                let b = added.isEmpty ? "" : added
                same(text, "{\"a\":2}\n{\"$comment\":\"note\"}\n\(b){\"$comment\":\"compacted\"}\n")
            }
        }
    }

    @Test
    func aFileWithoutValuesNeedsNoMark() throws {
        try withTemporaryFolder { folder in
            let path = folder.appending(path: "preferences.jsonl").path
            try Data("{\"a\":1}\n{\"a\":null}\n".utf8).write(to: URL(filePath: path))
            let backend = FileBackend(path: path, watcher: nil)
            _ = try backend.load(host: PreferenceBackendHost(changed: { _ in }, report: { Issue.record($0) }))
            try backend.compact()
            #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
        }
    }
}
