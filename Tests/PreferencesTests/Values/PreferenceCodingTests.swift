import FoundationEssentials
import Preferences
import Testing

struct PreferenceCodingTests {
    @Test
    func optionalOfACodedTypeIsSetOrNot() throws {
        func check<Value: Equatable>(_ coding: PreferenceCoding<Value?>, _ value: Value) throws {
            #expect(try coding.encode(nil) == nil)
            try roundTrip(value, coding)
        }
        try check(.rawValue, Theme.dark)
        try check(.rawValue, Side.left)
        try check(.json, Frame(counts: [:]))
        try check(.jsonString, Frame(counts: [:]))
        try check(.propertyList, Frame())
        try check(.native, Frame())
        #expect(try PreferenceCoding<Side>.rawValue.encode(.left) == "left")
    }

    @Test
    func jsonOfEqualValuesIsEqual() throws {
        let members = (0..<50).map { ("key\($0)", $0) }
        let first = try encoded(Dictionary(uniqueKeysWithValues: members), .json)
        #expect(try encoded(Dictionary(uniqueKeysWithValues: members.reversed()), .json) == first)
        #expect(try encoded(Point(x: 1, y: 2), .jsonString) == #"{"x":1,"y":2}"#)
    }

    @Test
    func unencodableValueThrowsTheLibrarysError() throws {
        let error = try #require(throws: PreferencesError.self) { try encoded([Double.nan], .json) }
        #expect(error.code == .unencodable)
    }

    static func json(_ text: String) -> PropertyListValue { .data(Data(text.utf8)) }

    @Test
    func whatOthersStoredIsRead() throws {
        func check<Value: Equatable>(
            _ codings: [PreferenceCoding<Value>],
            _ value: Value,
            _ stored: [PropertyListValue]
        ) {
            for coding in codings {
                for stored in stored {
                    do {
                        #expect(try coding.decode(stored) == value, "\(coding.identifier) of \(stored)")
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

    @Test
    func declaredDataAndStringsAreTakenAsTheyAre() throws {
        for text in ["5", "\"a\"", "null", "[]"] {
            #expect(try PreferenceCoding<String>.native.decode(.string(text)) == text)
            #expect(try PreferenceCoding<String?>.native.decode(.string(text)) == text)
            #expect(try PreferenceCoding<Data>.native.decode(Self.json(text)) == Data(text.utf8))
            #expect(try PreferenceCoding<[String?]>.native.decode([.string(text)]) == [text])
        }
        #expect(try PreferenceCoding<String>.native.decode(Self.json("\"a\"")) == "a")
    }

    @Test
    func nullOfJSONIsAbsentForOptionalsOnly() throws {
        for stored in [Self.json("null"), "null", Self.json(" null ")] {
            #expect(try PreferenceCoding<Point?>.json.decode(stored) == .none)
            #expect(try PreferenceCoding<Int?>.native.decode(stored) == .none)
            #expect(try PreferenceCoding<Theme?>.rawValue.decode(stored) == .none)
            #expect(try PreferenceCoding<Side?>.rawValue.decode(stored) == .none)
            #expect(throws: PreferencesError.self) { try PreferenceCoding<Point>.json.decode(stored) }
            #expect(throws: PreferencesError.self) { try PreferenceCoding<Int>.native.decode(stored) }
        }
    }

    @Test
    func errorIsTheDeclaredCodings() throws {
        func error<Value>(_ coding: PreferenceCoding<Value>, _ stored: PropertyListValue) throws -> String {
            "\(try #require(throws: PreferencesError.self) { try coding.decode(stored) })"
        }
        #expect(try error(PreferenceCoding<Int>.native, "five") == "expected Int, found string \"five\"")
        #expect(try error(PreferenceCoding<Int>.json, true) == "expected Int, found boolean true")
        #expect(try error(PreferenceCoding<Theme?>.rawValue, "blue") == "Theme has no case for string \"blue\"")
        #expect(try error(PreferenceCoding<[Point]>.propertyList, [1]) == "at 0: expected Point, found integer 1")
        #expect(try error(PreferenceCoding<Point>.json, Self.json("{\"x\":1}")) == "missing key \"y\"")
        #expect(try error(PreferenceCoding<[Point]>.json, Self.json("[{\"x\":1,\"y\":[]}]")).hasPrefix("at 0.y: "))
        #expect(try error(PreferenceCoding<[Int: Bool]>.propertyList, ["07": 7]).hasPrefix("at 07: "))
    }
}
