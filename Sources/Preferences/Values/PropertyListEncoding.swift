/// The encoder of one value, into which its containers write.
final class PropertyListEncoding: Encoder {
    let location: CodingLocation
    private var content = Content.nothing
    private var elements: [PropertyListValue] = []
    private var members: [String: PropertyListValue] = [:]
    /// The nested containers and super encoders, whose owners may write to them until this encoder finishes.
    private var pending: [(place: Place, encoding: PropertyListEncoding)] = []

    private enum Content {
        case nothing, null, single(PropertyListValue), elements, members
    }

    private enum Place {
        case index(Int), name(String)
    }

    private init(at location: CodingLocation) {
        self.location = location
    }

    var codingPath: [any CodingKey] { location.path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the stored form of a value, or `nil` if the value is `nil`.
    @_semantics("optimize.sil.specialize.generic.never")
    static func encode<Value: Encodable>(
        _ value: Value,
        at location: @autoclosure () -> CodingLocation
    ) throws -> PropertyListValue? {
        if let stored = try NativeValue.stored(value) { return stored }
        let encoding = PropertyListEncoding(at: location())
        guard !encoding.location.isTooDeep else { throw encoding.tooDeep(value) }
        try value.encode(to: encoding)
        let stored = try encoding.finish(value)
        // The conformance is looked up only for arrays, because the types that conform encode themselves as arrays.
        if case .array(let elements) = stored, let type = Value.self as? any UnorderedCollection.Type {
            return type.ordered(elements)
        }
        return stored
    }

    private func finish(_ value: Any) throws -> PropertyListValue? {
        for (place, encoding) in pending {
            let stored = PropertyListValue(nested: try encoding.finish(value))
            switch place {
            case .index(let index): elements[index] = stored
            case .name(let name): members[name] = stored
            }
        }
        switch content {
        case .null: return nil
        case .single(let stored): return stored
        case .elements:
            guard location.allowsContainer else { throw tooDeep(value) }
            return .array(elements)
        case .nothing, .members:
            guard location.allowsContainer else { throw tooDeep(value) }
            return .dictionary(members)
        }
    }

    private func tooDeep(_ value: Any) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: CodingLocation.tooDeep))
    }
}

// The methods that the containers call.
extension PropertyListEncoding {
    var count: Int { elements.count }

    func set(_ stored: PropertyListValue?, for key: some CodingKey) {
        members[key.stringValue] = PropertyListValue(nested: stored)
    }

    func append(_ stored: PropertyListValue?) {
        elements.append(PropertyListValue(nested: stored))
    }

    func setSingle(_ stored: PropertyListValue?) {
        content = stored.map { .single($0) } ?? .null
    }

    func encoding(for key: some CodingKey) -> PropertyListEncoding {
        let encoding = PropertyListEncoding(at: location.inside(key))
        pending.append((.name(key.stringValue), encoding))
        return encoding
    }

    func encodingOfNextElement() -> PropertyListEncoding {
        let encoding = PropertyListEncoding(at: location.inside(IndexKey(count)))
        pending.append((.index(count), encoding))
        elements.append(false)
        return encoding
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        content = .members
        // Most values have a few members; growing for each of them took a tenth of a set.
        members.reserveCapacity(6)
        return KeyedEncodingContainer(KeyedEncoding(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        content = .elements
        return UnkeyedEncoding(encoding: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

// One generic method satisfies the requirements for all scalars.
extension PropertyListEncoding: SingleValueEncodingContainer {
    func encodeNil() { setSingle(nil) }

    @_semantics("optimize.sil.specialize.generic.never")
    func encode<Value: Encodable>(_ value: Value) throws {
        setSingle(try Self.encode(value, at: location.ofSingleValue))
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: PropertyListEncoding
    var codingPath: [any CodingKey] { encoding.codingPath }

    func encodeNil(forKey key: Key) { encoding.set(nil, for: key) }

    @_semantics("optimize.sil.specialize.generic.never")
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        encoding.set(try PropertyListEncoding.encode(value, at: encoding.location.inside(key)), for: key)
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        encoding.encoding(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoding.encoding(for: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoding.encoding(for: SuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { encoding.encoding(for: key) }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoding: PropertyListEncoding
    var codingPath: [any CodingKey] { encoding.codingPath }
    var count: Int { encoding.count }

    func encodeNil() { encoding.append(nil) }

    @_semantics("optimize.sil.specialize.generic.never")
    func encode<Value: Encodable>(_ value: Value) throws {
        encoding.append(try PropertyListEncoding.encode(value, at: encoding.location.inside(IndexKey(count))))
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoding.encodingOfNextElement().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoding.encodingOfNextElement().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoding.encodingOfNextElement() }
}

/// A collection whose `Codable` form is an array without a fixed order, even that of some dictionaries.
protocol UnorderedCollection {
    /// Returns the stored form, in a fixed order, of the elements in the order in which the standard library wrote them.
    static func ordered(_ elements: [PropertyListValue]) -> PropertyListValue
    /// Returns the array that the standard library's `init(from:)` reads for a stored dictionary, or `nil` if it doesn't read one.
    static func elements(of members: [String: PropertyListValue]) -> [PropertyListValue]?
}

extension Set: UnorderedCollection {
    /// Returns the elements in a fixed order, so that equal sets have equal stored values.
    static func ordered(_ elements: [PropertyListValue]) -> PropertyListValue {
        .array(elements.inOrder)
    }

    static func elements(of members: [String: PropertyListValue]) -> [PropertyListValue]? { nil }
}

extension Dictionary: UnorderedCollection {
    /// Returns a dictionary if all keys are different strings or integers; else the pairs, in the order of their keys.
    static func ordered(_ elements: [PropertyListValue]) -> PropertyListValue {
        let pairs = stride(from: 0, to: elements.count, by: 2).map { (key: elements[$0], value: elements[$0 + 1]) }
        var members = [String: PropertyListValue](minimumCapacity: pairs.count)
        for (key, value) in pairs {
            if let name = key.nameAsKey { members[name] = value }
        }
        if members.count == pairs.count { return .dictionary(members) }
        return .array(pairs.map(\.key).order.flatMap { [pairs[$0].key, pairs[$0].value] })
    }

    static func elements(of members: [String: PropertyListValue]) -> [PropertyListValue]? {
        members.flatMap { [PropertyListValue(nested: .string($0.key)), $0.value] }
    }
}

extension PropertyListValue {
    /// The name that a key has in a stored dictionary, or nil if it has none.
    var nameAsKey: String? {
        switch self {
        case .string where isNestedNil: nil
        case .string: if case .string(let name) = unnested { name } else { nil }
        case .integer(let number): number.description
        case .unsigned(let number): number.description
        default: nil
        }
    }
}
