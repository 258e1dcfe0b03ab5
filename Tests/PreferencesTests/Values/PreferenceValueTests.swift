import Foundation
import Preferences
import TestSupport
import Testing

struct PreferenceValueTests {
    @Test
    func integersKeepTheirLimits() throws {
        func check<Integer: FixedWidthInteger & Codable & PreferenceValue>(_: Integer.Type) throws {
            for value in [Integer.min, 0, 1, .max] { try roundTripBoth(value) }
            try roundTripBoth([Integer.min, .max])
        }
        try check(Int.self)
        try check(Int8.self)
        try check(Int16.self)
        try check(Int32.self)
        try check(Int64.self)
        try check(UInt.self)
        try check(UInt8.self)
        try check(UInt16.self)
        try check(UInt32.self)
        try check(UInt64.self)
        try check(Int128.self)
        try check(UInt128.self)
        same(UInt64.max.storedValue(), .unsigned(.max))
        same(UInt64(7).storedValue(), .integer(7))
    }

    @Test(arguments: [
        0.0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, 0.1, 1.0.nextUp,
    ])
    func realsKeepTheirBits(_ value: Double) throws {
        for coding in [PreferenceCoding<Double>.native, .propertyList] {
            let stored = try #require(try coding.encode(value))
            let read = try #require(try coding.decode(stored))
            same(read.bitPattern, value.bitPattern)
            // A date as an element keeps its bits, too.
            let date = Date(timeIntervalSinceReferenceDate: value)
            try same(PropertyListValue.date(Date(storedValue: .date(date))), .date(date))
        }
        let narrow = Float(value)
        try same(Float(storedValue: .real(Double(narrow))).bitPattern, narrow.bitPattern)
    }

    @Test(arguments: [
        "", "\0", "\u{1}\u{1F}\u{7F}", "\u{FEFF}first", "\u{E9}", "e\u{301}", "👩‍👩‍👧", "$null", "$$null", "$nul",
        "\"\\\n\r\t",
        String(repeating: "x", count: 1 << 20),
    ])
    func stringsKeepTheirBytes(_ value: String) throws {
        func check<Value: PreferenceValue & Codable>(_ value: Value, _ text: (Value) -> String?) throws {
            for coding in [PreferenceCoding<Value>.native, .propertyList, .json, .jsonString] {
                let stored = try #require(try coding.encode(value))
                let read = try #require(try coding.decode(stored))
                same(text(read).map { Array($0.utf8) }, Array((text(value) ?? "").utf8))
            }
        }
        try check(value) { $0 }
        try check([value]) { $0[0] }
        try check(["k": value]) { $0["k"] }
        try check([[value]]) { $0[0][0] }
        try check([String?.some(value), nil]) { $0[0] }
    }

    @Test
    func foundationTypesSurviveARoundTrip() throws {
        try roundTripBoth(Data())
        try roundTripBoth(Data(repeating: 7, count: 1 << 20))
        for text in [
            "https://example.com/a%20b?q=1&r=%C3%A9#part", "file:///tmp/x%20y/", "mailto:a@b.c", "relative/path",
        ] {
            let url = try #require(URL(string: text))
            try roundTripBoth(url)
            same(url.storedValue(), .string(text))
        }
        let base = try #require(URL(string: "https://example.com/docs/"))
        try roundTripBoth(try #require(URL(string: "help?topic=1", relativeTo: base)))
        try roundTripBoth(try #require(URL(string: "a", relativeTo: URL(string: "b/", relativeTo: base))))
        for value in [Float(0.1), .leastNonzeroMagnitude, .greatestFiniteMagnitude, 16_777_216, -.infinity] {
            try roundTripBoth(value)
        }
        same(Float(0.1).storedValue(), 0.1)
        try roundTripBoth(UUID())
        for text in ["0", "-12.340", "1e127", "1e-127", "99999999999999999999999999999999999999"] {
            try roundTripBoth(try #require(Decimal(string: text)))
        }
        try roundTripBoth(Decimal.nan)
        // Compares the identifiers: values of identifiers that the platform doesn't know are equal.
        for text in ["de_AT", "en-US", "zh-Hant_TW", "de_DE@calendar=gregorian"] {
            let locale = try Locale(storedValue: .string(text))
            #expect(locale.identifier == text && locale.storedValue() == .string(text))
            try roundTripBoth(locale)
        }
        for text in ["GMT+0100", "GMT-0330", "Europe/Vienna", "America/St_Johns"] {
            let zone = try TimeZone(storedValue: .string(text))
            #expect(try zone.identifier == text && zone.storedValue() == .string(text))
            try roundTripBoth(zone)
        }
        try roundTrip(Character("👩‍👩‍👧"), .native)
        try roundTripBoth(Date(timeIntervalSinceReferenceDate: 785_451_600.123_456_7.nextUp))
    }

    @Test(arguments: [
        ("GMT", 0), ("UTC", 0), ("GMT+1", 3600), ("GMT+01", 3600), ("GMT-1:30", -5400), ("UTC-0130", -5400),
        ("GMT+1800", 64800),
    ])
    func timeZoneOfAnOffsetIsReadInAnySpelling(_ text: String, _ offset: Int) throws {
        try same(TimeZone(storedValue: .string(text)).secondsFromGMT(), offset)
    }

    @Test(arguments: ["GMT+", "GMT+1:3", "GMT+0160", "GMT+2500", "GMT+1x", "GMT+1:", "GMT*1", "GMT+12345", "UT"])
    func invalidTimeZoneIsUnreadable(_ text: String) {
        same(readError(TimeZone.self, .string(text))?.code, .unreadable)
    }

    @Test
    func timeZoneWhoseIdentifierLeavesSecondsOutIsNotStored() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 3601))
        let preference = Preference("zone", default: zone, in: .inMemory(["zone": "GMT+0200"]))
        let error = try #require(throws: PreferenceError.self) { try preference.write(zone) }
        same(error.code, .unencodable)
        same(preference.storedValue, "GMT+0200")
    }

    @Test
    func urlThatLooksLikeAPathIsNotReadAsAFileURL() throws {
        for text in ["/a?b#c", "/", "//host/a", "~/x", "~"] {
            let url = try #require(URL(string: text))
            try roundTripBoth(url)
            try roundTripBoth([url])
            try same(URL(storedValue: try #require(url.storedValue())).scheme, nil)
        }
    }

    /// By itself, in collections and inside `Codable` types.
    @Test
    func nativeTypeHasOneForm() throws {
        struct Box<Content: PreferenceValue & Codable & Hashable>: Codable, Hashable, Sendable { var content: Content }
        func check<Value: PreferenceValue & Codable & Hashable>(_ value: Value, _ stored: PropertyListValue) throws {
            try same(value.storedValue(), stored)
            try same(encoded(value, .propertyList), stored)
            try same(encoded([value], .native), [stored])
            try same(encoded([value], .propertyList), [stored])
            try same(encoded(["a": value], .native), ["a": stored])
            try same(encoded(["a": value], .propertyList), ["a": stored])
            try same(encoded(Box(content: value), .propertyList), ["content": stored])
            try roundTrip(Box(content: value), .propertyList)
            try roundTrip([value: [value]], .propertyList)
        }
        try check(Duration.milliseconds(1500), "1.5")
        try check(Locale(identifier: "de_AT"), "de_AT")
        try check(try #require(TimeZone(identifier: "Europe/Vienna")), "Europe/Vienna")
        try check(try #require(URL(string: "https://a.b/c?d")), "https://a.b/c?d")
        try check(
            try #require(UUID(uuidString: "1B4E28BA-2FA1-11D2-883F-0016D3CCA427")),
            "1B4E28BA-2FA1-11D2-883F-0016D3CCA427"
        )
        try check(try #require(Decimal(string: "12.34")), "12.34")
        try check(Date(timeIntervalSinceReferenceDate: 1.5), .date(Date(timeIntervalSinceReferenceDate: 1.5)))
        try check(Data([1]), .data(Data([1])))
        try check(Int128.max, .string(Int128.max.description))
    }

    @Test
    func durationsAreExactToTheAttosecond() throws {
        let limits = [Duration(attoseconds: .min), Duration(attoseconds: .max)]
        for value in limits + [.zero, .seconds(-1), .milliseconds(1500), Duration(attoseconds: -1)] {
            try roundTripBoth(value)
        }
        same(Duration.milliseconds(-1500).storedValue(), "-1.5")
        try same(Duration(storedValue: 3), .seconds(3))
        try same(Duration(storedValue: 0.1), .milliseconds(100))
        try same(Duration(storedValue: 1e18), .seconds(Int64(1e18)))
        let malformed: [PropertyListValue] = [
            "", "-", "1.", ".5", "1e3", "+1", "1.0000000000000000001", "170141183460469231732", true, 1e30, .real(.nan),
        ]
        for stored in malformed { same(readError(Duration.self, stored)?.code, .unreadable) }
    }

    @Test
    func collectionsSurviveARoundTrip() throws {
        try roundTripBoth([Int]())
        try roundTripBoth([1: "a", -2: "b"])
        try roundTripBoth([Level.low: [Theme.dark], .high: []])
        try roundTripBoth(1..<5)
        try roundTripBoth(Theme.dark)
        try roundTripBoth("a"..."z")
        try roundTripBoth(Set([3, 1, 2]))
        try same(Set([3, 1, 2]).storedValue(), [1, 2, 3])
        try same([Level.high: 1].storedValue(), ["5": 1])
        same(readError(Range<Int>.self, [2, 1])?.message.contains("two bounds, the lower one first"), true)
        same(readError(ClosedRange<Int>.self, [1])?.code, .unreadable)
    }

    @Test
    func nestedNilIsKeptAndTopLevelNilIsNotSet() throws {
        try same(Int?.none.storedValue(), nil)
        try same(Int??.some(nil).storedValue(), nil)
        try same(PreferenceCoding<Int??>.propertyList.encode(.some(nil)), nil)
        let mixed: [String?] = [nil, "$null", "$$null", "null", ""]
        let stored: PropertyListValue = ["$null", "$$null", "$$$null", "null", ""]
        for coding in [PreferenceCoding<[String?]>.native, .propertyList] {
            try same(coding.encode(mixed), stored)
            try same(coding.decode(stored), mixed)
        }
        try roundTripBoth(["a": Int?.none, "b": 1])
        try roundTripBoth([[nil, 1], nil] as [[Int?]?])
        for coding in [PreferenceCoding<[String]>.native, .propertyList] {
            try same(coding.decode(["$null", "$$null"]), ["$null", "$null"])
        }
        try same(String(storedValue: "$null"), "$null")
    }

    @Test
    func defaultImplementationsPreferTheRawValue() throws {
        try same(Theme.dark.storedValue(), "dark")
        try same(Point(x: 1, y: 2).storedValue(), ["x": 1, "y": 2])
        try roundTrip(Frame(), .native)
        let error = try #require(readError(Theme.self, "blue"))
        same(error.message, "Theme has no case for string \"blue\"")
    }

    @Test(
        arguments: [
            (1, true), (0, false), (.unsigned(1), true),
        ] as [(PropertyListValue, Bool)]
    )
    func zeroAndOneAreBooleans(_ stored: PropertyListValue, _ value: Bool) throws {
        try same(Bool(storedValue: stored), value)
    }

    @Test
    func losslessConversionsAreMade() throws {
        try same(Double(storedValue: 3), 3)
        try same(Int(storedValue: 3.0), 3)
        try same(UInt64(storedValue: .real(0x1p63)), 1 << 63)
        try same(Float(storedValue: 0.1), 0.1)
        try same(Float(storedValue: .real(.infinity)), .infinity)
        try same(Decimal(storedValue: .unsigned(.max)), Decimal(UInt64.max))
    }

    @Test
    func formsWrittenByHandAreRead() throws {
        try same(Decimal(storedValue: 0.1), Decimal(string: "0.1"))
        try same(Decimal(storedValue: -1e-7), Decimal(string: "-0.0000001"))
        let noon = Date(timeIntervalSinceReferenceDate: 43_200)
        let texts = [
            "2001-01-01T12:00:00Z", "2001-01-01T12:00:00+00:00", "2001-01-01T14:00:00.0+02:00",
            "2000-12-31T23:30:00-12:30",
        ]
        for text in texts { try same(Date(storedValue: .string(text)), noon, "\(text)") }
        try same(Data(storedValue: "AQ=="), Data([1]))
        try same(Data(storedValue: ""), Data())
        let durations: [(PropertyListValue, Duration)] = [
            ("10s", .seconds(10)), ("-1.5 s", .milliseconds(-1500)), ("250ms", .milliseconds(250)),
            ("7us", .microseconds(7)),
            ("3ns", .nanoseconds(3)), ("2min", .seconds(120)), ("0.5h", .seconds(1800)), ("10.0 seconds", .seconds(10)),
            ("0.000000001ns", Duration(attoseconds: 1)), (10, .seconds(10)), ("1.5", .milliseconds(1500)),
        ]
        for (stored, duration) in durations { try same(Duration(storedValue: stored), duration, "\(stored)") }
        try same(Duration(storedValue: .string(Duration.seconds(10).description)), .seconds(10))
    }

    /// A form that isn't unambiguous is refused, and the message shows one that isn't.
    @Test
    func refusedFormsShowTheAcceptedOnes() throws {
        func check<Value: PreferenceValue>(_ type: Value.Type, _ stored: [PropertyListValue], _ form: String) throws {
            for stored in stored {
                let error = try #require(readError(type, stored), "\(stored)")
                #expect(error.message.contains("; write \(form)"), "\(error)")
            }
        }
        let dates: [PropertyListValue] = [
            "2001-01-01", "2001-01-01T12:00", "2001-01-01T12:00:00", "2001-01-01T12:00:00+24:00",
            "2001-01-01T12:00:00+2:00", 5,
        ]
        try check(Date.self, dates, "\"2026-")
        try check(Data.self, ["AQ=", "a b", true], "Base64")
        let durations: [PropertyListValue] = [
            "10 d", "s", "1e3s", "10s ", "0.0000000001ns", "99999999999999999999h", true,
        ]
        try check(Bool.self, ["true", 2], "true or false")
        try check([String].self, ["a,b"], #"["a","b"]"#)
        try check(Set<Int>.self, ["1"], "[1,2]")
        try check([String: Int].self, ["a=1"], #"{"name":…}"#)
        try check(Duration.self, durations, "seconds, \"10s\" or \"5m\"")
    }

    @Test
    func errorOfAWrongTypeNamesBothTypes() throws {
        func check<Value: PreferenceValue>(_ type: Value.Type, _ stored: [PropertyListValue]) throws {
            for stored in stored {
                let error = try #require(readError(type, stored))
                same(error.code, .unreadable)
                #expect(error.message.hasPrefix("expected \(type), found "), "\(error)")
                #expect(error.message.utf8.count < 200)
            }
        }
        let data = PropertyListValue.data(Data([1]))
        let date = PropertyListValue.date(Date(timeIntervalSinceReferenceDate: 1))
        let long = PropertyListValue.string(String(repeating: "é", count: 1 << 20))
        try check(Bool.self, [2, -1, 1.0, "true", data, date, [], [:], long])
        try check(Int.self, [true, 1.5, .unsigned(.max), .real(0x1p63), .real(.nan), .real(.infinity), "1", data, [1]])
        try check(Int8.self, [128, -129])
        try check(UInt.self, [-1, -1.0])
        try check(Double.self, [true, .integer(.max), .unsigned(.max), "1.5", [:]])
        try check(Float.self, [1e300, .real(-.greatestFiniteMagnitude), true])
        try check(String.self, [1, true, data, date, []])
        try check(Character.self, ["", "ab", 1])
        try check(Data.self, ["AQ=", "é", [], 1])
        try check(Date.self, [1, 1.5, "2026-01-01T00:00:00"])
        try check(URL.self, ["\"https://a\"", "a b", 1, data])
        try check(UUID.self, ["", "x", data])
        try check(Decimal.self, ["12abc", "", .real(.infinity), true, "1e"])
        try check(TimeZone.self, ["Nowhere/Land", 1])
        try check([Int].self, [1, "[1]", [:], data])
        try check([String: Int].self, [[], "{}"])
    }

    @Test
    func errorsHaveACodingPath() throws {
        same(readError([Int].self, [1, "x"])?.codingPath, ["1"])
        same(readError([String: [Int?]].self, ["a": [1, true]])?.codingPath, ["a", "1"])
        same(readError([Level: Int].self, ["9": 1])?.codingPath, ["9"])
        same(readError([[Theme]].self, [[], ["dark", "blue"]])?.codingPath, ["1", "1"])
        let error = try #require(readError([Point].self, [["x": 1, "y": "two"]]))
        same(error.codingPath, ["0", "y"])
        same(error.message, "expected Int, found string \"two\"")
    }
}
