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

    /// Returns the value of nested stored values.
    ///
    /// - Parameter isNil: Whether they represent `nil`, if the type has that.
    // Not specialized for each scalar, like the containers' methods that call it.
    @_semantics("optimize.sil.specialize.generic.never")
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from stored: PropertyListValue,
        isNil: Bool,
        at location: @autoclosure () -> CodingLocation
    ) throws -> Value {
        do {
            return try NativeValue.value(type, of: stored) {
                let decoding = PropertyListDecoding(type, stored, isNil: isNil, at: location())
                guard !decoding.location.isTooDeep else { throw decoding.tooDeep }
                return try type.init(from: decoding)
            }
        } catch let error as PreferenceError {
            let location = location()
            if let other = location.otherForm(of: stored, as: type) {
                return try decode(type, from: other, isNil: false, at: location)
            }
            throw DecodingError.typeMismatch(type, error, at: location)
        }
    }

    /// Returns the value of a member or an element.
    @_semantics("optimize.sil.specialize.generic.never")
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        nested stored: PropertyListValue,
        at location: @autoclosure () -> CodingLocation
    ) throws -> Value {
        try decode(type, from: stored.unnested, isNil: stored.isNestedNil, at: location())
    }

    func container<Key>(keyedBy key: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard location.allowsContainer else { throw tooDeep }
        guard case .dictionary(let members) = stored, members.count != 1 || stored.textOfUnknownForm == nil else {
            throw mismatch("a dictionary")
        }
        return KeyedDecodingContainer(KeyedDecoding(members: members, decoding: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard location.allowsContainer else { throw tooDeep }
        switch stored {
        case .array(let elements):
            return UnkeyedDecoding(elements: elements, decoding: self)
        case .dictionary(let members) where stored.textOfUnknownForm == nil:
            let elements = (type as? any UnorderedCollection.Type)?.elements(of: members)
            guard let elements else { throw mismatch("an array") }
            return UnkeyedDecoding(elements: elements, areMembers: true, decoding: self)
        default: throw mismatch("an array")
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ container: String) -> DecodingError {
        guard type == DecoderCapture.self else {
            let type = (type as? any DecodingWrapper.Type)?.wrapped ?? type
            return .typeMismatch(type, stored.mismatch(type), at: location)
        }
        let error = PreferenceError(.unreadable, "expected \(container), found \(stored.summary)")
        return .typeMismatch(type, error, at: location)
    }

    private var tooDeep: DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: CodingLocation.tooDeep))
    }

    /// The stored value as it is, for `PropertyListValue` itself.
    var nativeValue: PropertyListValue { stored }
}

// One generic method satisfies the requirements for all scalars.
extension PropertyListDecoding: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNil }

    @_semantics("optimize.sil.specialize.generic.never")
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Self.decode(type, from: stored, isNil: isNil, at: location.ofSingleValue)
    }
}

extension DecodingError {
    fileprivate static func typeMismatch(_ type: Any.Type, _ error: PreferenceError, at location: CodingLocation)
        -> DecodingError
    {
        let path = location.path + error.codingPath.map { NameKey(stringValue: $0) }
        return .typeMismatch(
            type,
            Context(codingPath: path, debugDescription: error.message, underlyingError: error.cause)
        )
    }
}

extension CodingLocation {
    /// Returns a date that is stored as a number, or an integer that is stored as the text of a key.
    fileprivate func otherForm(of stored: PropertyListValue, as type: Any.Type) -> PropertyListValue? {
        if readsNumbersAsDates, type == Date.self { return stored.dateOfNumber.map { .date($0) } }
        return isKey && type is any FixedWidthInteger.Type ? stored.integerInText : nil
    }
}

extension PropertyListValue {
    /// The date that a JSON coder has written as a number.
    fileprivate var dateOfNumber: Date? {
        switch self {
        case .integer(let value): Date(timeIntervalSinceReferenceDate: Double(value))
        case .real(let value): Date(timeIntervalSinceReferenceDate: value)
        default: nil
        }
    }
}

/// The members of a dictionary.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: PropertyListValue]
    let decoding: PropertyListDecoding

    var codingPath: [any CodingKey] { decoding.codingPath }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNestedNil }

    @_semantics("optimize.sil.specialize.generic.never")
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try PropertyListDecoding.decode(type, nested: try member(key), at: decoding.location.inside(key))
    }

    @_semantics("optimize.sil.specialize.generic.never")
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let stored = members[key.stringValue], !stored.isNestedNil else { return nil }
        return try PropertyListDecoding.decode(type, nested: stored, at: decoding.location.inside(key))
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(for: SuperKey()) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }

    private func decoder(for key: some CodingKey) throws -> any Decoder {
        try member(key).nestedDecoder(at: decoding.location.inside(key))
    }

    private func member(_ key: some CodingKey) throws -> PropertyListValue {
        if let stored = members[key.stringValue] { return stored }
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "missing key \"\(key.stringValue)\""
        )
        throw DecodingError.keyNotFound(key, context)
    }
}

/// The elements of an array, or of a dictionary that is read as one.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let elements: [PropertyListValue]
    /// Whether the elements are the keys and values of a dictionary, alternating.
    let areMembers: Bool
    let decoding: PropertyListDecoding
    private(set) var currentIndex = 0

    init(elements: [PropertyListValue], areMembers: Bool = false, decoding: PropertyListDecoding) {
        self.elements = elements
        self.areMembers = areMembers
        self.decoding = decoding
    }

    var codingPath: [any CodingKey] { decoding.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private var nextLocation: CodingLocation {
        if areMembers, case .string(let name) = elements[currentIndex & ~1].unnested {
            return decoding.location.inside(NameKey(stringValue: name), isKey: currentIndex.isMultiple(of: 2))
        }
        return decoding.location.inside(IndexKey(currentIndex))
    }

    mutating func decodeNil() throws -> Bool {
        guard try next(Bool?.self).isNestedNil else { return false }
        currentIndex += 1
        return true
    }

    @_semantics("optimize.sil.specialize.generic.never")
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let stored = try next(type)
        let value = try PropertyListDecoding.decode(type, nested: stored, at: nextLocation)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { try decode(DecoderCapture.self).decoder }

    private func next(_ type: Any.Type) throws -> PropertyListValue {
        if !isAtEnd { return elements[currentIndex] }
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "the array ends too early")
        throw DecodingError.valueNotFound(type, context)
    }
}

extension PropertyListValue {
    /// Returns the decoder of a member or an element.
    func nestedDecoder(at location: CodingLocation = CodingLocation()) throws -> any Decoder {
        try PropertyListDecoding.decode(DecoderCapture.self, nested: self, at: location).decoder
    }
}

/// A value that captures the decoder it is created with, so that nested containers use the same path as values.
struct DecoderCapture: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) { self.decoder = decoder }
}
