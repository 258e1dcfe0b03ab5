#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A JSON text as nested values, so that the members of a value that is stored as text can be merged.
///
/// JSON has no data: null is data without bytes, and a number that a `Double` doesn't have exactly is data with its digits.
struct JSONTree: Codable {
    let value: PropertyListValue

    fileprivate static let null = PropertyListValue.data(Data())

    init(_ value: PropertyListValue) { self.value = value }

    /// Creates the tree of a text; throws if it is none.
    init(text: Data, allowsJSON5: Bool = false) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = allowsJSON5
        self = try decoder.decode(JSONTree.self, from: text)
    }

    /// Returns the text, in the format that an encoder writes.
    func text(formattedAs encoder: JSONEncoder) throws -> Data {
        let own = JSONEncoder()
        own.outputFormatting = encoder.outputFormatting
        return try own.encode(self)
    }

    init(from decoder: any Decoder) throws {
        if let members = Self.attempt({ try decoder.container(keyedBy: NameKey.self) }) {
            var values: [String: PropertyListValue] = [:]
            for key in members.allKeys {
                values[key.stringValue] = try members.decode(JSONTree.self, forKey: key).value
            }
            value = .dictionary(values)
        } else if var elements = Self.attempt({ try decoder.unkeyedContainer() }) {
            var values: [PropertyListValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONTree.self).value) }
            value = .array(values)
        } else {
            value = try Self.scalar(in: try decoder.singleValueContainer())
        }
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> PropertyListValue {
        if container.decodeNil() { return null }
        if let value = attempt({ try container.decode(Bool.self) }) { return .boolean(value) }
        if let value = attempt({ try container.decode(Int64.self) }) { return .integer(value) }
        if let value = attempt({ try container.decode(UInt64.self) }) { return .unsigned(value) }
        if let value = attempt({ try container.decode(String.self) }) { return .string(value) }
        let exact = attempt { try container.decode(Decimal.self) }
        if let value = attempt({ try container.decode(Double.self) }),
            exact == nil || Decimal(string: value.description) == exact
        {
            return .real(value)
        }
        return .data(Data(try exact?.description.utf8 ?? container.decode(Decimal.self).description.utf8))
    }

    /// Returns the result of `body`, or `nil` if it throws: a value has another kind if decoding it as one fails.
    private static func attempt<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch { return nil }
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .dictionary(let members):
            var container = encoder.container(keyedBy: NameKey.self)
            for (name, member) in members { try container.encode(JSONTree(member), forKey: NameKey(stringValue: name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(JSONTree(element)) }
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case Self.null: try container.encodeNil()
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .unsigned(let value): try container.encode(value)
            case .real(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .data(let digits):
                guard let number = Decimal(string: String(decoding: digits, as: UTF8.self)) else { fallthrough }
                try container.encode(number)
            default:
                let context = EncodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "JSON has no such value"
                )
                throw EncodingError.invalidValue(value, context)
            }
        }
    }
}

extension CodedForm {
    /// Returns the members of a stored value, if it has any.
    package func tree(of stored: PropertyListValue) -> PropertyListValue? {
        let text: Data
        switch (self, stored) {
        case (.json, .dictionary), (.json, .array): return jsonForm(of: stored)
        case (_, .dictionary), (_, .array): return stored
        case (.own, _): return nil
        case (_, .data(let data)): text = data
        case (_, .string(let string)): text = Data(string.utf8)
        default: return nil
        }
        // Other data, or another string, has none.
        do { return try JSONTree(text: text, allowsJSON5: allowsJSON5).value } catch { return nil }
    }

    private var allowsJSON5: Bool { if case .json(let json) = self { json.decoder().allowsJSON5 } else { false } }

    /// Returns nested stored values as JSON has them: dates and data as the coder encodes them.
    private func jsonForm(of stored: PropertyListValue) -> PropertyListValue {
        switch stored {
        case .dictionary(let members): .dictionary(members.mapValues(jsonForm))
        case .array(let elements): .array(elements.map(jsonForm))
        case .string where stored.isNestedNil: JSONTree.null
        case .string: stored.unnested
        case .date(let date): part(of: date) ?? stored
        case .data(let data): part(of: data) ?? stored
        default: stored
        }
    }

    /// Returns the stored form of merged members, of the kind that the coding stores.
    package func form(of tree: PropertyListValue, like stored: PropertyListValue) throws -> PropertyListValue {
        guard case .json(let json) = self else { return tree.withoutNulls }
        let text = try JSONTree(tree).text(formattedAs: json.encoder())
        if case .string = stored { return .string(String(decoding: text, as: UTF8.self)) }
        return .data(text)
    }

    /// Returns the form that a value has as a member, or nil if its type can't be encoded.
    func part(of value: some Any) -> PropertyListValue? {
        guard let value = value as? any Encodable else { return nil }
        do {
            guard case .json(let json) = self else { return try PropertyListCoder.encode(value) }
            return try JSONTree(text: json.encoder().encode(value)).value
        } catch {
            return nil
        }
    }
}

extension PropertyListValue {
    /// The members of a JSON text as nested stored values, in which an absent member is nil.
    fileprivate var withoutNulls: PropertyListValue {
        switch self {
        case .dictionary(let members):
            .dictionary(members.filter { $0.value != JSONTree.null }.mapValues(\.withoutNulls))
        case .array(let elements): .array(elements.map { $0 == JSONTree.null ? .string("$null") : $0.withoutNulls })
        default: self
        }
    }
}
