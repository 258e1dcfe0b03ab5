#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue {
    /// Whether the value stands before another in the order that sets are stored in.
    ///
    /// The order is total and says nothing about meaning: it only makes equal sets equal stored values.
    func precedes(_ other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.boolean(let left), .boolean(let right)): !left && right
        case (.integer(let left), .integer(let right)): left < right
        case (.integer(let left), .unsigned(let right)): left < right
        case (.unsigned(let left), .integer(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        case (.real(let left), .real(let right)): left.orderedBits < right.orderedBits
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.orderedBits < right.timeIntervalSinceReferenceDate.orderedBits
        case (.array(let left), .array(let right)):
            left.lexicographicallyPrecedes(right) { $0.precedes($1) }
        case (.dictionary(let left), .dictionary(let right)):
            left.inOrder.lexicographicallyPrecedes(right.inOrder) { left, right in
                if left.key != right.key { return left.key < right.key }
                return left.value.precedes(right.value)
            }
        default: rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .boolean: 0
        case .integer, .unsigned: 1
        case .real: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .array: 6
        case .dictionary: 7
        }
    }
}

extension [String: PropertyListValue] {
    fileprivate var inOrder: [Element] { sorted { $0.key < $1.key } }
}

extension Double {
    /// An integer that orders as the number does, `-0.0` before `0.0`; every NaN is the same last one.
    fileprivate var orderedBits: Int64 {
        if isNaN { return .max }
        let bits = Int64(bitPattern: bitPattern)
        return bits < 0 ? ~(bits & .max) : bits
    }
}
