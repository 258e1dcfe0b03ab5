internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceBackendContract {
    /// Values of each type: ordinary, empty, extreme, and those that look like other values.
    static let exampleValues: [PropertyListValue] = {
        // One expression of all takes seconds to type-check.
        let integers: [Int64] = [0, 1, -1, 1 << 53 + 1, .max, .min]
        let unsigned: [UInt64] = [UInt64(Int64.max) + 1, .max]
        let data: [Data] = [Data(), Data([0]), Data(0...255), Data(repeating: 0xFF, count: 100_000)]
        var values: [PropertyListValue] = [.boolean(true), .boolean(false)]
        values += integers.map { .integer($0) }
        values += unsigned.map { .unsigned($0) }
        values += reals.map { .real($0) }
        values += texts.map { .string($0) }
        values += data.map { .data($0) }
        values += dates.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        values += [.array([]), .dictionary([:]), .array([[], [:], "", .array([.boolean(false), 0, .real(0)])])]
        values.append(
            .dictionary(["": "", "$data": "AA==", "$real": ["$date": 1], "null": [:], "a.b": .data(Data([1]))])
        )
        values.append(nested)
        return values
    }()

    /// Pairs of values that some formats confuse.
    static let unequalPairs: [(PropertyListValue, PropertyListValue)] = [
        (.boolean(true), .integer(1)), (.boolean(false), .integer(0)), (.integer(2), .real(2)),
        (.integer(1), .string("1")), (.real(0), .real(-0.0)), (.real(0.1), .real((0.1).nextUp)),
        (.integer(.max), .unsigned(.max)), (.integer(.max), .integer(.max - 1)),
        (.string("caf\u{E9}"), .string("cafe\u{301}")), (.string("a"), .string("A")), (.string("a"), .string("a ")),
        (.string("AA=="), .data(Data([0]))), (.real(1), .date(Date(timeIntervalSinceReferenceDate: 1))),
        (.array([]), .dictionary([:])), (.array([1, 2]), .array([2, 1])),
        (.dictionary(["a": 1]), .dictionary(["a": .real(1)])),
    ]

    static let exampleNames: [String] = [
        "a", "A", "a.b", "a.b.c", ".a", "a.", ".", "..", "@a", "$format", "$data", "with space", " ", "line\nbreak",
        "tab\t", "\u{0}", "quote\"", "back\\slash", "/slash/", "a=b", "-name", "null", "true", "1", "{}", "%s", "é",
        "ß", "日本語",
        "😀", "👩‍👩‍👧", "\u{202E}right to left", String(repeating: "long", count: 500),
    ]

    private static let reals: [Double] = [
        0, -0.0, 0.1, 1, -1.5, 1e300, .pi, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, 9_007_199_254_740_992,
    ]

    private static let texts: [String] = [
        "", "text", " ", "\u{0}", "line\nbreak\r\n", "\u{2028}", "\"quoted\" \\", "{\"a\":1}", "null", "1",
        "2026-11-20T22:00:00Z",
        "https://example.com/?a=b", "cafe\u{301}", "caf\u{E9}", "😀", "\u{FEFF}", "\u{10FFFF}",
        String(repeating: "long ", count: 20_000),
    ]

    /// Dates near and far, with fractions, in seconds since 2001.
    private static let dates: [Double] = [
        0, -0.5, 786_000_000.123, 786_000_000.123_456_7, 1e-9, -63_114_076_800, 64_092_211_200, 1e15,
    ]

    private static var nested: PropertyListValue {
        (0..<50).reduce("innermost") { value, level in level % 2 == 0 ? [value] : ["in": value] }
    }
}
