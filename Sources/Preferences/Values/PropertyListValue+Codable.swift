#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue: Codable {
    /// Encodes the value so that every coder decodes it exactly.
    ///
    /// The library's own coder needs no conversion. For other coders, kinds that they might lack are tagged as in the preferences
    /// file, `{"$data":"base64"}`, `{"$date":"2026-11-20T22:00:00Z"}`, `{"$real":"nan"}`, and a key that starts with `$` gets another
    /// one. Reals without a fraction are tagged, too, `{"$real":"2.0"}`, because a JSON coder writes them as integers.
    public func encode(to encoder: any Encoder) throws {
        if let encoding = encoder as? PropertyListEncoding { return encoding.setSingle(self) }
        switch self {
        case .boolean(let value): try encoder.encodeSingle(value)
        case .integer(let value): try encoder.encodeSingle(value)
        case .unsigned(let value): try encoder.encodeSingle(value)
        case .real(let value):
            if value.isFinite, value.rounded() != value {
                try encoder.encodeSingle(value)
            } else {
                try encoder.encode(value.description, as: .real)
            }
        case .string(let value): try encoder.encodeSingle(value)
        case .data(let value): try encoder.encode(value.base64EncodedString(), as: .data)
        case .date(let value):
            let seconds = value.timeIntervalSinceReferenceDate
            if let text = DateText.text(forSeconds: seconds) {
                try encoder.encode(text, as: .date)
            } else if seconds.isFinite {
                try encoder.encode(seconds, as: .date)
            } else {
                try encoder.encode(seconds.description, as: .date)
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .dictionary(let members):
            var container = encoder.container(keyedBy: NameKey.self)
            for (name, member) in members {
                try container.encode(member, forKey: NameKey(stringValue: name.hasDollars(1) ? "$" + name : name))
            }
        }
    }

    /// Decodes the form of `encode(to:)`, and any other data of the same kinds; throws for null.
    public init(from decoder: any Decoder) throws {
        if let decoding = decoder as? PropertyListDecoding {
            self = decoding.nativeValue
        } else if let container = Self.attempt({ try decoder.container(keyedBy: NameKey.self) }) {
            self = try Self(container)
        } else if var container = Self.attempt({ try decoder.unkeyedContainer() }) {
            var elements: [PropertyListValue] = []
            while !container.isAtEnd { elements.append(try container.decode(PropertyListValue.self)) }
            self = .array(elements)
        } else {
            self = try Self(try decoder.singleValueContainer())
        }
    }

    /// Returns the result of `body`, or `nil` if it throws: a decoder's value has another kind if decoding it fails.
    private static func attempt<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            return nil  // Any error: Foundation's JSON decoder throws its own type for a number that doesn't fit.
        }
    }

    private init(_ container: any SingleValueDecodingContainer) throws {
        if let value = Self.attempt({ try container.decode(Bool.self) }) {
            self = .boolean(value)
        } else if let value = Self.attempt({ try container.decode(Int64.self) }) {
            self = .integer(value)
        } else if let value = Self.attempt({ try container.decode(UInt64.self) }) {
            self = .unsigned(value)
        } else if let value = Self.attempt({ try container.decode(Double.self) }) {
            self = .real(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    private init(_ container: KeyedDecodingContainer<NameKey>) throws {
        var members: [String: PropertyListValue] = [:]
        for key in container.allKeys {
            let name = key.stringValue
            if name.hasDollars(2) {
                members[String(Substring(name.utf8.dropFirst()))] = try container.decode(
                    PropertyListValue.self,
                    forKey: key
                )
            } else if !name.hasDollars(1) {
                members[name] = try container.decode(PropertyListValue.self, forKey: key)
            } else if let tag = Tag(rawValue: name), container.allKeys.count == 1 {
                self = try Self(tag, of: container, key)
                return
            } else {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "unknown tag")
            }
        }
        self = .dictionary(members)
    }

    private init(_ tag: Tag, of container: KeyedDecodingContainer<NameKey>, _ key: NameKey) throws {
        let seconds = tag == .date ? Self.attempt { try container.decode(Double.self, forKey: key) } : nil
        let text = seconds == nil ? try container.decode(String.self, forKey: key) : ""
        let value: PropertyListValue? =
            switch tag {
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .real: Double(text).map { .real($0) }
            case .date:
                (seconds ?? Double(text) ?? DateText.seconds(of: text)).map {
                    .date(Date(timeIntervalSinceReferenceDate: $0))
                }
            }
        guard let value else {
            throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "malformed value")
        }
        self = value
    }
}

private enum Tag: String {
    case data = "$data"
    case date = "$date"
    case real = "$real"
}

extension String {
    /// Returns whether the text starts with `count` dollars; by bytes, because a dollar with an accent is another character.
    fileprivate func hasDollars(_ count: Int) -> Bool {
        utf8.starts(with: repeatElement(UInt8(ascii: "$"), count: count))
    }
}

extension Encoder {
    fileprivate func encodeSingle(_ value: some Encodable) throws {
        var container = singleValueContainer()
        try container.encode(value)
    }

    fileprivate func encode(_ value: some Encodable, as tag: Tag) throws {
        var container = container(keyedBy: NameKey.self)
        try container.encode(value, forKey: NameKey(stringValue: tag.rawValue))
    }
}
