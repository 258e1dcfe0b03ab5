import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

struct PreferenceCodingTests {
    @Test
    func optionalOfACodedTypeIsSetOrNot() throws {
        func check<Value: Equatable>(_ coding: PreferenceCoding<Value?>, _ value: Value) throws {
            try same(coding.encode(nil), nil)
            try roundTrip(value, coding)
        }
        try check(.rawValue, Theme.dark)
        try check(.rawValue, Side.left)
        try check(.json, Frame(counts: [:]))
        try check(.jsonString, Frame(counts: [:]))
        try check(.propertyList, Frame())
        try check(.native, Frame())
        try same(PreferenceCoding<Side>.rawValue.encode(.left), "left")
    }

    @Test
    func jsonOfEqualValuesIsEqual() throws {
        let members = (0..<50).map { ("key\($0)", $0) }
        let first = try encoded(Dictionary(uniqueKeysWithValues: members), .json)
        try same(encoded(Dictionary(uniqueKeysWithValues: members.reversed()), .json), first)
        try same(encoded(Point(x: 1, y: 2), .jsonString), #"{"x":1,"y":2}"#)
    }

    @Test
    func unencodableValueThrowsTheLibrarysError() throws {
        let error = try #require(throws: PreferenceError.self) { try encoded([Double.nan], .json) }
        same(error.code, .unencodable)
    }

    static func json(_ text: String) -> PropertyListValue { .data(Data(text.utf8)) }

    @Test
    func formsOfOtherCodingsAreRead() throws {
        func check<Value: Equatable>(
            _ codings: [PreferenceCoding<Value>],
            _ value: Value,
            _ stored: [PropertyListValue]
        ) {
            for coding in codings {
                for stored in stored {
                    do {
                        try same(coding.decode(stored), value, "\(coding.identifier) of \(stored)")
                    } catch {
                        Issue.record(error, "\(coding.identifier) of \(stored)")
                    }
                }
            }
        }
        let json = Self.json
        let theme: [PropertyListValue] = ["dark", json("\"dark\""), "\"dark\"", json(" \"dark\"\n")]
        check([.native, .rawValue, .propertyList, .json, .jsonString], Theme.dark, theme)
        check([.native, .rawValue, .propertyList, .json, .jsonString], Theme?.some(.dark), theme)
        check([.rawValue], Side.left, ["left", json("\"left\""), "\"left\""])
        check([.rawValue], Side?.some(.left), ["left", json("\"left\""), "\"left\""])

        let point: [PropertyListValue] = [["x": 1, "y": 2], #"{"x":1,"y":2}"#, json(#"{"x":1,"y":2}"#)]
        check([.native, .propertyList, .json, .jsonString], Point(x: 1, y: 2), point)
        check([.native, .propertyList, .json, .jsonString], Point?.some(Point(x: 1, y: 2)), point)
        let points: [PropertyListValue] = [
            [point[0]], [point[1]], [point[2]], json(#"[{"x":1,"y":2}]"#), #"[{"x":1,"y":2}]"#,
        ]
        check([.native, .propertyList, .json, .jsonString], [Point(x: 1, y: 2)], points)
        check([.native, .propertyList, .json, .jsonString], Set([Point(x: 1, y: 2)]), points)
        check(
            [.native, .propertyList, .json],
            [Point?.none, Point(x: 1, y: 2)],
            [["null", point[1]], ["$null", point[2]]]
        )
        check([.native, .propertyList, .json], ["a": Point(x: 1, y: 2)], point.map { ["a": $0] })
        check([.propertyList, .json], [Slot.first: Point(x: 1, y: 2)], point.map { ["first": $0] })
        check([.propertyList], [Slot.first: 1], [["first", 1], json(#"["first",1]"#), json(#"["first",1]"#)])

        check([.native, .propertyList, .json], 5, [5, "5", json("5"), 5.0])
        check([.native, .propertyList, .json], true, [true, 1, "true", json("true")])
        check([.native, .json], [Level.high: 1], [["5": 1], json(#"{"5":1}"#)])
        check([.native, .propertyList, .json], ["a"], [["a"], #"["a"]"#, json(#"["a"]"#)])
        check([.native], Character("a"), ["a", json("\"a\"")])
        let url = try #require(URL(string: "https://a.b/c?d=e#f"))
        let quoted = #""https:\/\/a.b\/c?d=e#f""#
        check([.native, .propertyList, .json], url, [.string(url.absoluteString), .string(quoted), json(quoted)])
        check([.native, .propertyList, .json], [url], [[.string(quoted)], [json(quoted)]])
        check([.native, .propertyList], url, [["relative": .string(url.absoluteString)]])
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        check([.native, .propertyList, .json], date, [.date(date), 1.5, "1.5", json("1.5")])
        check([.native, .propertyList], [date], [[.date(date)], [1.5], json("[1.5]"), ["1.5"]])
        check([.native, .propertyList], ["a": date], [["a": 1.5]])
        check([.native, .propertyList], [date...date], [[[1.5, 1.5]], [[.date(date), .date(date)]]])
    }

    /// The forms of `Codable`, which earlier versions of the library stored inside `Codable` types.
    @Test
    func formerFormsAreRead() throws {
        struct Box: Codable, Equatable, Sendable {
            var delay = Duration(attoseconds: 3 << 64 | 5)
            var locale = Locale(identifier: "de_AT")
            var zone = TimeZone(identifier: "Europe/Vienna")
        }
        func check<Value: Equatable & PreferenceValue & Codable>(_ value: Value, _ stored: PropertyListValue) throws {
            for coding in [PreferenceCoding<Value>.native, .propertyList] {
                try same(coding.decode(stored), value)
            }
            for coding in [PreferenceCoding<[Value]>.native, .propertyList] {
                try same(coding.decode([stored]), [value])
            }
        }
        let delays: [(Duration, PropertyListValue)] = [
            (.milliseconds(1500), [0, 1_500_000_000_000_000_000]), (Duration(attoseconds: -1), [-1, .unsigned(.max)]),
            (Duration(attoseconds: .min), [.integer(.min), 0]),
        ]
        for (delay, stored) in delays { try check(delay, stored) }
        try check(Locale(identifier: "de_AT"), ["current": 0, "identifier": "de_AT"])
        try check(try #require(TimeZone(identifier: "Europe/Vienna")), ["identifier": "Europe/Vienna"])
        let stored: PropertyListValue = [
            "delay": [3, 5], "locale": ["current": 0, "identifier": "de_AT"], "zone": ["identifier": "Europe/Vienna"],
        ]
        try same(PreferenceCoding<Box>.propertyList.decode(stored), Box())
        for malformed in [[0], [0, -1], [1.5, 0], [0, 0, 0]] as [PropertyListValue] {
            same(readError(Duration.self, malformed)?.code, .unreadable)
        }
    }

    @Test(
        arguments: [
            ("YES", true), ("yes", true), ("True", true), ("1", true), ("NO", false), ("no", false), ("FALSE", false),
            ("0", false), ("on", true), ("Off", false), ("y", nil), ("N", nil), ("t", nil), ("2", nil), ("01", nil),
            ("1.0", nil), (" YES", nil), ("yes ", nil), ("yesx", nil), ("", nil),
        ] as [(String, Bool?)]
    )
    func textOfABooleanIsReadInEachForm(_ text: String, _ value: Bool?) throws {
        let stored = PropertyListValue.string(text)
        func check<Value: Equatable>(_ coding: PreferenceCoding<Value>, _ stored: PropertyListValue, _ value: Value?)
            throws
        {
            if let value {
                try same(coding.decode(stored), value)
            } else {
                #expect(throws: PreferenceError.self) { try coding.decode(stored) }
            }
        }
        for coding in [PreferenceCoding<Bool>.native, .propertyList, .json, .jsonString] {
            try check(coding, stored, value)
        }
        try check(PreferenceCoding<Bool?>.native, stored, value.map { .some($0) })
        try check(PreferenceCoding<[Bool]>.native, [stored], value.map { [$0] })
        try check(PreferenceCoding<[String: Bool]>.native, ["a": stored], value.map { ["a": $0] })
        let strict = PreferenceCoding<Bool>("strict", encode: { .boolean($0) }, decode: { try Bool(storedValue: $0) })
        for coding in [PreferenceCoding<Bool>.native, strict] {
            let layered = PreferenceStore.layered([.arguments(["-flag", text]), .inMemory()])
            layered.issueHandler = { #expect($0.code == .unreadable && value == nil) }
            let flag = Preference("flag", default: !(value ?? true), coding: coding, in: layered)
            same(flag.value, value ?? false)
            same(flag.source.name, value == nil ? "default" : "arguments")
        }
    }

    /// A type whose decoder tries several kinds must read its strings as strings.
    @Test
    func textOfABooleanStaysTextForATypeThatDecodesBoth() throws {
        enum Either: Codable, Equatable, Sendable {
            case flag(Bool), text(String)
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                do { self = .flag(try container.decode(Bool.self)) } catch {
                    self = .text(try container.decode(String.self))
                }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .flag(let flag): try container.encode(flag)
                case .text(let text): try container.encode(text)
                }
            }
        }
        for value in [Either.text("yes"), .flag(true)] { try roundTrip([value], .propertyList) }
    }

    @Test
    func absolutePathIsAFileURL() throws {
        for (path, text) in [
            ("/home/a b", "file:///home/a%20b"), ("/ü/", "file:///%C3%BC/"), ("/a%20b", "file:///a%2520b"),
        ] {
            let stored = PropertyListValue.string(path)
            for coding in [PreferenceCoding<URL>.native, .propertyList, .json] {
                try same(coding.decode(stored)?.absoluteString, text)
            }
            try same(PreferenceCoding<[URL]>.native.decode([stored])?.first?.isFileURL, true)
            same(Preference<URL?>("folder", in: .inMemory(["folder": stored])).value?.absoluteString, text)
            same(Preference<String?>("folder", in: .inMemory(["folder": stored])).value, path)
        }
    }

    @Test
    func jsonIsStoredByCustomCoders() throws {
        let uses = Counter()
        func coding<Value: Codable & Sendable>(_ type: Value.Type, _ identifier: String = "iso") -> PreferenceCoding<
            Value
        > {
            .json(
                identifier,
                encoder: {
                    uses.next()
                    let encoder = JSONEncoder()
                    encoder.dateEncodingStrategy = .iso8601
                    return encoder
                },
                decoder: {
                    uses.next()
                    let decoder = JSONDecoder()
                    decoder.dateDecodingStrategy = .iso8601
                    return decoder
                }
            )
        }
        let dates = [Date(timeIntervalSince1970: 0)]
        let stored = Self.json(#"["1970-01-01T00:00:00Z"]"#)
        try same(coding([Date].self).encode(dates), stored)
        try same(coding([Date].self).decode(stored), dates)
        same(uses.value, 2, "a coder for each use")
        try same(coding([Date].self).decode([.date(dates[0])]), dates, "the form of other codings is read")
        try same(coding([Date]?.self).encode(nil), nil)
        try same(coding([Date]?.self).decode(Self.json("null")), .none)
        let error = try #require(throws: PreferenceError.self) {
            try coding(Point.self).decode(Self.json(#"{"x":1}"#))
        }
        #expect(error.code == .unreadable && error.message == #"missing key "y""#)
        #expect(throws: PreferenceError.self) { try coding([Double].self).encode([.nan]) }
        let identifiers = [
            coding(Point.self).identifier, coding(Point.self, "json").identifier, coding(Point.self, "").identifier,
            PreferenceCoding<Point>.json.identifier, PreferenceCoding<Point>.jsonString.identifier,
            PreferenceCoding<Point>.json("String").identifier,
        ]
        same(Set(identifiers).count, identifiers.count)
        try same(encoded(Point(x: 1, y: 2), .json("plain")), Self.json(#"{"x":1,"y":2}"#))
    }

    @Test
    func declaredDataAndStringsAreReadUnchanged() throws {
        for text in ["5", "\"a\"", "null", "[]"] {
            try same(PreferenceCoding<String>.native.decode(.string(text)), text)
            try same(PreferenceCoding<String?>.native.decode(.string(text)), text)
            try same(PreferenceCoding<Data>.native.decode(Self.json(text)), Data(text.utf8))
            try same(PreferenceCoding<[String?]>.native.decode([.string(text)]), [text])
        }
        try same(PreferenceCoding<String>.native.decode(Self.json("\"a\"")), "a")
    }

    /// The messages of JSON's decoder are sentences; these are parts of one.
    @Test
    func errorInJSONNamesTheMember() throws {
        struct Frame: Codable {
            struct Size: Codable { var width = 8 }
            var size = Size()
        }
        let issues = Recorder<String>()
        let store = PreferenceStore.inMemory(["frame": Self.json(#"{"size":{"width":"wide"}}"#)])
        store.issueHandler = { issues.record("\($0)") }
        let frame = Preference("frame", default: Frame(), coding: .json, in: store)
        same(frame.value.size.width, 8)
        let issue = try #require(issues.elements.first)
        #expect(issue.hasPrefix("preference \"frame\" at size.width: "))
        #expect(issue.hasSuffix("; the default of this member is used and the stored value is kept"))
        #expect(!issue.contains(".;"))
    }

    @Test
    func nullOfJSONIsAbsentForOptionalsOnly() throws {
        for stored in [Self.json("null"), "null", Self.json(" null ")] {
            try same(PreferenceCoding<Point?>.json.decode(stored), .none)
            try same(PreferenceCoding<Int?>.native.decode(stored), .none)
            try same(PreferenceCoding<Theme?>.rawValue.decode(stored), .none)
            try same(PreferenceCoding<Side?>.rawValue.decode(stored), .none)
            #expect(throws: PreferenceError.self) { try PreferenceCoding<Point>.json.decode(stored) }
            #expect(throws: PreferenceError.self) { try PreferenceCoding<Int>.native.decode(stored) }
        }
    }

    @Test
    func errorIsTheDeclaredCodings() throws {
        func error<Value>(_ coding: PreferenceCoding<Value>, _ stored: PropertyListValue) throws -> String {
            "\(try #require(throws: PreferenceError.self) { try coding.decode(stored) })"
        }
        try same(error(PreferenceCoding<Int>.native, "five"), "expected Int, found string \"five\"")
        try same(error(PreferenceCoding<Int>.json, true), "expected Int, found boolean true")
        try same(error(PreferenceCoding<Theme?>.rawValue, "blue"), "Theme has no case for string \"blue\"")
        try same(error(PreferenceCoding<[Point]>.propertyList, [1]), "at 0: expected Point, found integer 1")
        try same(error(PreferenceCoding<Point>.json, Self.json("{\"x\":1}")), "missing key \"y\"")
        #expect(try error(PreferenceCoding<[Point]>.json, Self.json("[{\"x\":1,\"y\":[]}]")).hasPrefix("at 0.y: "))
        #expect(try error(PreferenceCoding<[Int: Bool]>.propertyList, ["07": 7]).hasPrefix("at 07: "))
    }
}
