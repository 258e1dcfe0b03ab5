internal import Foundation
public import Preferences

extension PropertyListValue {
    /// Creates the value of an object that a property list can hold, as `PropertyListSerialization` and `UserDefaults` return it; for
    /// `importUserDefaults(_:suite:)` and the tool `prefs`.
    ///
    /// - Throws: `unreadable` for an object of another type, such as a reference inside a keyed archive.
    public init(propertyListObject object: Any) throws(PreferenceError) {
        self = try Self.value(of: object, at: [])
    }

    private static func value(of object: Any, at path: [String]) throws(PreferenceError) -> PropertyListValue {
        switch object {
        case let text as String: return .string(text)
        case let data as Data: return .data(data)
        case let date as Date: return .date(date)
        case let elements as [Any]:
            var values: [PropertyListValue] = []
            for element in elements { values.append(try value(of: element, at: path + ["[]"])) }
            return .array(values)
        case let members as [String: Any]:
            var values: [String: PropertyListValue] = [:]
            for (key, member) in members { values[key] = try value(of: member, at: path + [key]) }
            return .dictionary(values)
        case let number as NSNumber: return number.propertyListValue
        default:
            throw PreferenceError(
                .unreadable,
                "\(path.joined(separator: ".")) is a \(type(of: object)), which a preference can't hold"
            )
        }
    }
}

extension NSNumber {
    fileprivate var propertyListValue: PropertyListValue {
        if isBoolean { return .boolean(boolValue) }
        return switch objCType.pointee {
        case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): .real(doubleValue)
        case CChar(UInt8(ascii: "Q")) where uint64Value > Int64.max: .unsigned(uint64Value)
        default: .integer(int64Value)
        }
    }
}

#if canImport(Darwin)
internal import CoreFoundation

extension NSNumber {
    /// Whether the number was created from a boolean, which is a separate object there, whatever its encoding says.
    fileprivate var isBoolean: Bool { CFGetTypeID(self) == CFBooleanGetTypeID() }
}
#else
extension NSNumber {
    /// Whether the number was created from a boolean; swift-corelibs-foundation encodes nothing else as a character.
    fileprivate var isBoolean: Bool {
        objCType.pointee == CChar(UInt8(ascii: "c")) || objCType.pointee == CChar(UInt8(ascii: "B"))
    }
}
#endif
