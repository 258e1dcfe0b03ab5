import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Accepted lines that this version doesn't write, and unfinished lines.
struct JSONLineReadingTests {
    @Test(arguments: ["", " ", "\r", " \t\r", "\t\t"])
    func blankLineHasNoEntries(line: String) throws {
        try same(Line.read(line), [])
    }

    @Test
    func spaceAndCarriageReturnAreAccepted() throws {
        let entries = try Line.read(" { \"a\" : [ 1 , { } , [ ] ] , \"b\"\t:\tnull } \r")
        same(
            entries,
            [
                Line.Entry(name: "a", value: .array([.integer(1), .dictionary([:]), .array([])])),
                Line.Entry(name: "b", value: nil),
            ]
        )
    }

    @Test
    func byteOrderMarkIsAcceptedOnTheFirstLine() throws {
        try same(Line.read("\u{FEFF}{\"a\":1}", isFirst: true), [Line.Entry(name: "a", value: .integer(1))])
        try same(Line.read("{\"a\":1}", isFirst: true), [Line.Entry(name: "a", value: .integer(1))])
        try same(Line.read("\u{FEFF}", isFirst: true), [])
        #expect(throws: JSONLineError.self) { try Line.read("\u{FEFF}\u{FEFF}{}", isFirst: true) }
        for length in 1...2 {
            let error = #expect(throws: JSONLineError.self) {
                try Line.read(Array("\u{FEFF}".utf8.prefix(length)), isFirst: true)
            }
            same(error?.kind, .incomplete)
        }
    }

    @Test
    func entriesComeInOrderSoThatTheLastDuplicateWins() throws {
        let entries = try Line.read(#"{"b":1,"a":2,"b":3,"b":null}"#)
        same(entries.map(\.name), ["b", "a", "b", "b"])
        same(entries.map(\.value), [.integer(1), .integer(2), .integer(3), nil])
    }

    @Test
    func lastDuplicateKeyOfANestedDictionaryWins() throws {
        try same(Line.readValue(#"{"a":1,"b":2,"a":3}"#), .dictionary(["a": .integer(3), "b": .integer(2)]))
    }

    @Test(
        arguments: [
            ("-0", .integer(0)), ("0", .integer(0)), ("-1", .integer(-1)), ("-0.0", .real(-0.0)), ("-0e0", .real(-0.0)),
            ("1e3", .real(1000)), ("1E+3", .real(1000)), ("1e-3", .real(0.001)), ("1.50", .real(1.5)),
            ("0e9", .real(0)),
            ("0.1", .real(0.1)), ("123456789.123456789", .real(123456789.123456789)),
            ("9007199254740993.0", .real(0x1p53)),
            ("9007199254740993e1", .real(90_071_992_547_409_936)), ("1e23", .real(1e23)), ("8.41e21", .real(8.41e21)),
            ("2.2250738585072011e-308", .real(.leastNormalMagnitude.nextDown)),
            ("4.9e-324", .real(.leastNonzeroMagnitude)),
            ("1e-400", .real(0)), ("-1e-99999999999999999999", .real(-0.0)),
            ("0.\(String(repeating: "0", count: 400))1e401", .real(1)),
            ("1\(String(repeating: "0", count: 400))e-400", .real(1)),
            ("9223372036854775808", .unsigned(1 << 63)), ("-9223372036854775808", .integer(.min)),
            // Integers that don't fit 64 bits become the nearest double.
            ("18446744073709551616", .real(0x1p64)), ("-9223372036854775809", .real(-0x1p63)),
        ] as [(String, PropertyListValue)]
    )
    func numberIsReadExactly(text: String, value: PropertyListValue) throws {
        try same(Line.readValue(text), value)
        try same(Line.readValue("[\(text) ]"), .array([value]))
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0000\u001F\u00e9\u20AC""#, "\0\u{1F}é€"),
        (#""\ud83d\ude00x\uD83D\uDE00""#, "😀x😀"), (#""\ufeff""#, "\u{FEFF}"), ("\"\u{FEFF}a\"", "\u{FEFF}a"),
        ("\"\u{7F}\u{85}\u{2028}\"", "\u{7F}\u{85}\u{2028}"), (#""\uffff\udbff\udfff""#, "\u{FFFF}\u{10FFFF}"),
    ])
    func escapesAreRead(text: String, string: String) throws {
        try same(Line.readValue(text), .string(string))
    }

    @Test(
        arguments: [
            ("{\"$data\":\"AAH\\u002b\\/w==\"}", .data(Data([0, 1, 254, 255]))),
            (#"{"\u0024real":"nan"}"#, .real(.nan)),
            (#"{ "$real" : "inf" }"#, .real(.infinity)),
            (#"{"$date":5}"#, .date(secondsSince2001: 5)),
            (#"{"$date":18446744073709551615}"#, .date(secondsSince2001: 0x1p64)),
            (#"{"$date":"2001-01-01T00:00:00.50Z"}"#, .date(secondsSince2001: 0.5)),
            (#"{"$date":"2001-01-01T00:00:00.000Z"}"#, .date(secondsSince2001: 0)),
        ] as [(String, PropertyListValue)]
    )
    func tagIsReadHoweverItIsWritten(text: String, value: PropertyListValue) throws {
        try same(Line.readValue(text), value)
    }

    @Test(arguments: [
        #"{"$format":1}"#, #"{"$format":1,"a":1}"#, #"{"a":1,"$format":1}"#, #"{"\u0024format":1,"a":1}"#,
    ])
    func knownFormatSetsNothing(line: String) throws {
        #expect(try Line.read(line).allSatisfy { $0.name == "a" })
    }

    @Test(arguments: [
        (#"{"$format":2}"#, 2, 1), (#"{"a":1,"$format":3,"b":2}"#, 3, 7), (#"{"$format":2,"a":{"$new":1}}"#, 2, 1),
        (#"{"$format":2} and more"#, 2, 1), (#"{"$format":18446744073709551615}"#, UInt64.max, 1),
    ])
    func newerFormatIsReported(line: String, format: UInt64, offset: Int) {
        let reason = "the file is of format \(format), which needs a newer version of the program"
        #expect(throws: JSONLineError(kind: .unknownFormat, reason: reason, offset: offset)) { try Line.read(line) }
    }

    static let lines = [
        #"{"a":true,"b":[1,-2.5e-3,"x\n\ud83d\ude00é😀",{}],"c":null,"$$d":{"$$e":false}}"#,
        #"{"$format":1,"d":{"$date":"2026-11-20T22:00:00.123Z"},"e":{"$data":"AAH+/w=="},"f":{"$real":"-inf"}}"#,
        #"{"$format":23,"g":{"$date":-1.5}}"#,
        "{\"n\":1\(String(repeating: "0", count: 320))e-320}",
    ]

    @Test(arguments: lines)
    func everyBeginningIsIncomplete(line: String) {
        let bytes = Array(line.utf8)
        for length in 1..<bytes.count {
            let error = #expect(throws: JSONLineError.self) { try Line.read(Array(bytes[..<length])) }
            same(error?.kind, .incomplete, "after \(length) bytes: \(error?.description ?? "")")
            same(error?.offset, length)
        }
    }

    @Test(arguments: lines)
    func everyFlippedBitIsRefusedOrReadsBackTheSame(line: String) throws {
        let bytes = Array(line.utf8)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            let entries: [Line.Entry]
            do { entries = try Line.read(flipped) } catch { continue }
            for entry in entries {
                try same(Line.read(Line.write(entry.name, entry.value)), [entry])
            }
        }
    }

    @Test(arguments: ["", " ", "tru", "-", "\"a", "[1,", "{\"a\"", "{\"$date\":"])
    func valueAloneMayBeIncomplete(text: String) {
        let error = #expect(throws: JSONLineError.self) { try Line.readValue(text) }
        same(error?.kind, .incomplete)
    }

    @Test(arguments: ["null", "1 2", "nan", "a", "{} }"])
    func valueAloneMayBeDamaged(text: String) {
        let error = #expect(throws: JSONLineError.self) { try Line.readValue(text) }
        same(error?.kind, .damaged)
    }
}
