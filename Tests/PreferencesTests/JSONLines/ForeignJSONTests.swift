import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// JSON as people write it; Foundation's reader of JSON5, which has the same comments and commas, is the measure.
struct ForeignJSONTests {
    private static let texts = [
        "{}", "{\"a\":1,}", "{\"a\":[1,2,],}", "{\"a\":[]}", "{\"a\":[{}]}", "{\"a\":[{},],}", "{\"$a\":1}",
        "{\"ünï\":1}",
        "// c\n{\"a\":1} // d", "/* c */{/**/\"a\"/**/:/**/1/**/}", "{\"a\":1}/*/*/", "{\"a\":/*\n*/1}",
        "{\"a\":1,// c\r}",
        "{\"a\":\"//\",\"b\":\"/*\"}", "{\"a\":\"\\\"//\"}", "{\"a\":1,/**/}", "{\"a\":1/**/,//\n}",
        "{\"a\":\"\\u00e9\\n\\\\\"}", "{\"a\":1e3,\"b\":1E-2,\"c\":0.25,\"d\":-1}", "{\"a\":true,\"b\":false}",
        "\u{FEFF}{\"a\":1}",
        "{\t\"a\"\r\n:1}",
        // Invalid ones.
        "", " ", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,,}", "{,}", "{\"a\":[,]}", "{\"a\":[1,,2]}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":\"b}", "{\"a\":\"b\n\"}", "{\"a\":1}/*", "{\"a\":1}x", "{\"a\":b}", "{\"a\":--1}", "{\"a\":1.2.3}",
        "[1]]",
        "/", "{\"a\":/1}", "{\"a\":1}}", "{]", "{\"a\":[1}", "{\"a\":1;\"b\":2}", "{:1}", "{\"a\":tru}", "{\"a\":1/*/}",
    ]

    private enum Value: Decodable, Equatable {
        case boolean(Bool), number(Double), text(String), list([Value]), object([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([Value].self) {
                self = .list(value)
            } else {
                self = .object(try container.decode([String: Value].self))
            }
        }

        init(_ value: PropertyListValue) throws {
            self =
                switch value {
                case .boolean(let value): .boolean(value)
                case .integer(let value): .number(Double(value))
                case .unsigned(let value): .number(Double(value))
                case .real(let value): .number(value)
                case .string(let value): .text(value)
                case .array(let values): .list(try values.map { try Value($0) })
                case .dictionary(let values): .object(try values.mapValues { try Value($0) })
                default: throw PreferenceError(.unreadable, "\(value)")
                }
        }
    }

    private func read(_ text: String) throws -> [String: PropertyListValue] {
        try ForeignJSON(Array(text.utf8)).changes(isStrict: false).compactMapValues { $0 }
    }

    @Test(arguments: texts)
    func textIsReadAsFoundationReadsIt(_ text: String) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let expected: [String: Value]?
        do { expected = try decoder.decode([String: Value].self, from: Data(text.utf8)) } catch { expected = nil }
        let found: [String: Value]?
        do { found = try read(text).mapValues { try Value($0) } } catch { found = nil }
        // A name with a single dollar sign has a meaning of its own.
        same(found, expected?.filter { !$0.key.hasPrefix("$") }, "\(text)")
    }

    @Test(arguments: [
        "{a:1}", "{'a':1}", "{\"a\":'b'}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":5.}", "{\"a\":0x1F}", "{\"a\":Infinity}",
    ])
    func otherFormsOfJSON5AreErrors(_ text: String) {
        #expect(throws: JSONLineError.self) { try read(text) }
    }

    @Test
    func valuesAreThoseOfAPreferencesFile() throws {
        let values = try read(
            """
            {"$schema": "x.json", "$id": 1, "$$cost": 3, "$comment": "of nothing", "when": {"$date": "2026-11-20T22:00:00Z"},
             "bytes": {"$data": "AAE="}, "gone": null, "list": [1, null], "window": {"x": 1, "y": null}, "later": {"$future": 1}}
            """
        )
        #expect(values["$cost"] == 3 && values["window"] == ["x": 1] && values["list"] == [1, "$null"])
        #expect(
            values["bytes"] == .data(Data([0, 1]))
                && values["when"] == .date(Date(timeIntervalSince1970: 1_795_212_000))
        )
        same(values["later"], .unknownForm(#"{"$future":1}"#))
        same(Set(values.keys), ["$cost", "when", "bytes", "list", "window", "later"])
    }

    @Test
    func namesHaveTheirLines() {
        let text = "// one\n{ \"a\": 1, /* two\n three */ \"b\":\n { \"c\": 2 },\r\n \"d\\u0065\": \"x\", \"$$g\": 2 }"
        same(ForeignJSON(Array(text.utf8)).lines, ["a": 2, "b": 3, "de": 5, "$g": 5])
    }

    @Test(arguments: [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3), ("{\n  \"a\": 1, // \"comment\"\n  \"b\": [1, /* é */ !]\n}", 3, 20),
        ("{\n\n", 3, 1), ("{\n  \"a\": 1,\n  \"when\": {\"$date\": \"never\"}\n}", 3, 3),
    ])
    func errorHasItsPlaceInTheText(_ text: String, _ line: Int, _ column: Int) {
        let error = #expect(throws: JSONLineError.self) { try ForeignJSON(Array(text.utf8)).changes(isStrict: false) }
        let place = ForeignJSON.place(of: error?.offset ?? 0, in: Array(text.utf8))
        #expect(place == (line, column))
    }

    @Test(arguments: [
        String(repeating: "[", count: 1_000_000), "{\"a\":" + String(repeating: "[", count: 1_000_000),
        String(repeating: "{\"a\":", count: 300_000),
        "{\"a\":" + String(repeating: "[", count: 200) + String(repeating: "]", count: 200) + "}",
    ])
    func deepNestingIsAnError(_ text: String) {
        #expect(throws: JSONLineError.self) { try ForeignJSON(Array(text.utf8)).changes(isStrict: false) }
    }

    @Test
    func valueThatCanNotBeUsedLeavesTheOthers() throws {
        let text = "{\"a\": 1, \"when\": {\"$date\": \"never\"},\n \"b\": 2, \"bytes\": {\"$data\": \"!\"}}"
        let (changes, errors) = try ForeignJSON(Array(text.utf8)).readable(isStrict: false)
        same(changes, ["a": 1, "b": 2])
        same(errors.map { ForeignJSON.place(of: $0.offset, in: Array(text.utf8)).line }, [1, 2])
        same(errors.first?.offset, 9)
    }

    @Test(arguments: ["", " \n", "{", "{\"a", "{\"a\":1,", "{\"a\":\"b}", "{\"a\":[1,2", "{\"a\":1} /*"])
    func textWithoutItsEndIsUnfinished(_ text: String) { #expect(ForeignJSON(Array(text.utf8)).isUnfinished) }

    @Test(arguments: ["{\"a\":1}", "{\"a\":}", "{\"a\":1 \"b\":2}", "{\"a\":1}x", "[1]"])
    func textWithItsEndIsFinished(_ text: String) { #expect(!ForeignJSON(Array(text.utf8)).isUnfinished) }

    @Test(.timeLimit(.minutes(5)))
    func commentsWithoutEndAreReadOnce() {
        let text = "{\"a\":1}" + String(repeating: "/* ", count: 500_000)
        #expect(throws: JSONLineError.self) { try ForeignJSON(Array(text.utf8)).changes(isStrict: false) }
    }

    @Test
    func anyBytesAreReadOrAreAnError() {
        var random = SeededGenerator(seed: 46)
        let pieces: [[UInt8]] =
            [
                "{", "}", "[", "]", ":", ",", "\"", "\\", "\n", "/", "*", "a", "$", "\"a\"", "1", ".", "-", "//",
            ]
            .map { Array($0.utf8) } + [[0xE2], [0xC2], [0xEF, 0xBB], [0], [0xFF]]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).flatMap { _ in
                pieces.randomElement(using: &random) ?? []
            }
            let object = ForeignJSON(text)
            _ = object.lines
            do { _ = try object.changes(isStrict: true) } catch { #expect(0...text.count ~= error.offset) }
        }
    }
}
