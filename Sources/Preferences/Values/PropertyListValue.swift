#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A stored value: the closed set of types that every store can keep.
///
/// Two values are equal when their kind and their bits are: reals by bit pattern (so `0.0` and `-0.0` differ, and every
/// NaN is one), strings by their UTF-8 bytes. `2` and `2.0` are different values.
public enum PropertyListValue: Sendable {
    /// True or false.
    case boolean(Bool)
    /// A whole number that fits 64 bits with a sign.
    case integer(Int64)
    /// A whole number above `Int64.max`; a smaller one equals, and is read back as, `integer`.
    case unsigned(UInt64)
    /// A floating-point number, also infinite or not a number.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time, to the last bit of a `Date`.
    case date(Date)
    /// Values in order.
    case array([PropertyListValue])
    /// Values by key.
    case dictionary([String: PropertyListValue])
}

extension PropertyListValue: Hashable {
    /// Whether kind and bits are the same.
    public static func == (left: PropertyListValue, right: PropertyListValue) -> Bool {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.integer(let signed), .unsigned(let unsigned)), (.unsigned(let unsigned), .integer(let signed)):
            UInt64(exactly: signed) == unsigned
        case (.real(let left), .real(let right)): left.comparedBits == right.comparedBits
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.comparedBits == right.timeIntervalSinceReferenceDate.comparedBits
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        default: false
        }
    }

    /// Feeds kind and bits to the hasher.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .unsigned(let value):
            if let signed = Int64(exactly: value) { hasher.combine(signed) } else { hasher.combine(value) }
        case .real(let value): hasher.combine(value.comparedBits)
        case .string(let value):
            var value = value
            value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.comparedBits)
        case .array(let value): hasher.combine(value)
        case .dictionary(let value): hasher.combine(value)
        }
    }
}

extension Double {
    /// The bits that count when stored reals are compared: every NaN is one.
    fileprivate var comparedBits: UInt64 {
        isNaN ? Double.nan.bitPattern : bitPattern
    }
}

extension String {
    /// Whether the UTF-8 bytes are the same; `==` takes canonically equivalent texts for equal.
    fileprivate func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                UnsafeRawBufferPointer(bytes).isEqual(to: UnsafeRawBufferPointer(others))
            }
        }
        // A bridged string has no bytes to compare at once.
        return isSame?.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are the same, compared eight at a time; `elementsEqual` takes each alone.
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index &+ 8 <= count {
            let words = (
                loadUnaligned(fromByteOffset: index, as: UInt64.self),
                other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            )
            if words.0 != words.1 { return false }
            index &+= 8
        }
        // The last ones once more.
        if count >= 8 {
            let start = count &- 8
            return loadUnaligned(fromByteOffset: start, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        }
        while index < count {
            if self[index] != other[index] { return false }
            index &+= 1
        }
        return true
    }
}
