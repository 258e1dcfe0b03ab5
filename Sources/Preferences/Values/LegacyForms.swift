#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The result of reading a stored value that another coding, or another library's wrapper, has written for the type.
///
/// It looks up the type's conformances, which is slow, so it is used only if the declared coding has failed. The errors of its
/// attempts are dropped, because the error of the declared coding says what was expected.
enum LegacyForms<Value> {
    case value(Value)
    /// JSON's null, for a type that has `nil`.
    case null
    case nothing

    /// Creates the result by trying the type's own conformance, its raw value, JSON, nested stored values, and each element by
    /// itself, in this order.
    init(of stored: PropertyListValue) {
        guard stored.textOfUnknownForm == nil else {
            self = .nothing
            return
        }
        let attempts = [Self.native, Self.rawValue, Self.json, Self.propertyList, Self.elements]
        for attempt in attempts {
            do {
                self = try attempt(stored)
            } catch {
                self = .nothing
            }
            if case .nothing = self { continue }
            return
        }
        self = .nothing
    }

    /// Creates the result for a member or an element.
    init(ofNested stored: PropertyListValue) {
        if stored.isNestedNil, nilValue(of: Value.self) != nil {
            self = .null
        } else {
            self.init(of: stored.unnested)
        }
    }

    /// The value as an element, which is `nil` of the type for JSON's null; `nil` if nothing could be read.
    var element: Value? {
        switch self {
        case .value(let value): value
        case .null: nilValue(of: Value.self)
        case .nothing: nil
        }
    }

    private init(_ value: some Any) {
        self = reinterpreted(value, as: Value.self).map { .value($0) } ?? .nothing
    }

    private static func native(_ stored: PropertyListValue) throws -> Self {
        func open<Native: PreferenceValue>(_: Native.Type) throws -> Self { Self(try Native(storedValue: stored)) }
        // Not in `Bool.init(storedValue:)`: a type that tries to decode a boolean before a string would lose strings such as "no".
        if Value.self == Bool.self, let value = stored.booleanInText { return Self(value) }
        guard let type = Value.self as? any PreferenceValue.Type else { return .nothing }
        return try open(type)
    }

    private static func rawValue(_ stored: PropertyListValue) -> Self {
        func open<Raw: RawRepresentable>(_: Raw.Type) -> Self {
            guard let rawValue = LegacyForms<Raw.RawValue>(of: stored).element else { return .nothing }
            return Raw(rawValue: rawValue).map { Self($0) } ?? .nothing
        }
        guard let type = Value.self as? any RawRepresentable.Type else { return .nothing }
        return open(type)
    }

    private static func json(_ stored: PropertyListValue) throws -> Self {
        guard let text = JSONText(stored) else { return .nothing }
        if text.isNull { return nilValue(of: Value.self) == nil ? .nothing : .null }
        func open<Coded: Decodable>(_: Coded.Type) throws -> Self {
            try text.decode(Coded.self).map { Self($0) } ?? .nothing
        }
        if let type = Value.self as? any Decodable.Type { return try open(type) }
        return try text.decode(PropertyListValue.self).map { Self(of: $0) } ?? .nothing
    }

    private static func propertyList(_ stored: PropertyListValue) throws -> Self {
        func open<Coded: Decodable>(_: Coded.Type) throws -> Self {
            Self(try PropertyListCoder.decode(Coded.self, from: stored, readingNumbersAsDates: true))
        }
        guard let type = Value.self as? any Decodable.Type else { return .nothing }
        return try open(type)
    }

    private static func elements(_ stored: PropertyListValue) -> Self {
        func open<Collection: LegacyCollection>(_: Collection.Type) -> Self {
            switch Collection.legacyForms(of: stored) {
            case .value(let value): Self(value)
            case .null: .null
            case .nothing: .nothing
            }
        }
        guard let type = Value.self as? any LegacyCollection.Type else { return .nothing }
        return open(type)
    }
}

/// A type with elements, each of which may be stored in another way.
private protocol LegacyCollection {
    static func legacyForms(of stored: PropertyListValue) -> LegacyForms<Self>
}

extension Optional: LegacyCollection {
    fileprivate static func legacyForms(of stored: PropertyListValue) -> LegacyForms<Self> {
        switch LegacyForms<Wrapped>(of: stored) {
        case .value(let value): .value(value)
        case .null: .null
        case .nothing: .nothing
        }
    }
}

extension Array: LegacyCollection {
    fileprivate static func legacyForms(of stored: PropertyListValue) -> LegacyForms<Self> {
        guard case .array(let elements) = stored else { return .nothing }
        var values: [Element] = []
        for element in elements {
            guard let value = LegacyForms<Element>(ofNested: element).element else { return .nothing }
            values.append(value)
        }
        return .value(values)
    }
}

extension Set: LegacyCollection {
    fileprivate static func legacyForms(of stored: PropertyListValue) -> LegacyForms<Self> {
        guard let elements = LegacyForms<[Element]>(of: stored).element else { return .nothing }
        return .value(Self(elements))
    }
}

extension Dictionary: LegacyCollection {
    fileprivate static func legacyForms(of stored: PropertyListValue) -> LegacyForms<Self> {
        guard case .dictionary(let members) = stored else { return .nothing }
        var values: Self = [:]
        for (name, member) in members {
            guard
                let key = LegacyForms<Key>(of: .string(name)).element,
                let value = LegacyForms<Value>(ofNested: member).element
            else { return .nothing }
            values[key] = value
        }
        return .value(values)
    }
}

/// A JSON text with the default strategies of Foundation's coders, which other libraries' wrappers use.
struct JSONText {
    let data: Data

    init(data: Data) {
        self.data = data
    }

    /// Creates the text of a value; returns `nil` if the value is `nil`.
    init?(encoding value: some Encodable, by encoder: JSONEncoder = .sorting) throws {
        data = try encoder.encode(value)
        if isNull { return nil }
    }

    /// Creates the text from stored data or a stored string; returns `nil` for other kinds.
    init?(_ stored: PropertyListValue) {
        switch stored {
        case .data(let data): self.data = data
        case .string(let text): data = Data(text.utf8)
        default: return nil
        }
    }

    /// Returns the value, or `nil` if the text is `null` and the type accepts that.
    func decode<Value: Decodable>(_ type: Value.Type, by decoder: JSONDecoder = JSONDecoder()) throws -> Value? {
        // Foundation's own decoding reads an identifier that the platform doesn't know as another locale.
        if !isNull, [Locale.self, Locale?.self, TimeZone.self, TimeZone?.self].contains(where: { $0 == type }) {
            return try PropertyListCoder.decode(type, from: decoder.decode(PropertyListValue.self, from: data))
        }
        let value = try decoder.decode(type, from: data)
        return isNull ? nil : value
    }

    /// Whether the text is JSON's null.
    var isNull: Bool {
        data.prefix(16).filter { !" \n\r\t".utf8.contains($0) }.elementsEqual("null".utf8)
    }
}

extension JSONEncoder {
    /// An encoder that encodes equal values to equal texts.
    static var sorting: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
