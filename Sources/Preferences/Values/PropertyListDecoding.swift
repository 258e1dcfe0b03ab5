#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The decoder of one value.
final class PropertyListDecoding: Decoder {
    private let type: Any.Type
    private let stored: PropertyListValue
    private let isNil: Bool
    let location: CodingLocation

    private init(_ type: Any.Type, _ stored: PropertyListValue, isNil: Bool, at location: CodingLocation) {
        self.type = type
        self.stored = stored
        self.isNil = isNil
        self.location = location
    }

    var codingPath: [any CodingKey] { location.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The value that nested stored values are; `isNil` says that they stand for nil, where the type has one.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from stored: PropertyListValue,
        isNil: Bool,
        at location: @autoclosure () -> CodingLocation
    ) throws -> Value {
        do {
            return try PropertyListCoder.value(type, of: stored) {
                let decoding = PropertyListDecoding(type, stored, isNil: isNil, at: location())
                guard !decoding.location.isTooDeep else { throw decoding.tooDeep }
                return try type.init(from: decoding)
            }
        } catch let error as PreferencesError {
            let location = location()
            if location.takesNumbersAsDates, type == Date.self, let date = stored.dateOfNumber {
                return try decode(type, from: .date(date), isNil: false, at: location)
            }
            throw DecodingError.typeMismatch(type, error, at: location)
        }
    }

    /// The value of a member or an element.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        nested stored: PropertyListValue,
        at location: @autoclosure () -> CodingLocation
    ) throws -> Value {
        try decode(type, from: stored.unnested, isNil: stored.isNestedNil, at: location())
    }

    func container<Key>(keyedBy key: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard location.takesContainer else { throw tooDeep }
        guard case .dictionary(let members) = stored else { throw mismatch("a dictionary") }
        return KeyedDecodingContainer(KeyedDecoding(members: members, decoding: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard location.takesContainer else { throw tooDeep }
        switch stored {
        case .array(let elements):
            return UnkeyedDecoding(elements: elements, decoding: self)
        case .dictionary(let members):
            let elements = (type as? any UnorderedCollection.Type)?.elements(of: members)
            guard let elements else { throw mismatch("an array") }
            return UnkeyedDecoding(elements: elements, areMembers: true, decoding: self)
        default: throw mismatch("an array")
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ container: String) -> DecodingError {
        guard type == DecoderItself.self else { return .typeMismatch(type, stored.mismatch(type), at: location) }
        let error = PreferencesError(.unreadable, "expected \(container), found \(stored.summary)")
        return .typeMismatch(type, error, at: location)
    }

    private var tooDeep: DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: CodingLocation.tooDeep))
    }

    /// The stored value as it is, for `PropertyListValue` itself.
    var nativeValue: PropertyListValue { stored }
}

// One generic method meets the requirements for all scalars.
extension PropertyListDecoding: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNil }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Self.decode(type, from: stored, isNil: isNil, at: location.alike)
    }
}

extension DecodingError {
    fileprivate static func typeMismatch(_ type: Any.Type, _ error: PreferencesError, at location: CodingLocation)
        -> DecodingError
    {
        let path = location.path + error.codingPath.map { NameKey(stringValue: $0) }
        return .typeMismatch(
            type,
            Context(codingPath: path, debugDescription: error.message, underlyingError: error.cause)
        )
    }
}

extension PropertyListValue {
    /// The date that a JSON coder wrote as a number.
    fileprivate var dateOfNumber: Date? {
        switch self {
        case .integer(let value): Date(timeIntervalSinceReferenceDate: Double(value))
        case .real(let value): Date(timeIntervalSinceReferenceDate: value)
        default: nil
        }
    }
}
