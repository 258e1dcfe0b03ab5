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

    @Test(
        arguments: [
            // Behind what a compaction has left, of which a line says that older values are gone.
            ("{\"a\":1}\n{\"b\":2 }\n{\"c\":3}\n{\"a\":4}\n", 3, [4]),
            ("{\"a\":1}\n{\"b\":2}\n{\"a\":4}\n", nil, [1, 2, 3]),
            // Only the beginning of a file can be what a compaction has left.
            ("{\"a\":1}\n{\"a\":2}\n{\"b\":2 }\n", nil, [1, 2, 3]),
        ] as [(String, Int?, [Int])]
    )
    func overriddenValuesHaveNoHistory(_ text: String, compactedLine: Int?, lines: [Int]) throws {
        let history = try PreferencesHistory(Array(text.utf8))
        same(history.compactedLine, compactedLine)
        same(history.entries.map(\.line), lines)
    }

    @Test
    func compactionLeavesNoHistory() throws {
        let text = "{\"a\":1}\n{\"b\":2}\n{\"a\":3}\n"
        let history = try PreferencesHistory(CompactedLines(Array(text.utf8)).text() + Array("{\"b\":4}\n".utf8))
        same(history.compactedLine, 2)
        same(history.entries.map(\.change.old), [["b": 2]])
        same(history.contents, ["a": 3, "b": 4])
    }
}
