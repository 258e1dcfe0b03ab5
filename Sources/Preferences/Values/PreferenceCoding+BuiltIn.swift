#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
    Value: OptionalPreferenceValue & Sendable, Value.Wrapped: RawRepresentable, Value.Wrapped.RawValue: PreferenceValue
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
