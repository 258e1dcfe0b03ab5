import FileTestSupport
import Foundation

@testable import Preferences

// Stored values and their parts, the same for the same seed, most of them near an edge of their type.
extension SeededGenerator {
    mutating func value(nesting: Int = 4) -> PropertyListValue {
        switch Int.random(in: 0..<(nesting > 0 ? 11 : 8), using: &self) {
        case 0: .boolean(.random(using: &self))
        case 1: .integer(integer())
        case 2: .unsigned(next() | 1 << 63)
        case 3: .real(real())
        case 4: .date(Date(timeIntervalSinceReferenceDate: real()))
        case 5: .data(data())
        case 6, 7: .string(string())
        case 8: .array(list { $0.value(nesting: nesting - 1) })
        default: .dictionary(map({ $0.string() }, { $0.value(nesting: nesting - 1) }))
        }
    }

    /// Returns a random number of random bits, so that small numbers are as frequent as large ones.
    mutating func integer() -> Int64 {
        Int64(truncatingIfNeeded: next()) >> Int64.random(in: 0..<64, using: &self)
    }

    mutating func real() -> Double {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: Double(bitPattern: next())
        case 1: Double(integer())
        case 2: Double(Int64.random(in: -1_000_000...1_000_000, using: &self)) / 1000
        // Dates near the present, with all bits.
        case 3: Double.random(in: -1e9...1e9, using: &self)
        // All years that have a text, and some beyond.
        case 4: Double.random(in: -8e10...3e11, using: &self)
        default:
            [0, -0.0, .nan, .infinity, -.infinity, .ulpOfOne, .leastNonzeroMagnitude].randomElement(using: &self) ?? 0
        }
    }

    mutating func data() -> Data {
        Data((0..<Int.random(in: 0..<40, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) })
    }

    mutating func string() -> String {
        if Bool.random(using: &self) {
            let pieces = ["$", "$null", "null", "a", "\0", "\u{FEFF}", "é", "e\u{301}", "👩‍👩‍👧", "\"", ".", "@", "1"]
            return list { pieces.randomElement(using: &$0) ?? "" }.joined()
        }
        let scalars = (0..<Int.random(in: 0..<24, using: &self)).map { _ in scalar() }
        return String(String.UnicodeScalarView(scalars))
    }

    private mutating func scalar() -> Unicode.Scalar {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: Unicode.Scalar(UInt8.random(in: 0..<32, using: &self))
        case 1: ["$", "\"", "\\", "/", "\u{7F}", "\u{FEFF}", "\u{301}", "\u{2028}"].randomElement(using: &self) ?? "$"
        case 2: Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self)) ?? "\u{FFFD}"
        default: Unicode.Scalar(UInt8.random(in: 32..<127, using: &self))
        }
    }

    mutating func list<Element>(_ element: (inout Self) -> Element) -> [Element] {
        (0..<Int.random(in: 0..<5, using: &self)).map { _ in element(&self) }
    }

    mutating func map<Key: Hashable, Value>(
        _ key: (inout Self) -> Key,
        _ value: (inout Self) -> Value
    ) -> [Key: Value] {
        Dictionary(list { (key(&$0), value(&$0)) }) { first, _ in first }
    }
}
