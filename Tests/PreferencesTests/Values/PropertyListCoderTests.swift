import Foundation
import Preferences
import TestSupport
import Testing

struct PropertyListCoderTests {
    @Test
    func structWithNativeMembersSurvivesARoundTrip() throws {
        let frame = Frame()
        let stored = try #require(try encoded(frame, .propertyList))
        guard case .dictionary(let members) = stored else { Issue.record("not a dictionary: \(stored)"); return }
        same(members["opened"], .date(Date(timeIntervalSinceReferenceDate: 0.1)))
        same(members["icon"], .data(Data([0, 255])))
        same(members["link"], "https://example.com/a?b=c&d#e")
        same(members["price"], "12.34")
        same(members["marks"], ["first": [1, "$null"], "second": []])
        same(members["counts"], ["0": .real(.infinity), "255": -0.0])
        same(members["tags"], ["$$null", "a", "b"])
        same(members["shape"], ["circle": ["radius": 2.0]])
        same(members["raw"], frame.raw)
        try same(PreferenceCoding<Frame>.propertyList.decode(stored), frame)
    }

    @Test
    func associatedValuesOfEnumsSurviveARoundTrip() throws {
        try roundTrip(Shape.both(.none, .both(.circle(radius: -0.0), .none)), .propertyList)
    }

    class Base: Codable {
        var number = 1
    }

    final class Derived: Base {
        var text = "a"
        var inner: [Int] = [1]

        override init() { super.init() }

        private enum CodingKeys: CodingKey { case text, inner }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            text = try container.decode(String.self, forKey: .text)
            var inner = try container.nestedUnkeyedContainer(forKey: .inner)
            self.inner = [
                try inner.decode(Int.self), try inner.nestedContainer(keyedBy: CodingKeys.self).allKeys.count,
            ]
            try super.init(from: try container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(text, forKey: .text)
            var inner = container.nestedUnkeyedContainer(forKey: .inner)
            try inner.encode(7)
            var innermost = inner.nestedContainer(keyedBy: CodingKeys.self)
            try innermost.encode("$null", forKey: .text)
            try inner.encode(8)
            same(inner.count, 3)
            #expect(encoder.userInfo.isEmpty)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test
    func classesAndNestedContainersSurviveARoundTrip() throws {
        let value = Derived()
        value.number = 5
        let stored = try #require(try PropertyListValue(codable: value))
        same(stored, ["text": "a", "inner": [7, ["text": "$$null"], 8], "super": ["number": 5]])
        let read = try Derived(codable: stored)
        same(read.number, 5)
        same(read.inner, [7, 1])
    }

    @Test
    func dictionariesOfOtherKeysAreStoredAsDictionariesIfPossible() throws {
        try same(encoded([Slot.first: 1], .propertyList), ["first": 1])
        try same(encoded([Slot: Int](), .propertyList), [:])
        try same(encoded([UInt8(7): 1], .propertyList), ["7": 1])
        try same(PreferenceCoding<[Slot: Int]>.propertyList.decode(["first", 1]), [.first: 1])
        try same(PreferenceCoding<[UInt8: Int]>.propertyList.decode([7, 1]), [7: 1])
        let points = [Point(x: 2): "a", Point(x: 1): "b"]
        try same(encoded(points, .propertyList), [["x": 1, "y": 0], "b", ["x": 2, "y": 0], "a"])
        try roundTrip(points, .propertyList)
        try roundTrip([true: 1, false: 2], .propertyList)
        try roundTrip([Optional(1): 1, nil: 2], .propertyList)
        try roundTrip([UUID(): 1, UUID(): 2], .propertyList)
        try roundTrip([Optional("$null"): 1, "$$null": 2], .propertyList)
    }

    @Test
    func errorsHaveACodingPath() throws {
        func error(_ stored: PropertyListValue) throws -> PreferenceError {
            try #require(throws: PreferenceError.self) {
                try PreferenceCoding<[Slot: [Point?]]>.propertyList.decode(stored)
            }
        }
        try same(error(["first": [["x": 1, "y": true]]]).codingPath, ["first", "0", "y"])
        try same(error(["third": []]).codingPath, ["third"])
        let missing = try error(["second": ["$null", ["x": 1]]])
        same(missing.codingPath, ["second", "1"])
        same(missing.message, "missing key \"y\"")
        try same(error(["first": ["text"]]).description, "at first.0: expected Point, found string \"text\"")
    }

    struct Nest: Codable, Equatable {
        var inner: [Nest]
        init(levels: Int) { inner = levels > 1 ? [Nest(levels: levels - 1)] : [] }
        init(from decoder: any Decoder) throws { inner = try [Nest](from: decoder) }
        func encode(to encoder: any Encoder) throws { try inner.encode(to: encoder) }
    }

    final class Endless: Codable, Sendable {
        init() {}
        init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode(Endless.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self)
        }
    }

    @Test
    func nestingEndsWithAnErrorAfter128Levels() throws {
        try roundTrip(Nest(levels: 128), .propertyList)
        var stored: PropertyListValue = []
        for _ in 1...128 { stored = [stored] }
        let writing = try #require(throws: PreferenceError.self) { try encoded(Nest(levels: 129), .propertyList) }
        same(writing.code, .unencodable)
        #expect(writing.message.contains("128"))
        let reading = try #require(throws: PreferenceError.self) {
            try PreferenceCoding<Nest>.propertyList.decode(stored)
        }
        same(reading.code, .unreadable)
        #expect(reading.message.contains("128"))
        #expect(throws: PreferenceError.self) { try encoded(Nest(levels: 1_000), .propertyList) }
        #expect(throws: PreferenceError.self) { try encoded(Endless(), .propertyList) }
        #expect(throws: PreferenceError.self) { try PreferenceCoding<Endless>.propertyList.decode(1) }
    }

    @Test
    func equalSetsHaveEqualStoredValues() throws {
        let points = (0..<100).map { Point(x: $0, y: -$0) }
        let stored = try encoded(Set(points), .propertyList)
        try same(encoded(Set(points.reversed()), .propertyList), stored)
        try same(encoded(Set(points), .native), stored)
    }
}

extension PropertyListValue {
    /// Encodes and decodes a type that can't be a preference's, such as a class.
    fileprivate init?(codable value: some Encodable) throws {
        let stored = try PreferenceCoding<Holder>.propertyList.encode(Holder(encodable: value))
        guard let stored else { return nil }
        self = stored
    }
}

extension Decodable {
    fileprivate init(codable stored: PropertyListValue) throws {
        let holder = try #require(try PreferenceCoding<Holder>.propertyList.decode(stored))
        self = try Self(from: try #require(holder.decoder))
    }
}

/// A wrapper that encodes a value of any type.
private struct Holder: Codable, @unchecked Sendable {  // stays in the calling test
    var encodable: any Encodable = 0
    var decoder: (any Decoder)?

    init(encodable: any Encodable) { self.encodable = encodable }
    init(from decoder: any Decoder) { self.decoder = decoder }
    func encode(to encoder: any Encoder) throws { try encodable.encode(to: encoder) }
}
