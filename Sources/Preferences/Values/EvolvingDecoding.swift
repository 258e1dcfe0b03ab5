/// A type that is decoded in place of another one, which messages name.
protocol DecodingWrapper {
    static var wrapped: Any.Type { get }
}

/// A value that is decoded by the current reader, so that coders of any kind hand their decoders to it.
struct Evolved<Value: Decodable>: Decodable, DecodingWrapper {
    static var wrapped: Any.Type { Value.self }
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try EvolvingReader.current?.decode(Value.self, from: decoder) ?? Value(from: decoder)
    }
}

/// An element of a collection, or the error because of which it can't be decoded.
struct EvolvingElement<Value> {
    let key: String
    let result: Result<Value, any Error>
    /// The place inside the element that has caused the error.
    var failing: [String]?

    var value: Value? {
        if case .success(let value) = result { return value }
        return nil
    }

    var error: (any Error)? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// Returns the element with another value, or with its error or the one that `transform` throws.
    func map<Other>(_ transform: (Value) throws -> Other) -> EvolvingElement<Other> {
        do {
            return EvolvingElement<Other>(key: key, result: .success(try transform(result.get())))
        } catch {
            return EvolvingElement<Other>(key: key, result: .failure(error), failing: failing)
        }
    }
}

extension EvolvingElement: Decodable, DecodingWrapper where Value: Decodable {
    static var wrapped: Any.Type { Value.self }

    init(from decoder: any Decoder) throws {
        let key = decoder.codingPath.last
        let name = key?.intValue?.description ?? key?.stringValue ?? ""
        guard let reader = EvolvingReader.current else {
            self.init(key: name, result: .success(try Value(from: decoder)))
            return
        }
        self = reader.element(at: name) { try reader.decode(Value.self, from: decoder) }
    }
}

/// A key of a dictionary; each is another one, readable or not.
struct EvolvingKey<Value: Decodable>: Decodable, Hashable {
    let element: EvolvingElement<Value>

    init(from decoder: any Decoder) throws { element = try EvolvingElement(from: decoder) }
    static func == (left: Self, right: Self) -> Bool { left.element.key == right.element.key }
    func hash(into hasher: inout Hasher) { hasher.combine(element.key) }
}

/// A decoder whose members are read by an `EvolvingReader`.
struct EvolvingDecoder: Decoder, SingleValueDecodingContainer {
    let base: any Decoder
    let reader: EvolvingReader
    let place: EvolvingPlace
    /// Whether the type of the enclosing value opens this place itself, so that no member is replaced if that fails.
    var isPart = false

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    private func open<Container>(_ open: (any Decoder) throws -> Container) throws -> Container {
        isPart ? try reader.part(at: place) { try open(base) } : try open(base)
    }

    func container<Key>(keyedBy key: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let container = try open { try $0.container(keyedBy: key) }
        return KeyedDecodingContainer(EvolvingMembers(base: container, reader: reader, place: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        EvolvingElements(base: try open { try $0.unkeyedContainer() }, reader: reader, place: place)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { base.isNil }

    @_semantics("optimize.sil.specialize.generic.never")
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try reader.at(place) {
            let decode = { try reader.decode(type, from: base) }
            guard isPart, let value = try reader.member(type, isStored: true, decode) else { return try decode() }
            return value
        }
    }
}

extension Decoder {
    /// Whether the value is null.
    fileprivate var isNil: Bool {
        do { return try singleValueContainer().decodeNil() } catch { return false }
    }
}

/// The members of a dictionary, read by an `EvolvingReader`.
private struct EvolvingMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    let reader: EvolvingReader
    let place: EvolvingPlace

    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    func contains(_ key: Key) -> Bool { base.contains(key) }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard !base.contains(key) else { return try base.decodeNil(forKey: key) }
        var place = place.inside(key.stringValue)
        if place.fallback == nil { place.fallback = PropertyListValue(nested: nil) }
        return try reader.defaultDecoder(at: place, isStored: false)?.isNil
            ?? reader.part(at: place) { try base.decodeNil(forKey: key) }
    }

    @_semantics("optimize.sil.specialize.generic.never")
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let value = try reader.at(place.inside(key.stringValue)) {
            try reader.member(type, isStored: base.contains(key)) {
                try base.decode(Evolved<Value>.self, forKey: key).value
            }
        }
        return try value ?? base.decode(type, forKey: key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try ifPresent(type, key)
    }

    // The generic method isn't used for scalars, for which the protocol has default implementations that call `decode`.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try ifPresent(type, key) }

    @_semantics("optimize.sil.specialize.generic.never")
    private func ifPresent<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        guard base.contains(key), try !base.decodeNil(forKey: key) else { return nil }
        return try reader.at(place.inside(key.stringValue)) {
            try reader.member(type, isStored: true, isOptional: true) {
                try base.decode(Evolved<Value>.self, forKey: key).value
            }
        }
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        var decoder: (any Decoder)?
        do { decoder = try base.superDecoder() } catch {}  // the key is missing, for which Foundation's JSON has null
        return try part(decoder?.isNil ?? true ? nil : decoder, at: "super")
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        let isMissing = !base.contains(key) && place.inside(key.stringValue).fallback != nil
        return try part(isMissing ? nil : base.superDecoder(forKey: key), at: key.stringValue)
    }

    private func part(_ stored: (any Decoder)?, at key: String) throws -> any Decoder {
        let place = place.inside(key)
        if let decoder = try reader.defaultDecoder(at: place, isStored: stored != nil) {
            return EvolvingDecoder(base: decoder, reader: reader, place: place)
        }
        let decoder = try reader.part(at: place) { () throws(PreferenceError) in
            guard let stored else { throw PreferenceError(.unreadable, "missing key \"\(key)\"") }
            return stored
        }
        return EvolvingDecoder(base: decoder, reader: reader, place: place, isPart: true)
    }
}

/// The elements of an array that a type decodes itself, whose members are read by an `EvolvingReader`.
private struct EvolvingElements: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer
    let reader: EvolvingReader
    let place: EvolvingPlace

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    @_semantics("optimize.sil.specialize.generic.never")
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try reader.at(place) {
            try reader.ownElement(at: base.currentIndex.description) { try base.decode(Evolved<Value>.self).value }
        }
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let element = place.element(base.currentIndex.description)
        return EvolvingDecoder(base: try base.superDecoder(), reader: reader, place: element)
    }
}
