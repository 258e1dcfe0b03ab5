#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A stored value, of one of the kinds that every store can keep.
///
/// Two values are equal if their kind and their bits are equal. Reals are compared by bit pattern, so `0.0` and `-0.0` differ, but all
/// NaNs are equal; strings are compared by their UTF-8 bytes. `2` and `2.0` are different values.
public enum PropertyListValue: Sendable {
    /// True or false.
    case boolean(Bool)
    /// An integer that fits 64 bits with a sign.
    case integer(Int64)
    /// An integer above `Int64.max`; a smaller one equals an `integer` and is read back as one.
    case unsigned(UInt64)
    /// A floating-point number, including infinities and NaN.
    case real(Double)
    /// A string.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time, with all bits of a `Date`.
    case date(Date)
    /// An ordered list of values.
    case array([PropertyListValue])
    /// Values by their keys.
    case dictionary([String: PropertyListValue])
}

extension PropertyListValue: Hashable {
    /// Returns whether two values have the same kind and the same bits.
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

    /// Hashes the bits that equality compares.
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
    /// The bits by which stored reals are compared, equal for all NaNs.
    fileprivate var comparedBits: UInt64 {
        isNaN ? Double.nan.bitPattern : bitPattern
    }
}

extension String {
    /// Returns whether the UTF-8 bytes are equal; with `==`, canonically equivalent strings are equal.
    fileprivate func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { otherBytes in
                UnsafeRawBufferPointer(bytes).isEqual(to: UnsafeRawBufferPointer(otherBytes))
            }
        }
        // A bridged string has no contiguous bytes.
        return isSame?.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether the bytes are equal; compares eight at a time, `elementsEqual` each by itself.
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
        // The last eight bytes, some of which were compared above.
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
