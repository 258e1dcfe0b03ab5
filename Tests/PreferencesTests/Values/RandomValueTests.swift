import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

extension SeededGenerator {
    fileprivate mutating func optional<Value>(_ value: (inout Self) -> Value) -> Value? {
        Bool.random(using: &self) ? value(&self) : nil
    }
}

/// A type with all kinds of `Codable` members; compared by its stored form, in which all NaNs are equal.
struct Anything: Codable, PreferenceValue {
    var boolean: Bool?
    var small: Int8
    var integer: Int64
    var unsigned: UInt64
    var real: Double
    var single: Float
    var text: String
    var texts: [String?]
    var data: Data
    var date: Date?
    var stored: PropertyListValue?
    var byName: [String: Double?]
    var byNumber: [Int: String]
    var bySlot: [Slot: [Anything]]
    var byReal: [Double: Int]
    var set: Set<Int64>
    var shape: Shape
    var children: [Anything?]

    init(_ random: inout SeededGenerator, levels: Int = 2) {
        boolean = random.optional { Bool.random(using: &$0) }
        small = Int8(truncatingIfNeeded: random.next())
        integer = random.integer()
        unsigned = random.next()
        real = random.real()
        single = Float(random.real())
        text = random.string()
        texts = random.list { $0.optional { $0.string() } }
        data = random.data()
        date = random.optional { Date(timeIntervalSinceReferenceDate: $0.real()) }
        stored = random.optional { $0.value() }
        byName = random.map({ $0.string() }, { $0.optional { $0.real() } })
        byNumber = random.map({ Int($0.integer()) }, { $0.string() })
        bySlot = levels > 0 ? random.map({ _ in .first }, { $0.list { Anything(&$0, levels: 0) } }) : [:]
        byReal = random.map({ Double($0.integer()) }, { Int($0.integer()) })
        set = Set(random.list { $0.integer() })
        shape = random.optional { .circle(radius: $0.real()) } ?? .none
        children = levels > 0 ? random.list { $0.optional { Anything(&$0, levels: levels - 1) } } : []
    }
}

struct RandomValueTests {
    static let seed = UInt64.random(in: 0 ... .max)

    @Test
    func storedValuesSurviveARoundTrip() throws {
        var random = SeededGenerator(seed: Self.seed)
        for round in 0..<rounds(10_000) {
            let value = random.value()
            let place = "seed \(Self.seed), round \(round): \(value)"
            let data = try JSONEncoder().encode([value])
            try same(JSONDecoder().decode([PropertyListValue].self, from: data), [value], "\(place)")
            for coding in [PreferenceCoding<[PropertyListValue]>.native, .propertyList] {
                let stored = try #require(try coding.encode([value]))
                try same(coding.decode(stored), [value], "\(place)")
            }
        }
    }

    @Test
    func codableValuesSurviveARoundTrip() throws {
        var random = SeededGenerator(seed: Self.seed)
        let coding = PreferenceCoding<Anything>.propertyList
        for round in 0..<rounds(10_000) {
            let value = Anything(&random)
            let stored = try #require(try coding.encode(value))
            let read = try #require(try coding.decode(stored))
            try same(coding.encode(read), stored, "seed \(Self.seed), round \(round): \(stored)")
            same(PropertyListValue.real(read.real), .real(value.real), "seed \(Self.seed), round \(round)")
            same(read.texts, value.texts, "seed \(Self.seed), round \(round)")
            same(read.stored, value.stored, "seed \(Self.seed), round \(round)")
            same(read.children.map { $0 == nil }, value.children.map { $0 == nil }, "seed \(Self.seed), round \(round)")
        }
    }
}
