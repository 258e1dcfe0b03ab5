#if canImport(Darwin) || STANDINS  // STANDINS: Evidence/Verify compiles this on Linux, over Foundation's UserDefaults
internal import Foundation

extension PropertyListValue {
    /// Creates the value of an object in user defaults or iCloud; `nil` if a property list can't contain the object.
    package init?(propertyList object: Any) {
        switch object {
        case let number as NSNumber: self.init(number)
        case let text as String: self = .string(text)
        case let data as Data: self = .data(data)
        case let date as Date: self = .date(date)
        case let elements as [Any]:
            let values = elements.compactMap(Self.init(propertyList:))
            guard values.count == elements.count else { return nil }
            self = .array(values)
        case let members as [String: Any]:
            let values = members.compactMapValues(Self.init(propertyList:))
            guard values.count == members.count else { return nil }
            self = .dictionary(values)
        default: return nil
        }
    }

    private init(_ number: NSNumber) {
        switch number.storedKind {
        case .boolean: self = .boolean(number.boolValue)
        case .real: self = .real(number.doubleValue)
        case .integer: self = .integer(number.int64Value)
        case .unsigned:
            let value = number.uint64Value
            self = Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
        }
    }

    /// The value as an object for user defaults and iCloud.
    package var propertyList: Any {
        switch self {
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .unsigned(let value): NSNumber(value: value)
        case .real(let value): NSNumber(value: value)
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .array(let elements): elements.map(\.propertyList)
        case .dictionary(let members): members.mapValues(\.propertyList)
        }
    }

    /// Returns whether values are equal except for the kinds of their numbers: other code may change these, and the declared type
    /// decides, so that isn't a change.
    package func isSame(as other: PropertyListValue) -> Bool {
        if self == other { return true }
        switch (self, other) {
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.dictionary(let left), .dictionary(let right)):
            return left.count == right.count
                && left.allSatisfy { name, value in right[name].map { value.isSame(as: $0) } ?? false }
        default:
            guard let left = number, let right = other.number else { return false }
            return left == right
        }
    }

    private var number: Number? {
        switch self {
        case .boolean(let value): Number(value: value ? 1 : 0, isNegativeZero: false)
        case .integer(let value): Number(value: Int128(value), isNegativeZero: false)
        case .unsigned(let value): Number(value: Int128(value), isNegativeZero: false)
        case .real(let value):
            Int128(exactly: value).map { Number(value: $0, isNegativeZero: value == 0 && value.sign == .minus) }
        default: nil
        }
    }

    /// The approximate size of the value in a binary property list, in bytes.
    var approximateSize: Int {
        switch self {
        case .boolean: 1
        case .integer, .unsigned, .real, .date: 9
        case .string(let value): 5 + value.utf8.count
        case .data(let value): 5 + value.count
        case .array(let elements): elements.reduce(5) { $0 + 2 + $1.approximateSize }
        case .dictionary(let members): members.reduce(5) { $0 + 9 + $1.key.utf8.count + $1.value.approximateSize }
        }
    }
}

private struct Number: Equatable {
    let value: Int128
    let isNegativeZero: Bool
}

/// The kind of number in an `NSNumber`.
enum StoredNumberKind {
    case boolean
    case integer
    case unsigned
    case real

    /// Creates the kind from an Objective-C type encoding, which doesn't distinguish a boolean from a character.
    init(encoding: UInt8) {
        switch encoding {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .real
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): self = .unsigned
        default: self = .integer
        }
    }
}
#endif

#if canImport(Darwin)
internal import CoreFoundation

extension NSNumber {
    /// The kind of number: on Apple platforms a boolean is a separate object, whatever its encoding says.
    var storedKind: StoredNumberKind {
        guard CFGetTypeID(self) != CFBooleanGetTypeID() else { return .boolean }
        return StoredNumberKind(encoding: UInt8(bitPattern: objCType.pointee))
    }
}
#endif

#if !canImport(Darwin) && STANDINS

extension NSNumber {
    /// The kind of number: swift-corelibs-foundation encodes only a boolean as a character.
    var storedKind: StoredNumberKind {
        let encoding = UInt8(bitPattern: objCType.pointee)
        return encoding == UInt8(ascii: "c") ? .boolean : StoredNumberKind(encoding: encoding)
    }
}
#endif
