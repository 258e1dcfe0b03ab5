/// A collection whose elements are decoded one by one.
protocol EvolvingCollection {
    /// Decodes the collection; returns nil if its elements aren't `Decodable`.
    static func evolved(from decoder: any Decoder, _ reader: EvolvingReader) throws -> Any?
    /// Returns the collection of a stored form; its elements conform to `PreferenceValue`.
    static func evolved(of stored: PropertyListValue, _ reader: EvolvingReader) throws -> Any?
}

extension Array: EvolvingCollection {
    static func evolved(from decoder: any Decoder, _ reader: EvolvingReader) throws -> Any? {
        func open<Coded: Decodable>(_: Coded.Type) throws -> Any {
            return try reader.readable([EvolvingElement<Coded>](from: decoder), width: 1)
        }
        return try (Element.self as? any Decodable.Type).map { try open($0) }
    }

    static func evolved(of stored: PropertyListValue, _ reader: EvolvingReader) throws -> Any? {
        let elements = try stored.elements(as: Self.self).enumerated().map { index, element in
            reader.element(at: index.description) { try reader.nestedValue(of: element, as: Element.self) }
        }
        return try reader.readable(elements, width: 1)
    }
}

extension Set: EvolvingCollection {
    static func evolved(from decoder: any Decoder, _ reader: EvolvingReader) throws -> Any? {
        reader.recordUnordered(width: 1)
        return (try [Element].evolved(from: decoder, reader) as? [Element]).map { Self($0) }
    }

    static func evolved(of stored: PropertyListValue, _ reader: EvolvingReader) throws -> Any? {
        (try [Element].evolved(of: stored, reader) as? [Element]).map { Self($0) }
    }
}

extension Dictionary: EvolvingCollection {
    static func evolved(from decoder: any Decoder, _ reader: EvolvingReader) throws -> Any? {
        func open<Coded: Decodable>(_: Coded.Type) throws -> Any? {
            if Key.self is any CodingKeyRepresentable.Type {
                _ = try decoder.container(keyedBy: NameKey.self)
                // With strings as keys: a decoder with a strategy for keys leaves those of dictionaries alone.
                let members = try decoder.singleValueContainer().decode([String: EvolvingElement<Coded>].self)
                return try self.members(of: members, reader)
            }
            return try (Key.self as? any Decodable.Type).map { try open($0, Coded.self) }
        }
        func open<CodedKey: Decodable, Coded: Decodable>(_: CodedKey.Type, _: Coded.Type) throws -> Any {
            reader.recordUnordered(width: 2)
            typealias Pairs = [EvolvingKey<CodedKey>: EvolvingElement<Coded>]
            let pairs = try decoder.singleValueContainer().decode(Pairs.self).map { key, element in
                element.map { value in (try key.element.result.get(), value) }
            }
            let members = try reader.readable(pairs, width: 2).compactMap { key, value in
                (key as? Key).map { ($0, value) }
            }
            return Dictionary<Key, Coded>(members) { _, last in last }
        }
        return try (Value.self as? any Decodable.Type).flatMap { try open($0) }
    }

    static func evolved(of stored: PropertyListValue, _ reader: EvolvingReader) throws -> Any? {
        var elements: [String: EvolvingElement<Value>] = [:]
        for (name, member) in try stored.members(as: Self.self) {
            elements[name] = reader.element(at: name) { try reader.nestedValue(of: member, as: Value.self) }
        }
        return try members(of: elements, reader)
    }

    private static func members<Coded>(of elements: [String: EvolvingElement<Coded>], _ reader: EvolvingReader) throws
        -> [Key: Coded]
    {
        let members = elements.map { name, element in
            element.map { value in
                guard let type = Key.self as? any CodingKeyRepresentable.Type,
                    let key = type.init(codingKey: NameKey(stringValue: name)) as? Key
                else { throw PreferenceError(.unreadable, "expected a key of type \(Key.self)") }
                return (key, value)
            }
        }
        return Dictionary<Key, Coded>(try reader.readable(members, width: 0)) { _, last in last }
    }
}

extension Optional: EvolvingCollection {
    static func evolved(from decoder: any Decoder, _ reader: EvolvingReader) throws -> Any? {
        func open<Coded: Decodable>(_: Coded.Type) throws -> Any {
            let container = try decoder.singleValueContainer()
            return container.decodeNil()
                ? Coded?.none as Any : Coded?.some(try reader.decode(Coded.self, from: decoder)) as Any
        }
        return try (Wrapped.self as? any Decodable.Type).map { try open($0) }
    }

    static func evolved(of stored: PropertyListValue, _ reader: EvolvingReader) throws -> Any? {
        Self.some(try reader.value(of: stored, as: Wrapped.self)) as Any
    }
}
