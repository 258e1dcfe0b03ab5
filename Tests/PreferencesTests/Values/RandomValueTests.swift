import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

extension SeededGenerator {
    mutating func integer() -> Int64 {
        Int64(truncatingIfNeeded: next()) >> Int64.random(in: 0..<64, using: &self)
    }

    mutating func real() -> Double {
        [Double(bitPattern: next()), Double(integer()), 0.0, -0.0, .nan, .infinity].randomElement(using: &self) ?? 0
    }

    mutating func string() -> String {
        let pieces = ["$", "$null", "null", "a", "\0", "\u{FEFF}", "é", "e\u{301}", "👩‍👩‍👧", "\"", ".", "@", "1"]
        return (0..<Int.random(in: 0..<4, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }.joined()
    }

    mutating func data() -> Data {
        Data((0..<Int.random(in: 0..<9, using: &self)).map { _ in UInt8(truncatingIfNeeded: next()) })
    }

    mutating func list<Element>(_ element: (inout Self) -> Element) -> [Element] {
        (0..<Int.random(in: 0..<4, using: &self)).map { _ in element(&self) }
    }

    mutating func optional<Value>(_ value: (inout Self) -> Value) -> Value? {
        Bool.random(using: &self) ? value(&self) : nil
    }

    mutating func map<Key: Hashable, Value>(
        _ key: (inout Self) -> Key,
        _ value: (inout Self) -> Value
    ) -> [Key: Value] {
        Dictionary(list { (key(&$0), value(&$0)) }) { first, _ in first }
    }

    mutating func stored(levels: Int = 4) -> PropertyListValue {
        switch Int.random(in: 0..<(levels > 0 ? 9 : 7), using: &self) {
        case 0: .boolean(Bool.random(using: &self))
        case 1: .integer(integer())
        case 2: .unsigned(next())
        case 3: .real(real())
        case 4: .string(string())
        case 5: .data(data())
        case 6: .date(Date(timeIntervalSinceReferenceDate: real()))
        case 7: .array(list { $0.stored(levels: levels - 1) })
        default: .dictionary(map({ $0.string() }, { $0.stored(levels: levels - 1) }))
        }
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
        stored = random.optional { $0.stored() }
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
            let value = random.stored()
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
