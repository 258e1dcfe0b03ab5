import FileTestSupport
import Foundation
import PreferencesInspection
import TestSupport
import Testing

@testable import Preferences

/// Files as people write them: with comments, and as one object over several lines.
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

    private func backend(isReadOnly: Bool = false) -> FileBackend {
        FileBackend(path: folder.path("preferences.jsonl"), isReadOnly: isReadOnly, watcher: nil)
    }

    private func load(_ backend: FileBackend) throws -> [String: PropertyListValue] {
        try backend.load(host: PreferenceBackendHost(changed: { _ in }, report: { [reports] in reports.record($0) }))
    }

    @Test
    func commentsAreIgnoredAndKeptByACompaction() throws {
        try folder.write(
            """
            {"$comment":"of the sound"}
            {"volume":1}
            {"$comment":"loud \\"enough\\"","volume":3,"balance":0}
            {"$comment":"unfinished","treble":1}
            """,
            to: "preferences.jsonl"
        )
        let backend = backend()
        try same(load(backend), ["volume": 3, "balance": 0, "treble": 1])
        _ = try backend.apply(["bass": 2], if: .none)
        try backend.compact()
        let text = try folder.read("preferences.jsonl")
        same(
            text.split(separator: "\n").map(String.init),
            [
                #"{"$comment":"of the sound"}"#, #"{"volume":3}"#, #"{"$comment":"loud \"enough\""}"#,
                #"{"balance":0}"#,
                #"{"$comment":"unfinished"}"#, #"{"treble":1}"#, #"{"bass":2}"#,
                #"{"$comment":"compacted"}"#,
            ]
        )
        try backend.compact()
        try same(folder.read("preferences.jsonl"), text)
        #expect(reports.elements.isEmpty)
    }

    @Test
    func nameThatLooksLikeACommentIsANameAndAnotherCommentIsDamage() throws {
        try folder.write("{\"$$comment\":\"a\"}\n{\"$comment\":5,\"b\":1}\n", to: "preferences.jsonl")
        try same(load(backend()), ["$comment": "a"])
        same(reports.elements.map(\.code), [.damaged])
        #expect(reports.elements[0].message.contains("a comment is not a string"))
    }

    @Test(arguments: ["", "\u{FEFF}", "{\"before\":1}\n"], ["", "\n", " \t\r\n{\"after\":2}\n"])
    func objectOverSeveralLinesIsReadIfNoProgramWritesTheFile(before: String, after: String) throws {
        try folder.write(before + Self.object.dropLast() + after, to: "preferences.jsonl")
        var expected = Self.values
        if before.first == "{" { expected["before"] = 1 }
        if after.contains("{") { expected["after"] = 2 }
        try same(load(backend(isReadOnly: true)), expected)
        #expect(reports.elements.isEmpty)
    }

    @Test
    func objectThatArrivesInPiecesIsReadOnceItIsThere() throws {
        try folder.write(String(Self.object.prefix(30)), to: "preferences.jsonl")
        let backend = backend(isReadOnly: true)
        _ = try load(backend)
        try folder.append(String(Self.object.dropFirst(30)), to: "preferences.jsonl")
        try backend.catchUp()
        try same(load(backend), Self.values)
    }

    @Test(arguments: ["{", "{\n\"a\":1,", "{\n\"a\":\"x\ny\"}\n", "{\n\"a\":1} 5\n", "{\n\"a\":[1,\n}\n"])
    func linesThatAreNoObjectStayDamage(text: String) throws {
        try folder.write("{\"b\":1}\n\(text)\n{\"c\":1}\n", to: "preferences.jsonl")
        let values = try load(backend(isReadOnly: true))
        #expect(values["b"] == 1 && values["c"] == 1 && values["a"] == nil)
        #expect(!reports.elements.isEmpty)
    }

    /// A program appends to its own file line by line, so an object over several lines is damage there, reported once.
    @Test(arguments: [object, String(object.dropLast())])
    func objectOverSeveralLinesInTheUsersFileIsRecognised(text: String) throws {
        try folder.write("{\"a\":1}\n" + text, to: "preferences.jsonl")
        try same(load(backend()), ["a": 1])
        let path = folder.path("preferences.jsonl")
        let lines = text.hasSuffix("\n") ? 9 : 8
        same(
            reports.elements.map(\.message),
            [
                "line 2 of \(path) can't be read and is skipped: it is an object over \(lines) lines, but each line must be "
                    + "a complete object. It is kept; `prefs check --repair` rewrites it"
            ]
        )
        try PreferencesFile.compact(path)
        try same(load(backend()), Self.values.merging(["a": 1]) { $1 })
        try same(folder.names(), ["preferences.jsonl"])
        same(reports.elements.count, 1)
    }

    // MARK: Lines without an end, and files of another kind

    /// As by `echo >>` behind a last line that an editor has left without a newline.
    @Test(arguments: [
        ("{\"a\":1}", "{\"b\":2}\n", ["a": 1, "b": 2]), ("{\"a\":1} ", "{\"a\":2}\n", ["a": 2]),
        ("{\"a\":1,\"b\":2}\r", "{\"b\":null} {\"c\":3}{}\n", ["a": 1, "c": 3]),
    ])
    func lineBehindOneWithoutAnEndCounts(_ last: String, _ appended: String, _ values: [String: PropertyListValue])
        throws
    {
        try folder.write(last, to: "preferences.jsonl")
        let backend = backend()
        _ = try load(backend)
        try folder.append(appended, to: "preferences.jsonl")
        try backend.catchUp()
        _ = try backend.apply(["x": 7], if: .none)
        let all = values.merging(["x": 7]) { $1 }
        try same(load(self.backend()), all)
        try backend.compact()
        #expect(try load(self.backend()) == all && reports.elements.isEmpty)
    }

    @Test(arguments: [
        "alias ls='ls -l'\nexport A=1\n", Self.object, "[1,2]\n", "{\"a\":[null]}\n", "\u{FEFF}name: value",
    ])
    func fileOfAnotherKindIsNotChanged(_ text: String) throws {
        try folder.write(text, to: "preferences.jsonl")
        let backend = backend()
        _ = try load(backend)
        let set = #expect(throws: PreferenceError.self) { try backend.apply(["a": 1], if: .none) }
        let compaction = #expect(throws: PreferenceError.self) { try backend.compact() }
        #expect(set?.code == .unknownFormat && compaction?.code == .unknownFormat)
        #expect(try folder.read("preferences.jsonl") == text && folder.names() == ["preferences.jsonl"])
    }

    /// Programs were ended in the middle of their lines.
    @Test(arguments: ["{\"cut\":\"0{\"late\":\"}\n", "{\"a\":1,\0\0\0\0", "{\"a"])
    func fileWithPartsOfEntriesIsUsed(_ text: String) throws {
        try folder.write(text, to: "preferences.jsonl")
        let backend = backend()
        _ = try load(backend)
        _ = try backend.apply(["a": 1], if: .none)
        try same(load(self.backend()), ["a": 1])
    }

    @Test
    func fileOfUnicodeUnitsIsNotChanged() throws {
        let text = "{\"a\":1}\n{\"b\":2}\n"
        let bytes: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        try Data(bytes).write(to: URL(filePath: folder.path("preferences.jsonl")))
        let backend = backend()
        _ = try load(backend)
        #expect(throws: PreferenceError.self) { try backend.apply(["a": 1], if: .none) }
        try same(Array(Data(contentsOf: URL(filePath: folder.path("preferences.jsonl")))), bytes)
    }

    /// A file with two names, so that no new file can take its place.
    @Test
    func fileThatIsRewrittenInPlaceHasNoRemovedValue() throws {
        let backend = backend()
        _ = try load(backend)
        for number in 1...50 { _ = try backend.apply(["a": .integer(Int64(number)), "b": 1, "gone": 2], if: .none) }
        _ = try backend.apply(["gone": nil], if: .none)
        try FileManager.default.linkItem(atPath: folder.path("preferences.jsonl"), toPath: folder.path("other"))
        let contents = FileContents()
        let old = Array(try folder.read("other").utf8)
        let repetition = try old.withUnsafeBytes { try contents.repetition(of: Array("{\"c\":1}\n".utf8), after: $0) }
        same(
            String(decoding: repetition, as: UTF8.self),
            """
            {"a":null,"b":null,"gone":null}
            {"$comment":"the lines above are repeated below"}
            {"c":1}
            {"$comment":"the lines above were repeated"}

            """
        )
        try backend.compact()
        try same(folder.read("other"), "{\"a\":50}\n{\"b\":1}\n{\"$comment\":\"compacted\"}\n")
        try same(load(self.backend()), ["a": 50, "b": 1])
    }

    /// A program that rewrites the file in place may be ended at any byte of what it appends first.
    @Test
    func interruptedRewritingKeepsCommentsAndOrder() throws {
        let old = "{\"$comment\":\"one\"}\n{\"b\":1}\n\n{\"$comment\":\"two\"}\n{\"a\":1}\n{\"b\":2}\n"
        let new = "{\"$comment\":\"one\"}\n{\"b\":2 }\n\n{\"$comment\":\"two\"}\n{\"a\":1}\n"
        let contents = FileContents()
        for line in old.split(separator: "\n") {
            same(Array(line.utf8).withUnsafeBytes { contents.read($0, isFirst: false) }, .complete)
        }
        let repetition = try Array(old.utf8).withUnsafeBytes { try contents.repetition(of: Array(new.utf8), after: $0) }
        for count in 0...repetition.count {
            try folder.write(
                old + "\n" + String(decoding: repetition[..<count], as: UTF8.self),
                to: "preferences.jsonl"
            )
            let backend = backend()
            try same(load(backend), ["a": 1, "b": 2])
            try backend.compact()
            // Without the line that was cut, which may still get its end, and the comments of the compactions.
            let lines = try folder.read("preferences.jsonl").split(separator: "\n").map {
                $0.replacing(" }", with: "}")
            }
            same(
                Array(
                    lines.filter { $0.hasSuffix("}") && !$0.contains("compacted") && !$0.contains("lines above") }
                        .prefix(4)
                ),
                [
                    "{\"$comment\":\"one\"}", "{\"b\":2}", "{\"$comment\":\"two\"}", "{\"a\":1}",
                ],
                "\(count) bytes"
            )
        }
    }

    /// Another version may write such names, and a compaction must not lose them.
    @Test
    func compactionKeepsNamesThatThisVersionDoesNotKnow() throws {
        try folder.write(
            "{\"a\":1,\"$later\": {\"x\":[1, null]}}\n{\"a\":2}\n{\"$later\": {\"x\":[1, null]}}\n",
            to: "preferences.jsonl"
        )
        let backend = backend()
        _ = try load(backend)
        try backend.compact()
        try same(
            folder.read("preferences.jsonl"),
            "{\"$later\": {\"x\":[1, null]}}\n{\"a\":2}\n{\"$comment\":\"compacted\"}\n"
        )
    }
}
