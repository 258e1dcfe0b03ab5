#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a `Value` becomes a stored value and back.
///
/// Two declarations of one name that share the value's type and the coding's identifier share their decoded value too,
/// so give codings that differ different identifiers.
public struct PreferenceCoding<Value>: Sendable {
    /// Tells this coding from others of the same type.
    public let identifier: String
    /// What to store for a value; nil means not set, and removes.
    public let encode: @Sendable (Value) throws -> PropertyListValue?
    /// The value of what is stored; nil counts as absent, an error as unreadable.
    public let decode: @Sendable (PropertyListValue) throws -> Value?

    /// Makes a coding of one's own.
    ///
    /// Both closures may run on any thread, several at once, and must not use the store.
    public init(
        _ identifier: String,
        encode: @escaping @Sendable (Value) throws -> PropertyListValue?,
        decode: @escaping @Sendable (PropertyListValue) throws -> Value?
    ) {
        self.identifier = identifier
        self.encode = encode
        self.decode = decode
    }
}

// Each reads what it writes first; what the others and older wrappers wrote for the type is tried where that fails.

extension PreferenceCoding where Value: PreferenceValue {
    /// As the type itself says.
    public static var native: PreferenceCoding {
        PreferenceCoding(adopting: "native") { value in
            try value.storedValue()
        } decode: { stored in
            try Value(storedValue: stored)
        }
    }
}

extension PreferenceCoding where Value: RawRepresentable & Sendable, Value.RawValue: PreferenceValue {
    /// As the raw value; a raw value that the type doesn't know is unreadable.
    public static var rawValue: PreferenceCoding {
        PreferenceCoding(adopting: "rawValue") { value in
            try value.rawValue.storedValue()
        } decode: { stored in
            try Value(storedRawValue: stored)
        }
    }
}

extension PreferenceCoding
where
    Value: _OptionalPreferenceValue & Sendable, Value.Wrapped: RawRepresentable, Value.Wrapped.RawValue: PreferenceValue
{
    /// As the raw value, nil as not set; a raw value that the type doesn't know is unreadable.
    public static var rawValue: PreferenceCoding {
        PreferenceCoding(adopting: "rawValue") { value in
            try value.wrapped?.rawValue.storedValue()
        } decode: { stored in
            Value(try Value.Wrapped(storedRawValue: stored))
        }
    }
}

extension PreferenceCoding where Value: Codable & Sendable {
    /// As nested stored values, nil as not set.
    public static var propertyList: PreferenceCoding {
        PreferenceCoding(adopting: "propertyList") { value in
            try PropertyListCoder.encode(value)
        } decode: { stored in
            try PropertyListCoder.decode(Value.self, from: stored)
        }
    }

    /// As JSON in data, with sorted keys, nil as not set.
    public static var json: PreferenceCoding {
        PreferenceCoding(adopting: "json") { value in
            try JSONText(encoding: value).map { .data($0.data) }
        } decode: { stored in
            guard case .data(let data) = stored else { throw stored.mismatch(Value.self) }
            return try JSONText(data: data).decode(Value.self)
        }
    }

    /// As JSON in data by coders of your choice, nil as not set.
    ///
    ///     let iso = PreferenceCoding<Event>.json("iso", encoder: { .iso }, decoder: { .iso })
    ///
    /// Let the encoder sort keys: else equal values may be stored as different data, which is a change.
    ///
    /// - Parameters:
    ///   - identifier: Tells coders that differ apart.
    ///   - encoder: Creates the encoder; called for each value, on any thread.
    ///   - decoder: Creates the decoder; called for each value, on any thread.
    public static func json(
        _ identifier: String,
        encoder: @escaping @Sendable () -> JSONEncoder = {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return encoder
        },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> PreferenceCoding {
        PreferenceCoding(adopting: "json " + identifier) { value in
            try JSONText(encoding: value, by: encoder()).map { .data($0.data) }
        } decode: { stored in
            guard case .data(let data) = stored else { throw stored.mismatch(Value.self) }
            return try JSONText(data: data).decode(Value.self, by: decoder())
        }
    }

    /// As JSON in a string, with sorted keys, nil as not set.
    public static var jsonString: PreferenceCoding {
        PreferenceCoding(adopting: "jsonString") { value in
            try JSONText(encoding: value).map { .string(String(decoding: $0.data, as: UTF8.self)) }
        } decode: { stored in
            guard case .string(let text) = stored else { throw stored.mismatch(Value.self) }
            return try JSONText(data: Data(text.utf8)).decode(Value.self)
        }
    }
}

extension PreferenceCoding {
    /// A coding whose errors are the library's, and which reads what others stored where `decode` can't.
    init(
        adopting identifier: String,
        encode: @escaping @Sendable (Value) throws -> PropertyListValue?,
        decode: @escaping @Sendable (PropertyListValue) throws -> Value?
    ) {
        self.init(identifier) { value in
            do {
                return try encode(value)
            } catch {
                throw PreferencesError(.unencodable, from: error)
            }
        } decode: { stored in
            do {
                return try decode(stored)
            } catch {
                switch Adoption<Value>(of: stored) {
                case .value(let value): return value
                case .null: return nil
                case .nothing: throw PreferencesError(.unreadable, from: error)
                }
            }
        }
    }
}

extension PreferenceCoding
where Value: RawRepresentable & Sendable, Value.RawValue: PreferenceValue & Hashable {
    /// As the raw value; a raw value of an earlier version of the type reads as the case that `aliases` names for it.
    ///
    ///     @Preference("theme", coding: .rawValue(aliases: ["night": .dark])) var theme = Theme.system
    ///
    /// The next set stores the new raw value; reading never does.
    public static func rawValue(aliases: [Value.RawValue: Value]) -> PreferenceCoding {
        PreferenceCoding(adopting: aliasIdentifier(aliases)) { value in
            try value.rawValue.storedValue()
        } decode: { stored in
            if let value = aliases[try Value.RawValue(storedValue: stored)] { return value }
            return try Value(storedRawValue: stored)
        }
    }
}

extension PreferenceCoding
where
    Value: _OptionalPreferenceValue & Sendable, Value.Wrapped: RawRepresentable & Sendable,
    Value.Wrapped.RawValue: PreferenceValue & Hashable
{
    /// As the raw value, nil as not set; a raw value of an earlier version of the type reads as the case that `aliases`
    /// names for it.
    public static func rawValue(aliases: [Value.Wrapped.RawValue: Value.Wrapped]) -> PreferenceCoding {
        PreferenceCoding(adopting: aliasIdentifier(aliases)) { value in
            try value.wrapped?.rawValue.storedValue()
        } decode: { stored in
            if let value = aliases[try Value.Wrapped.RawValue(storedValue: stored)] { return Value(value) }
            return Value(try Value.Wrapped(storedRawValue: stored))
        }
    }
}

/// Codings with different aliases read differently, so they share no decoded value.
private func aliasIdentifier<Raw: Hashable, Value: RawRepresentable>(_ aliases: [Raw: Value]) -> String {
    "rawValue " + aliases.map { "\($0)=\($1.rawValue)" }.sorted().joined(separator: ",")
}

#if canImport(Darwin)
extension PreferenceCoding where Value: NSObject & NSSecureCoding & Sendable {
    /// As a secure keyed archive in data.
    public static var secureArchive: PreferenceCoding {
        PreferenceCoding(adopting: "secureArchive") { value in
            .data(try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true))
        } decode: { stored in
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: try Data(storedValue: stored))
        }
    }
}

extension PreferenceCoding
where Value: _OptionalPreferenceValue & Sendable, Value.Wrapped: NSObject & NSSecureCoding & Sendable {
    /// As a secure keyed archive in data, nil as not set.
    public static var secureArchive: PreferenceCoding {
        PreferenceCoding(adopting: "secureArchive") { value in
            try value.wrapped.map {
                .data(try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true))
            }
        } decode: { stored in
            let data = try Data(storedValue: stored)
            return try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.Wrapped.self, from: data).map { Value($0) }
        }
    }
}
#endif
