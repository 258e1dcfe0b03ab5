#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A conversion between values of a type and their stored form.
///
/// Declarations of the same name that have the same value type and the same `identifier` of their codings share a decoded value, so
/// give different codings different identifiers.
///
///     extension PreferenceCoding<Version> {
///         static var dotted: PreferenceCoding {
///             PreferenceCoding("dotted") { .string($0.description) } decode: { try Version(String(storedValue: $0)) }
///         }
///     }
///     @Preference("lastSeen", coding: .dotted) var lastSeen = Version(1, 0)
public struct PreferenceCoding<Value>: Sendable {
    /// The name of the coding, which differs from those of other codings of the same type.
    public let identifier: String
    /// Returns the stored form of a value, or `nil` for a value that is not set, which removes the stored value.
    public let encode: @Sendable (Value) throws -> PropertyListValue?
    /// Returns the value of a stored form, or `nil` if it counts as absent; throws if it is unreadable.
    public let decode: @Sendable (PropertyListValue) throws -> Value?
    /// How the members of a value are stored.
    let form: CodedForm

    /// Creates a custom coding.
    ///
    /// The closures may run on any thread, and on several at the same time. They must not use the store.
    ///
    /// - Parameters:
    ///   - identifier: The name of the coding, which must differ from those of other codings of the same type.
    ///   - encode: Returns the stored form of a value, or `nil` for a value that is not set, which removes the stored value.
    ///   - decode: Returns the value of a stored form, or `nil` if it counts as absent. If it throws, the stored value is reported as
    ///     `unreadable`, or with the code of a `PreferenceError` that it throws, and kept.
    public init(
        _ identifier: String,
        encode: @escaping @Sendable (Value) throws -> PropertyListValue?,
        decode: @escaping @Sendable (PropertyListValue) throws -> Value?
    ) {
        self.init(identifier, .own, encode: encode, decode: decode)
    }

    init(
        _ identifier: String,
        _ form: CodedForm,
        encode: @escaping @Sendable (Value) throws -> PropertyListValue?,
        decode: @escaping @Sendable (PropertyListValue) throws -> Value?
    ) {
        self.identifier = identifier
        self.encode = encode
        self.decode = decode
        self.form = form
    }
}

/// How the members of a value are stored.
package enum CodedForm: Sendable {
    /// In a form that only the coding knows.
    case own
    /// In the form of the type's `PreferenceValue` conformance.
    case native
    /// As nested stored values.
    case propertyList
    /// As a JSON text.
    case json(JSONForm)

    /// Whether keys are stored in another spelling than the type's.
    var changesKeys: Bool {
        guard case .json(let json) = self else { return false }
        if case .useDefaultKeys = json.encoder().keyEncodingStrategy { return false }
        return true
    }

    package var isJSON: Bool { if case .json = self { true } else { false } }
}

/// The coders of a JSON text.
package final class JSONForm: Sendable {
    let encoder: @Sendable () -> JSONEncoder
    let decoder: @Sendable () -> JSONDecoder

    /// The form of the coders that other libraries use.
    static let standard = JSONForm(encoder: { .sorting }, decoder: { JSONDecoder() })

    init(encoder: @escaping @Sendable () -> JSONEncoder, decoder: @escaping @Sendable () -> JSONDecoder) {
        self.encoder = encoder
        self.decoder = decoder
    }
}

// Each coding first tries to read its own form. If that fails, it tries the forms of the other codings and of other libraries.

extension PreferenceCoding where Value: PreferenceValue {
    /// The coding that stores a value in the form that its type defines.
    public static var native: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "native", .native) { value in
            try value.storedValue()
        } decode: { stored in
            try Value(storedValue: stored)
        }
    }
}

extension PreferenceCoding where Value: RawRepresentable & Sendable, Value.RawValue: PreferenceValue {
    /// The coding that stores the raw value; a raw value that the type doesn't know is unreadable.
    public static var rawValue: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "rawValue") { value in
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
    /// The coding that stores the raw value, and nothing for `nil`; a raw value that the type doesn't know is unreadable.
    public static var rawValue: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "rawValue") { value in
            try value.wrapped?.rawValue.storedValue()
        } decode: { stored in
            Value(try Value.Wrapped(storedRawValue: stored))
        }
    }
}

extension PreferenceCoding {
    /// Unavailable: only a type with raw values has them.
    @available(*, unavailable, message: "'.rawValue' is for types with raw values, such as 'enum Theme: String'")
    public static var rawValue: PreferenceCoding { fatalError() }
}

extension PreferenceCoding where Value: Codable & Sendable {
    /// The coding that stores a `Codable` value as nested stored values, and nothing for `nil`.
    public static var propertyList: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "propertyList", .propertyList) { value in
            try PropertyListCoder.encode(value)
        } decode: { stored in
            try PropertyListCoder.decode(Value.self, from: stored)
        }
    }

    /// The coding that stores a `Codable` value as JSON in data, with sorted keys, and nothing for `nil`.
    public static var json: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "json", .json(.standard)) { value in
            try JSONText(encoding: value).map { .data($0.data) }
        } decode: { stored in
            guard case .data(let data) = stored else { throw stored.mismatch(Value.self) }
            return try JSONText(data: data).decode(Value.self)
        }
    }

    /// Returns the coding that stores a `Codable` value as JSON in data by coders of your choice, and nothing for `nil`.
    ///
    ///     let iso = PreferenceCoding<Event>.json("iso", encoder: { .iso }, decoder: { .iso })
    ///
    /// - Parameters:
    ///   - identifier: The name of the coding, which must differ from those with other coders.
    ///   - encoder: Creates the encoder; called for each value, on any thread. By default one that sorts keys. Without sorted keys,
    ///     equal values may be stored as different data, which counts as a change.
    ///   - decoder: Creates the decoder; called for each value, on any thread. By default `JSONDecoder()`.
    public static func json(
        _ identifier: String,
        encoder: @escaping @Sendable () -> JSONEncoder = {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return encoder
        },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> PreferenceCoding {
        PreferenceCoding(
            withLegacyForms: "json " + identifier,
            .json(JSONForm(encoder: encoder, decoder: decoder))
        ) { value in
            try JSONText(encoding: value, by: encoder()).map { .data($0.data) }
        } decode: { stored in
            guard case .data(let data) = stored else { throw stored.mismatch(Value.self) }
            return try JSONText(data: data).decode(Value.self, by: decoder())
        }
    }

    /// The coding that stores a `Codable` value as JSON in a string, with sorted keys, and nothing for `nil`.
    public static var jsonString: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "jsonString", .json(.standard)) { value in
            try JSONText(encoding: value).map { .string(String(decoding: $0.data, as: UTF8.self)) }
        } decode: { stored in
            guard case .string(let text) = stored else { throw stored.mismatch(Value.self) }
            return try JSONText(data: Data(text.utf8)).decode(Value.self)
        }
    }
}

extension PreferenceCoding {
    /// Creates a coding that throws the library's errors and, if `decode` fails, reads the forms of other codings and libraries.
    // Inlined, so that the closures of a coding become one each.
    @inline(__always)
    init(
        withLegacyForms identifier: String,
        _ form: CodedForm = .own,
        encode: @escaping @Sendable (Value) throws -> PropertyListValue?,
        decode: @escaping @Sendable (PropertyListValue) throws -> Value?
    ) {
        self.init(identifier, form) { value in
            do {
                return try encode(value)
            } catch {
                throw PreferenceError(.unencodable, from: error)
            }
        } decode: { stored in
            do {
                return try decode(stored)
            } catch {
                return try Self.legacyValue(of: stored, because: error)
            }
        }
    }

    // Out of line, as it looks up the type of its result, which takes 330 instructions.
    @inline(never)
    private static func legacyValue(of stored: PropertyListValue, because error: any Error) throws -> Value? {
        switch LegacyForms<Value>(of: stored) {
        case .value(let value): return value
        case .null: return nil
        case .nothing: throw PreferenceError(.unreadable, from: error)
        }
    }
}

#if canImport(Darwin)
extension PreferenceCoding where Value: NSObject & NSSecureCoding & Sendable {
    /// The coding that stores an object as a secure keyed archive in data.
    public static var secureArchive: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "secureArchive") { value in
            .data(try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true))
        } decode: { stored in
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: try Data(storedValue: stored))
        }
    }
}

extension PreferenceCoding
where Value: _OptionalPreferenceValue & Sendable, Value.Wrapped: NSObject & NSSecureCoding & Sendable {
    /// The coding that stores an object as a secure keyed archive in data, and nothing for `nil`.
    public static var secureArchive: PreferenceCoding {
        PreferenceCoding(withLegacyForms: "secureArchive") { value in
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
