import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Preferences

/// The reader in Python from the guide to the file's format, compared with the store on files that it reads or has written.
@Suite(.enabled(if: Python.isPossible, "SKIPPED: the reader in Python needs python3"))
struct PythonReaderTests {
    private static let guide = "Sources/Preferences/Preferences.docc/FileFormat.md"
    private static let script = "Scripts/read_preferences.py"

    @Test
    func guideShowsTheReaderAsItIs() throws {
        let blocks = try Snippet.blocks(of: Self.guide, language: "python")
        same(blocks, [try String(contentsOf: Snippet.root.appending(path: Self.script), encoding: .utf8)])
    }

    @Test
    func exampleOfTheGuideIsReadWhole() throws {
        let examples = try Snippet.blocks(of: Self.guide, language: "json")
        same(examples.count, 1)
        for example in examples {
            try compare(Array(example.utf8))
            try withFile(Array(example.utf8)) { path in
                let store = PreferenceStore(Layer(source: Source(file: path)))
                same(store.names, ["AutomaticallyUpdate", "icon", "lastLaunch", "ratio", "window"])
            }
        }
    }

    @Test
    func everyKindOfValueIsReadToTheLastBit() throws {
        let dates: [Double] = [
            0, -0.0, 0.1, -0.25, 1e-7, 817_081_200.123, 817_081_200.1234567, -63_114_076_800, -63_114_076_801,
            252_423_993_599,
            252_423_993_600, 1e300, -Double.leastNonzeroMagnitude, .nan, .infinity, -.infinity,
        ]
        let reals: [Double] = [
            2, -0.0, 0.1, 1e22, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.30000000000000004, .nan, .infinity,
            -.infinity,
        ]
        let texts = ["", "a\"b\\c/d", "\0\u{1}\t\n\r\u{1F}\u{7F}", "\u{FEFF}é\u{2028}😀", "$cost", "e\u{301}"]
        try compare { store in
            for (index, value) in dates.enumerated() {
                store["date \(index)"] = .date(Date(timeIntervalSinceReferenceDate: value))
            }
            for (index, value) in reals.enumerated() { store["real \(index)"] = .real(value) }
            for (index, value) in texts.enumerated() { store["text \(index)"] = .string(value) }
            store["exact"] = [true, false, 0, .integer(.min), .integer(.max), .unsigned(1 << 63), .unsigned(.max)]
            store["nested"] = [.data(Data()), .data(Data(0...255)), [], [:], [[1], ["a": ["": 2.0]]]]
        }
    }

    @Test
    func dollarsAndSpellingsOfNamesAreThoseOfTheStore() throws {
        try compare { store in
            for name in ["$", "$$", "$data", "$format", "$\u{301}", "a$", "emoji 😀", "dots.and@signs", "é"] {
                store[name] = ["$": 1, "$date": 2, "$$x": 3, "a$": "$null"]
            }
            store["e\u{301}"] = "spelled otherwise"
        }
    }

    @Test
    func transactionsAndRemovalsCountInTheOrderOfTheLines() throws {
        try compare { store in
            store["theme"] = "dark"
            store["volume"] = 1
            try store.transaction { transaction in
                transaction["theme"] = nil
                transaction["volume"] = 2
                transaction["window"] = ["x": 1]
            }
            store["other"] = "back"
            store["other"] = nil
        }
    }

    /// An integer that is too large for a real, and that Python's `int` rejects.
    private static let digits = String(repeating: "9", count: 5000)

    /// Lines, each read as the middle one of three.
    @Test(arguments: [
        "not JSON", "[1]", #"{"a":1,}"#, #"{"a":null,"a":2}"#, #"{"a":[null]}"#, #"{"":1}"#, #"{"$name":1}"#,
        #"{"a":{"$data":"AA=A"}}"#,
        #"{"a":{"$data":"AB=="}}"#, #"{"a":{"$real":"NaN"}}"#, #"{"a":{"$date":"2026-02-30T00:00:00Z"}}"#,
        #"{"a":{"$date":true}}"#,
        #"{"a":{"$date":"2026-11-20 22:00:00Z"}}"#, #"{"a":{"$new":1}}"#, #"{"a":{"$date":1,"b":2}}"#,
        #"{"a":["$date",1]}"#,
        #"{"a":"\ud800"}"#, #"{"a":"\ud83d\ude00"}"#, #"{"a":NaN}"#, #"{"a":1e999}"#, #"{"a":01}"#,
        #"{"a":18446744073709551616}"#,
        #"{"a":-0}"#, #"{"a":-0.0}"#, #"{"a":1E2}"#, #"{"$format":1,"a":3}"#, #"{"$format":0}"#, #"{"$format":1.0}"#,
        "", " \t",
        "{\"a\":\"\u{1}\"}", #"{"a":"\u0000"}"#, "\u{FEFF}{}", "{\"a\":1}\0", #" { "a" : [ 1 , 2 ] } "#,
        #"{"a":{"$format":2}}"#, #"{"a":[{"b":1,"$new":[null,{"$data":1}]}],"$later":{"x":null}}"#,
        // Any JSON behind a key of a newer version, and only values before it.
        #"{"a":{"$new":[1e999,-1e999,"\ud800"],"\ud800":{"$date":1e999}},"$later":1e999}"#,
        #"{"a":{"$data":"AA==","b":1e999}}"#, #"{"a":{"$new":\#(digits)},"$later":\#(digits)}"#,
        #"{"a":\#(digits)}"#, #"{"a":-\#(digits)}"#, #"{"a":{"$date":1e999}}"#, #"{"a":{"$date":1e999,"b":1}}"#,
        #"{"a":{"b":1e999,"$new":1}}"#, #"{"a":{"b":null,"$new":1}}"#, #"{"a":{"b":"\ud800","$new":1}}"#,
        #"{"a":{"\ud800":1,"$new":1}}"#, #"{"a":{"$new\ud800":1}}"#, #"{"$later\ud800":1}"#, #"{"$comment":"\ud800"}"#,
    ])
    func lineOfAnotherHandIsReadOrSkipped(line: String) throws {
        try compare(Array("{\"a\":1,\"b\":1}\n\(line)\n{\"c\":1}\n".utf8))
    }

    @Test(arguments: [
        "\u{FEFF}{\"a\":1}\r\n{\"b\":2}\r\n\r\n", "{\"a\":1}\n{\"b\":2}", "{\"a\":1}\n{\"b\":", "{\"a\":1}\n{\"b\":}",
        "", "\u{FEFF}", "\n\n",
    ])
    func marksLineEndsAndAnUnfinishedLineAreRead(file: String) throws {
        try compare(Array(file.utf8))
    }

    @Test
    func lineThatIsNotUTF8IsSkipped() throws {
        try compare(Array("{\"a\":1}\n{\"b\":\"".utf8) + [0xFF] + Array("\"}\n".utf8))
    }

    @Test(arguments: [#"{"a":1,"$format":2}"#, #"{"$format":2,"a":{"$new":1}}"#, #"{"$format":2,"a":[1e999,null]}"#])
    func newerFormatIsRefused(line: String) throws {
        try withFile(Array("{\"a\":1}\n\(line)\n".utf8)) { path in
            #expect(throws: PreferenceError.self) { try PreferenceStore.file(at: URL(filePath: path)) }
            let found = try Python.read(path)
            same(found, ["newer 2"])
        }
    }
}

extension PythonReaderTests {
    /// Compares the file that `write` has written, as Python reads it and as a store that opens it afterwards does.
    private func compare(_ write: (PreferenceStore) throws -> Void) throws {
        try withFile([]) { path in
            try write(PreferenceStore(Layer(source: Source(file: path))))
            try compare(fileAt: path)
        }
    }

    private func compare(_ bytes: [UInt8]) throws {
        try withFile(bytes) { try compare(fileAt: $0) }
    }

    private func compare(fileAt path: String) throws {
        let store = PreferenceStore(Layer(source: Source(file: path)))
        let damage = Mutex<[String]>([])
        store.issueHandler = { error in damage.withLock { $0.append(error.message) } }
        var expected = store.contents.map { "\(Self.hex(key: $0.key)) \(Self.form(of: $0.value))" }
        expected += damage.withLock { $0 }.map { message in "damaged " + message.split(separator: " ")[1] }
        let found = try Python.read(path)
        same(found.sorted(), expected.sorted())
    }

    private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "preferences-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "preferences.jsonl")
        try Data(bytes).write(to: file)
        try body(file.path)
    }

    /// Returns the type and the bits of a value as text, independently of its spelling in the file.
    static func form(of value: PropertyListValue) -> String {
        switch value {
        case .boolean(let value): "\(value)"
        case .integer(let value): "integer:\(value)"
        case .unsigned(let value): "integer:\(value)"
        case .real(let value): "real:" + bits(value)
        case .string(let value): "text:" + hex(Array(value.utf8))
        case .data(let value): "data:" + hex(Array(value))
        case .date(let value): "date:" + bits(value.timeIntervalSinceReferenceDate)
        case .array(let elements): "[\(elements.map(form).joined(separator: ","))]"
        case .dictionary where value.textOfUnknownForm != nil: "unknown"
        case .dictionary(let members):
            "{\(members.map { "\(hex(key: $0.key)):\(form(of: $0.value))" }.sorted().joined(separator: ","))}"
        }
    }

    /// Returns a key in one normalization, as names are compared like strings.
    private static func hex(key: String) -> String {
        hex(Array(key.decomposedStringWithCanonicalMapping.utf8))
    }

    private static func bits(_ value: Double) -> String {
        hex(withUnsafeBytes(of: value.bitPattern.bigEndian) { Array($0) })
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

extension Data {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}

/// Runs the reader.
private enum Python {
    /// The path of Python; in CI, the tests fail without it.
    static let isPossible: Bool = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ProcessInfo.processInfo.environment["CI"] == "true"
            || folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/python3") }
    }()

    /// The single process that reads for all tests, as starting it takes longer than the tests; it ends with its input.
    private static let reader = Mutex<(paths: FileHandle, answers: FileHandle)?>(nil)

    /// Returns a line for each name and each damaged line that the reader finds, in the form of `PythonReaderTests.form(of:)`.
    static func read(_ path: String) throws -> [String] {
        try reader.withLock { reader in
            let (paths, answers) = try reader ?? start()
            // If the process has ended, nothing more is written to it: SIGPIPE would end the tests.
            reader = nil
            try paths.write(contentsOf: Data("\(path)\n".utf8))
            var text = Data()
            while !text.hasSuffix("end\n") {
                let piece = answers.availableData
                try #require(!piece.isEmpty, "the reader has ended")
                text += piece
            }
            reader = (paths, answers)
            return String(decoding: text, as: UTF8.self).split(separator: "\n").dropLast().map(String.init)
        }
    }

    private static func start() throws -> (paths: FileHandle, answers: FileHandle) {
        let (process, input, output) = (Foundation.Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", driver, Snippet.root.path + "/Scripts"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (input.fileHandleForWriting, output.fileHandleForReading)
    }

    private static let driver = """
        import struct, sys, unicodedata
        sys.path.insert(0, sys.argv[1])
        sys.dont_write_bytecode = True
        from read_preferences import Date, NewerFormat, Unknown, read
        text = lambda string: unicodedata.normalize("NFD", string).encode().hex()
        bits = lambda number: struct.pack(">d", number).hex()
        def form(value):
            if isinstance(value, Unknown): return "unknown"
            if isinstance(value, bool): return str(value).lower()
            if isinstance(value, int): return f"integer:{value}"
            if isinstance(value, Date): return "date:" + bits(value)
            if isinstance(value, float): return "real:" + bits(value)
            if isinstance(value, str): return "text:" + value.encode().hex()
            if isinstance(value, bytes): return "data:" + value.hex()
            if isinstance(value, list): return "[" + ",".join(map(form, value)) + "]"
            return "{" + ",".join(sorted(text(key) + ":" + form(member) for key, member in value.items())) + "}"
        for path in sys.stdin:
            try:
                values, damaged = read(path.rstrip("\\n"))
                for name, value in values.items(): print(text(name), form(value))
                for line in damaged: print("damaged", line)
            except NewerFormat as format: print("newer", format)
            print("end", flush=True)
        """
}
