import TestSupport
import Testing

@testable import Preferences

/// Rejected lines, with the reason and the offset that are reported.
struct JSONLineDamageTests {
    struct Damage: CustomTestStringConvertible {
        let line: [UInt8]
        let reason: String
        let offset: Int
        var testDescription: String { String(decoding: line.prefix(60), as: UTF8.self).debugDescription }

        init(_ line: String, _ reason: String, at offset: Int) {
            self.init(Array(line.utf8), reason, at: offset)
        }

        init(_ line: [UInt8], _ reason: String, at offset: Int) {
            self.line = line
            self.reason = reason
            self.offset = offset
        }
    }

    static let shape = [
        Damage("[1]", "the line is not a JSON object", at: 0),
        Damage("  null", "the line is not a JSON object", at: 2),
        Damage("theme=dark", "the line is not a JSON object", at: 0),
        Damage("\u{FEFF}{}", "the line is not a JSON object", at: 0),
        Damage("\0", "the line is not a JSON object", at: 0),
        Damage(#"{"a":1}x"#, "there is text after the end", at: 7),
        Damage(#"{"a":1} 2"#, "there is text after the end", at: 8),
        Damage(#"{"a":1}{"b":2},"#, "there is text after the end", at: 14),
        Damage("{\"a\":1}\0", "there is text after the end", at: 7),
        Damage(#"{"a":1,}"#, "a name in quotes is missing", at: 7),
        Damage(#"{,"a":1}"#, "a name in quotes is missing", at: 1),
        Damage(#"{a:1}"#, "a name in quotes is missing", at: 1),
        Damage(#"{'a':1}"#, "a name in quotes is missing", at: 1),
        Damage(#"{"a" 1}"#, "the colon after a name is missing", at: 5),
        Damage(#"{"a":1 "b":2}"#, "a comma or the end of the list is missing", at: 7),
        Damage(#"{"a":[1 2]}"#, "a comma or the end of the list is missing", at: 8),
        Damage(#"{"a":1]"#, "a comma or the end of the list is missing", at: 6),
        Damage(#"{"a":[1,]}"#, "this is not a value", at: 8),
        Damage(#"{"a":}"#, "this is not a value", at: 5),
        Damage(#"{"a":,"b":1}"#, "this is not a value", at: 5),
        Damage(#"{"a":True}"#, "this is not a value", at: 5),
        Damage(#"{"a":trve}"#, "this is not a value", at: 5),
        Damage(#"{"a":truex}"#, "a comma or the end of the list is missing", at: 9),
        Damage(#"{"a":1/*x*/}"#, "a comma or the end of the list is missing", at: 6),
        Damage(#"{"a":[null]}"#, "null occurs inside a value", at: 6),
        Damage(#"{"a":{"b":null}}"#, "null occurs inside a value", at: 10),
        Damage(#"{"a":nul1}"#, "this is not a value", at: 5),
        Damage("{\"a\":\u{A0}1}", "this is not a value", at: 5),
        Damage("{\"a\":\u{B}1}", "this is not a value", at: 5),
    ]

    static let names = [
        Damage(#"{"":1}"#, "a name is empty", at: 1),
        Damage(#"{"a":1,"":null}"#, "a name is empty", at: 7),
        Damage(#"{"$format":0}"#, "the format is not a whole number from 1", at: 1),
        Damage(#"{"$format":-1}"#, "the format is not a whole number from 1", at: 1),
        Damage(#"{"$format":1.0}"#, "the format is not a whole number from 1", at: 1),
        Damage(#"{"$format":"1"}"#, "the format is not a whole number from 1", at: 1),
        Damage(#"{"$format":null}"#, "null occurs inside a value", at: 11),
    ]

    static let numbers = [
        Damage(#"{"a":01}"#, "a number begins with an unnecessary zero", at: 5),
        Damage(#"{"a":-01}"#, "a number begins with an unnecessary zero", at: 5),
        Damage(#"{"a":00.5}"#, "a number begins with an unnecessary zero", at: 5),
        Damage(#"{"a":1.}"#, "a number lacks digits", at: 5),
        Damage(#"{"a":1.e3}"#, "a number lacks digits", at: 5),
        Damage(#"{"a":1e}"#, "a number lacks digits", at: 5),
        Damage(#"{"a":1e+}"#, "a number lacks digits", at: 5),
        Damage(#"{"a":-}"#, "a number lacks digits", at: 5),
        Damage(#"{"a":-x}"#, "a number lacks digits", at: 5),
        Damage(#"{"a":.5}"#, "this is not a value", at: 5),
        Damage(#"{"a":+1}"#, "this is not a value", at: 5),
        Damage(#"{"a":0x10}"#, "a comma or the end of the list is missing", at: 6),
        Damage(#"{"a":1_000}"#, "a comma or the end of the list is missing", at: 6),
        Damage(#"{"a":1e400}"#, "a number is too large", at: 5),
        Damage(#"{"a":-1e400}"#, "a number is too large", at: 5),
        Damage(#"{"a":1e99999999999999999999}"#, "a number is too large", at: 5),
        Damage("{\"a\":1\(String(repeating: "0", count: 309))}", "a number is too large", at: 5),
        Damage(#"{"a":NaN}"#, "this is not a value", at: 5),
        Damage(#"{"a":Infinity}"#, "this is not a value", at: 5),
        Damage(#"{"a":-Infinity}"#, "a number lacks digits", at: 5),
    ]

    static let strings = [
        Damage("{\"a\":\"b\0\"}", "a string contains a control character", at: 7),
        Damage("{\"a\":\"b\t\"}", "a string contains a control character", at: 7),
        Damage("{\"a\":\"\\n\u{1F}\"}", "a string contains a control character", at: 8),
        Damage("{\"a\0\":1}", "a string contains a control character", at: 3),
        Damage(#"{"a":"\x"}"#, "an escape is unknown", at: 6),
        Damage(#"{"a":"\U0041"}"#, "an escape is unknown", at: 6),
        Damage(#"{"a":"\u12"}"#, "an escape doesn't have four digits", at: 6),
        Damage(#"{"a":"\u12g4"}"#, "an escape doesn't have four digits", at: 6),
        Damage(#"{"a":"\u+123"}"#, "an escape doesn't have four digits", at: 6),
        Damage(#"{"a":"\ud83d"}"#, "half of a surrogate pair is missing", at: 6),
        Damage(#"{"a":"\ud83dx"}"#, "half of a surrogate pair is missing", at: 6),
        Damage(#"{"a":"\ud83d\n"}"#, "half of a surrogate pair is missing", at: 6),
        Damage(#"{"a":"x\ude00"}"#, "half of a surrogate pair is missing", at: 7),
        Damage(#"{"a":"\ude00\ud83d"}"#, "half of a surrogate pair is missing", at: 6),
        Damage(#"{"a":"\ud83d\ud83d"}"#, "half of a surrogate pair is missing", at: 6),
        Damage(#"{"a":"\ud83d\u"}"#, "an escape doesn't have four digits", at: 12),
        Damage(Self.quoted(0xFF), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0xC3), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0x80), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0xC0, 0xAF), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0xED, 0xA0, 0xBD), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0xF4, 0x90, 0x80, 0x80), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0xF0, 0x9F, 0x98), "a string is not UTF-8", at: 8),
        Damage(Self.quoted(0x5C, 0x6E, 0xE2, 0x82), "a string is not UTF-8", at: 10),
        Damage(Array("{\"".utf8) + [0xFF] + Array("\":1}".utf8), "a string is not UTF-8", at: 2),
        Damage(Array("{\"a\":".utf8) + [0xFF] + Array("}".utf8), "this is not a value", at: 5),
    ]

    /// Names and forms that a line may have from a newer version, but not what a person types.
    static let unknown = [
        Damage(#"{"$":1}"#, "a name with a single $ is unknown", at: 1),
        Damage(#"{"$name":1}"#, "a name with a single $ is unknown", at: 1),
        Damage(#"{"\u0024name":1}"#, "a name with a single $ is unknown", at: 1),
        Damage(#"{"$data":"AA=="}"#, "a name with a single $ is unknown", at: 1),
        Damage(#"{"a":{"$what":1}}"#, "a key with a single $ is not a known tag", at: 6),
        Damage(#"{"a":{"$":1}}"#, "a key with a single $ is not a known tag", at: 6),
        Damage(#"{"a":{"$format":1}}"#, "a key with a single $ is not a known tag", at: 6),
        Damage(#"{"a":{"$data":"AA==","b":1}}"#, "a tagged object doesn't end after its value", at: 20),
        Damage(#"{"a":{"$data":"AA==","$data":"AA=="}}"#, "a tagged object doesn't end after its value", at: 20),
        Damage(#"{"a":{"b":1,"$data":"AA=="}}"#, "a tag is not the first key of its object", at: 12),
    ]

    static let tags = [
        Damage(#"{"a":{"$data":1}}"#, "the data is not base64", at: 14),
        Damage(#"{"a":{"$data":"AB=="}}"#, "the data is not base64", at: 14),
        Damage(#"{"a":{"$data":null}}"#, "null occurs inside a value", at: 14),
        Damage(#"{"a":{"$data":{"$data":"AA=="}}}"#, "a tag holds an array or an object", at: 14),
        Damage(#"{"a":{"$date":[]}}"#, "a tag holds an array or an object", at: 14),
        Damage(#"{"a":{"$real":"NaN"}}"#, "the real is not nan, inf or -inf", at: 14),
        Damage(#"{"a":{"$real":1.5}}"#, "the real is not nan, inf or -inf", at: 14),
        Damage(#"{"a":{"$date":true}}"#, "the date is invalid", at: 14),
    ]

    static let deep = [
        Damage(Self.nested(129, "[", "]"), "the value is nested deeper than 128 levels", at: 133),
        Damage(Self.nested(129, "{\"\":", "}", inner: "0"), "the value is nested deeper than 128 levels", at: 517),
        Damage("{\"a\":" + String(repeating: "[", count: 1000), "the value is nested deeper than 128 levels", at: 133),
        Damage(
            "{\"a\":" + String(repeating: "{\"$data\":", count: 100_000),
            "a tag holds an array or an object",
            at: 14
        ),
    ]

    @Test(arguments: shape + names + numbers + strings + tags + deep)
    func damagedLineIsRefusedWhole(damage: Damage) {
        #expect(throws: JSONLineError(kind: .damaged, reason: damage.reason, offset: damage.offset)) {
            try Line.read(damage.line)
        }
    }

    @Test(arguments: unknown)
    func unknownNamesAndFormsAreRefusedInWhatAPersonTypes(damage: Damage) {
        #expect(throws: JSONLineError(kind: .damaged, reason: damage.reason, offset: damage.offset)) {
            try Line.read(damage.line, isStrict: true)
        }
        #expect(throws: Never.self) { try Line.read(damage.line) }
    }

    @Test(arguments: [
        "0000-01-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00z",
        "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.5",
        "2026-01-01T00:00:00,5Z", "2026-01-01T00:00:00.5e1Z", "2026-01-01T00:00:00ZZ", "2026-1-1T00:00:00Z",
        "+026-01-01T00:00:00Z", "12026-01-01T00:00:00Z", "2026-01-01", "NaN", "",
    ])
    func textThatIsNotADateIsRejected(text: String) {
        #expect(throws: JSONLineError(kind: .damaged, reason: "the date is invalid", offset: 14)) {
            try Line.read(#"{"a":{"$date":"\#(text)"}}"#)
        }
    }

    @Test
    func badLineHasNoEffect() {
        var calls = 0
        var line = #"{"a":1,"b":2,"c":nil}"#
        let error = line.withUTF8 { bytes -> JSONLineError? in
            do throws(JSONLineError) {
                try JSONLine.read(UnsafeRawBufferPointer(bytes)) { _, _ in calls += 1 }
                return nil
            } catch {
                return error
            }
        }
        same(error?.offset, 17)
        same(calls, 0)
    }

    @Test
    func overlongLineIsRefused() {
        let line = [UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        #expect(throws: JSONLineError(kind: .damaged, reason: "the line is longer than 1 MiB", offset: 1 << 20)) {
            try Line.read(line, maximumLength: 1 << 20)
        }
    }

    @Test
    func errorHasReasonAndOffset() throws {
        let error = #expect(throws: JSONLineError.self) { try Line.read(#"{"a":01}"#) }
        same(error?.description, "a number begins with an unnecessary zero, at byte 5")
    }

    private static func quoted(_ bytes: UInt8...) -> [UInt8] {
        Array("{\"a\":\"bc".utf8) + bytes + Array("\"}".utf8)
    }

    private static func nested(_ levels: Int, _ open: String, _ close: String, inner: String = "") -> String {
        "{\"a\":" + String(repeating: open, count: levels) + inner + String(repeating: close, count: levels) + "}"
    }
}
