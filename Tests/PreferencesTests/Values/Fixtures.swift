import Foundation
import Preferences
import Testing

enum Theme: String, Codable, CaseIterable, PreferenceValue {
    case system, light, dark
}

enum Level: Int, Codable, CodingKeyRepresentable, PreferenceValue {
    case low = 1, high = 5
}

/// A type that has raw values and no other conformance.
enum Side: String, Sendable {
    case left, right
}

/// A key that the standard library writes as an element of a flat array.
enum Slot: String, Codable {
    case first, second
}

struct Point: Codable, Hashable, PreferenceValue {
    var x = 0
    var y = 0
}

struct Frame: Codable, Equatable, PreferenceValue {
    var title = "é\0\u{FEFF}"
    var origin = Point(x: 1, y: -2)
    var opened: Date? = Date(timeIntervalSinceReferenceDate: 0.1)
    var icon = Data([0, 255])
    var link: URL? = URL(string: "https://example.com/a?b=c&d#e")
    var id = UUID()
    var price = Decimal(string: "12.34")
    var marks: [Slot: [Int?]] = [.first: [1, nil], .second: []]
    var counts: [UInt8: Double] = [0: .infinity, 255: -0.0]
    var tags: Set<String> = ["b", "a", "$null"]
    var shape = Shape.circle(radius: 2.0)
    var theme = Theme.dark
    var raw: PropertyListValue = ["a": [1, 2.0, "$null"]]
}

enum Shape: Codable, Equatable, Sendable {
    case none
    case circle(radius: Double)
    indirect case both(Shape, Shape)
}

func encoded<Value>(_ value: Value, _ coding: PreferenceCoding<Value>) throws -> PropertyListValue? {
    try coding.encode(value)
}

/// Encodes and decodes a value, and compares it by its own equality.
func roundTrip<Value: Equatable>(
    _ value: Value,
    _ coding: PreferenceCoding<Value>,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let stored = try #require(try coding.encode(value), sourceLocation: sourceLocation)
    #expect(try coding.decode(stored) == value, sourceLocation: sourceLocation)
}

/// Encodes and decodes a value, by its `PreferenceValue` and its `Codable` conformance.
func roundTripBoth<Value: Equatable & PreferenceValue & Codable>(
    _ value: Value,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    try roundTrip(value, .native, sourceLocation: sourceLocation)
    try roundTrip(value, .propertyList, sourceLocation: sourceLocation)
}

func readError<Value: PreferenceValue>(_ type: Value.Type, _ stored: PropertyListValue) -> PreferenceError? {
    #expect(throws: PreferenceError.self) { try Value(storedValue: stored) }
}
