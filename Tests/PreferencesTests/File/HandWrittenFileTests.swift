import FileTestSupport
import Foundation
import PreferencesInspection
import TestSupport
import Testing

@testable import Preferences

/// Files as people write them: objects over several lines, damage, and files of another kind; and what `prefs` does about them.
struct HandWrittenFileTests {
    private let folder: TemporaryFolder
    private let reports = Recorder<PreferenceError>()
    private static let object = """
        {
          "volume": 3,
          "window": {
            "width": 5
          },
          "list": [
            {"volume": 7}
          ]
        }

        """
    private static let values: [String: PropertyListValue] = [
        "volume": 3, "window": ["width": 5], "list": [["volume": 7]],
    ]

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("preferences.jsonl") }

    private func contents(reportsUnfinished: Bool = false) throws -> [String: PropertyListValue] {
        try PreferencesFile.contents(of: path, reportsUnfinished: reportsUnfinished) { reports.record($0) }
    }

    /// Returns the values and the number of parts that can't be read of a file that no program writes.
    private func read(_ text: String) -> (values: [String: PropertyListValue], damage: Int) {
        let text = ReadOnlyText(lines: Array(text.utf8), of: path)
        return (text.entries.reduce(into: [:]) { $0[$1.change.name] = $1.change.value }, text.damage.count)
    }

    @Test(arguments: ["", "\u{FEFF}", "{\"before\":1}\n"], ["", "\n", " \t\r\n{\"after\":2}\n"])
    func objectOverSeveralLinesIsReadIfNoProgramWritesTheFile(before: String, after: String) {
        var expected = Self.values
        if before.first == "{" { expected["before"] = 1 }
        if after.contains("{") { expected["after"] = 2 }
        let (values, damage) = read(before + Self.object.dropLast() + after)
        same(values, expected)
        same(damage, 0)
    }

    @Test(arguments: ["{", "{\n\"a\":1,", "{\n\"a\":\"x\ny\"}\n", "{\n\"a\":1} 5\n", "{\n\"a\":[1,\n}\n"])
    func linesThatAreNoObjectStayDamage(text: String) {
        let (values, damage) = read("{\"b\":1}\n\(text)\n{\"c\":1}\n")
        same(values, ["b": 1, "c": 1])
        same(damage > 0, true)
    }

    /// A program appends to its own file line by line, so an object over several lines is damage there, reported once.
    @Test(arguments: [object, String(object.dropLast())])
    func objectOverSeveralLinesInTheUsersFileIsRewrittenOnRequest(text: String) throws {
        try folder.write("{\"a\":1}\n" + text, to: "preferences.jsonl")
        try same(contents(), ["a": 1])
        same(
            reports.elements.map(\.message),
            [
                "line 2 of \(path) can't be read and is skipped: it is an object over 9 lines, but each line must be "
                    + "a complete object. It is kept; `prefs check --repair` rewrites it"
            ]
        )
        try PreferencesFile.compact(path)
        try same(contents(), Self.values.merging(["a": 1]) { $1 })
        try same(folder.names(), ["preferences.jsonl"])
        same(reports.elements.count, 1)
    }

    @Test
    func objectAloneInTheUsersFileIsRewrittenOnRequest() throws {
        try folder.write(Self.object, to: "preferences.jsonl")
        try PreferencesFile.compact(path)
        try same(contents(), Self.values)
        same(reports.elements.count, 0)
    }

    @Test
    func requestedCompactionKeepsWhatCanNotBeReadAndEndsTheLastLine() throws {
        try folder.write(
            "broken\n\n{\"a\":1}\n{\"$new\":{\n\"x\":[1,\n2]},\n\"b\":1}\n{\"a\":2}\n{\"c",
            to: "preferences.jsonl"
        )
        try same(contents(), ["a": 2])
        same(reports.elements.compactMap { $0.damagedLine?.number }, [1, 4])
        try same(contents(reportsUnfinished: true), ["a": 2])
        same(reports.elements.dropFirst(2).compactMap { $0.damagedLine?.number }, [1, 4, 9])
        try PreferencesFile.compact(path)
        try same(
            folder.read("preferences.jsonl"),
            "broken\n\n{\"a\":2 }\n{\"$new\":{ \"x\":[1, 2]}}\n{\"b\":1}\n{\"c\n"
        )
    }

    @Test
    func lastLineWithoutItsEndIsNoDamageIfItIsComplete() throws {
        try folder.write("{\"a\":1}\n{\"b\":2}", to: "preferences.jsonl")
        try same(contents(reportsUnfinished: true), ["a": 1, "b": 2])
        try PreferencesFile.compact(path)
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n{\"b\":2}\n")
        #expect(reports.elements.isEmpty)
    }

    // MARK: Files of another kind

    @Test(arguments: ["alias ls='ls -l'\n", "[1,\n2]\n", "{\"a\":[null]}\n", "\u{FEFF}name: value\n"])
    func fileOfAnotherKindIsChangedOnceItIsAdopted(_ text: String) throws {
        try folder.write(text, to: "preferences.jsonl")
        let compaction = #expect(throws: PreferenceError.self) { try PreferencesFile.compact(path) }
        same(compaction?.code, .unknownFormat)
        same(compaction?.message.contains("append the line {}"), true)
        try same(folder.read("preferences.jsonl"), text)
        for _ in 1...2 { try PreferencesFile.adopt(path) }
        try PreferenceStore.file(at: path).write(1, for: "added")
        try same(folder.read("preferences.jsonl"), text + "{}\n{\"added\":1}\n")
    }

    @Test
    func fileOfUnicodeUnitsIsOfAnotherKind() throws {
        let text = "{\"a\":1}\n{\"b\":2}\n"
        let bytes: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        try Data(bytes).write(to: URL(filePath: path))
        let error = #expect(throws: PreferenceError.self) { try PreferenceStore.file(at: path).write(1, for: "a") }
        same(error?.code, .unknownFormat)
        try same(Array(Data(contentsOf: URL(filePath: path))), bytes)
    }
}
