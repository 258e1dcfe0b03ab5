import Foundation
import TestSupport
import Testing

@testable import Preferences

/// The written form, byte for byte: files of other versions contain it.
struct JSONLineGoldenTests {
    /// A value and its written form, which is also the description, because that of a distant `Date` traps.
    struct Golden: CustomTestStringConvertible {
        let value: PropertyListValue
        let text: String
        var testDescription: String { text }

        init(_ value: PropertyListValue, _ text: String) {
            self.value = value
            self.text = text
        }
    }

    static let values: [Golden] = [
        Golden(.boolean(true), "true"),
        Golden(.boolean(false), "false"),
        Golden(.integer(0), "0"),
        Golden(.integer(2), "2"),
        Golden(.integer(.min), "-9223372036854775808"),
        Golden(.integer(.max), "9223372036854775807"),
        Golden(.unsigned(9_223_372_036_854_775_808), "9223372036854775808"),
        Golden(.unsigned(.max), "18446744073709551615"),
        Golden(.real(2), "2.0"),
        Golden(.real(-0.0), "-0.0"),
        Golden(.real(0.1), "0.1"),
        Golden(.real(1e22), "1e+22"),
        Golden(.real(.leastNonzeroMagnitude), "5e-324"),
        Golden(.real(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
        Golden(.real(.nan), #"{"$real":"nan"}"#),
        Golden(.real(.infinity), #"{"$real":"inf"}"#),
        Golden(.real(-.infinity), #"{"$real":"-inf"}"#),
        Golden(.string(""), #""""#),
        Golden(.string("a\"b\\c/d"), #""a\"b\\c/d""#),
        Golden(
            .string("\0\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F} \u{7F}"),
            #""\u0000\u0001\b\t\n\u000b\f\r\u001f \#u{7F}""#
        ),
        Golden(.string("\u{FEFF}é\u{2028}😀"), "\"\u{FEFF}é\u{2028}😀\""),
        Golden(.string("$cost"), #""$cost""#),
        Golden(.data(Data()), #"{"$data":""}"#),
        Golden(.data(Data([0, 1, 254, 255])), #"{"$data":"AAH+/w=="}"#),
        Golden(.date(secondsSince2001: 0), #"{"$date":"2001-01-01T00:00:00Z"}"#),
        Golden(.date(secondsSince2001: 817_081_200.123), #"{"$date":"2026-11-22T23:00:00.123Z"}"#),
        Golden(.date(secondsSince2001: -0.25), #"{"$date":"2000-12-31T23:59:59.75Z"}"#),
        Golden(.date(secondsSince2001: 1e-7), #"{"$date":"2001-01-01T00:00:00.0000001Z"}"#),
        Golden(.date(secondsSince2001: -0.0), #"{"$date":-0.0}"#),
        Golden(.date(secondsSince2001: 1e300), #"{"$date":1e+300}"#),
        Golden(.date(secondsSince2001: .nan), #"{"$date":"nan"}"#),
        Golden(.date(secondsSince2001: .infinity), #"{"$date":"inf"}"#),
        Golden(.date(secondsSince2001: -.infinity), #"{"$date":"-inf"}"#),
        Golden(.array([]), "[]"),
        Golden(.array([.integer(1), .array([.real(1)])]), "[1,[1.0]]"),
        Golden(.dictionary([:]), "{}"),
        Golden(.dictionary(["b": 1, "a": 2, "": 3].mapValues { .integer($0) }), #"{"":3,"a":2,"b":1}"#),
        Golden(
            .dictionary(["$": 1, "$data": 2, "$$x": 3, "a$": 4].mapValues { .integer($0) }),
            #"{"$$":1,"$$$x":3,"$$data":2,"a$":4}"#
        ),
    ]

    @Test(arguments: values)
    func valueHasOneWrittenForm(golden: Golden) throws {
        let (value, text) = (golden.value, golden.text)
        try same(Line.writeValue(value), text)
        try same(Line.readValue(text), value)
        try same(Line.write("n", value), "{\"n\":\(text)}\n")
        try same(Line.read("{\"n\":\(text)}"), [Line.Entry(name: "n", value: value)])
    }

    @Test
    func transactionIsOneLineSortedByUTF8() throws {
        let changes: [String: PropertyListValue?] = [
            "theme": .string("dark"), "é": nil, "Z": .integer(1), "\u{1F600}": .integer(2), "\u{FF5E}": .boolean(true),
        ]
        let line = try Line.write(changes)
        same(line, "{\"Z\":1,\"theme\":\"dark\",\"é\":null,\"\u{FF5E}\":true,\"\u{1F600}\":2}\n")
    }

    @Test(arguments: [
        ("$", "$$"), ("$format", "$$format"), ("$$format", "$$$format"), ("$\u{301}", "$$\u{301}"), ("a$b", "a$b"),
    ])
    func nameWithDollarGetsOneMore(name: String, written: String) throws {
        try same(Line.write(name, nil), "{\"\(written)\":null}\n")
        let entries = try Line.read("{\"\(written)\":null}")
        same(entries.map { Array($0.name.utf8) }, [Array(name.utf8)])
    }

    @Test
    func removalIsNull() throws {
        try same(Line.write("a", nil), "{\"a\":null}\n")
        try same(Line.read(#"{"a":null}"#), [Line.Entry(name: "a", value: nil)])
    }

    @Test
    func emptyTransactionIsAnEmptyObject() throws {
        try same(Line.write([:]), "{}\n")
        try same(Line.read("{}"), [])
    }
}
