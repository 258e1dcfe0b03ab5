import Foundation
import Preferences
import TestSupport
import Testing

struct ForeignCoderTests {
    static let values: [PropertyListValue] = [
        true, false, 0, 1, .integer(.min), .integer(.max), .unsigned(.max), 0.0, -0.0, 2.0, 0.1, 1e300, .real(.nan),
        .real(.infinity), .real(-.infinity), .real(.leastNonzeroMagnitude), "", "\0", "$null", "1", "true",
        .data(Data([0, 255])), .date(Date(timeIntervalSinceReferenceDate: 785_451_600.123_456_7.nextUp)),
        .date(Date(timeIntervalSinceReferenceDate: .infinity)), .date(.distantPast),
        .date(Date(timeIntervalSinceReferenceDate: -0.0)),
        [], [:], [1, [2.0, "a"], [:]], ["$data": 1], ["$": 1, "$$date": 2, "a": 3], ["$real": ["$x": 1.5]],
        ["$\u{301}data": 1], ["$$\u{301}": 1],
    ]

    @Test(arguments: values)
    func valueSurvivesAJSONCoder(_ value: PropertyListValue) throws {
        let data = try JSONEncoder().encode([value])
        try same(JSONDecoder().decode([PropertyListValue].self, from: data), [value])
    }

    @Test(arguments: values)
    func valueSurvivesTheLibrarysCoder(_ value: PropertyListValue) throws {
        struct Holder: Codable, Equatable {
            var value: PropertyListValue
            var values: [PropertyListValue?]
        }
        try roundTrip(Holder(value: value, values: [value, nil]), .propertyList)
        try roundTripBoth(value)
        try roundTripBoth([value])
        try roundTripBoth(["k": value])
    }

    @Test(arguments: [
        "null", "[null]", #"{"$data":"?"}"#, #"{"$data":1}"#, #"{"$real":"x"}"#, #"{"$other":1}"#,
        #"{"$data":"","a":1}"#,
    ])
    func malformedValueThrows(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PropertyListValue.self, from: Data(text.utf8)) }
    }

    @Test
    func literalsAndDescriptionReadAlike() {
        let value: PropertyListValue = ["b": [true, 1, 2.0, "a\"\n\u{1}"], "a": .data(Data([1]))]
        same(value.description, #"{"a": {"$data":"AQ=="}, "b": [true, 1, 2.0, "a\"\n\u0001"]}"#)
        same(["a": 1, "a": 2] as PropertyListValue, ["a": 2])
    }
}
