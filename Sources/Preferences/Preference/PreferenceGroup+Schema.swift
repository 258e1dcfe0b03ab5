#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceGroup {
    /// What the group declares, as a JSON Schema (https://json-schema.org) of its stored values.
    ///
    /// For those who see the values and not the source. Installed as `preferences.schema.json` beside the system's
    /// defaults of the suite, the tool `prefs` shows it and checks by it what people write:
    ///
    ///     if CommandLine.arguments.contains("--schema") { print(try GeneralPreferences().jsonSchema()) }
    ///
    /// It has each preference's description, default, type, choices (also of a `CaseIterable` type), range and length,
    /// and the types of an array's elements and a dictionary's values. What the declaration doesn't state is left out,
    /// as the closure of a rule is, or the type of what is stored by `Codable`. Values stand as in the preferences
    /// file. Nested groups are included. A preference of another suite belongs into that suite's schema, so keep it in
    /// another group.
    ///
    /// - Throws: `unencodable` if a default can't be stored.
    public func jsonSchema() throws(PreferencesError) -> String {
        var properties: [String: PropertyListValue] = [:]
        for preference in DeclaredPreferences.all(in: self) where !preference.isMember {
            properties[preference.name] = .dictionary(try preference.schema())
        }
        var bytes: [UInt8] = []
        try JSONLine.writeValue(["type": "object", "properties": .dictionary(properties)], to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension DeclaredPreference {
    /// The properties of the stored value, as JSON Schema states them.
    fileprivate func schema() throws(PreferencesError) -> [String: PropertyListValue] {
        var schema = StoredType.schema(of: valueType, coding: codingIdentifier)
        schema["description"] = declaredDescription.map { .string($0) }
        schema["default"] = try storedDefault()
        let rule = storedRule
        switch rule.kind {
        case .range:
            schema["minimum"] = rule.minimum?.finiteNumber
            schema["maximum"] = rule.maximum?.finiteNumber
        case .length:
            // Of a range only the bounds are stored.
            if !(valueType is any StoredAsBounds.Type), let (least, greatest) = StoredType.lengths(of: schema["type"]) {
                schema[least] = rule.minimum
                schema[greatest] = rule.maximum
            }
        case .any, .choices, .check: break
        }
        if !rule.choices.isEmpty { schema["enum"] = .array(rule.choices) }
        return schema
    }
}

extension AnyPreference {
    /// The kind of the stored values, in the words of JSON Schema, with `items` of arrays; empty if the type may store several.
    package var storedKind: [String: PropertyListValue] {
        StoredType.schema(of: valueType, coding: base.codingIdentifier)
    }
}

extension PropertyListValue {
    /// Itself where JSON has a number for it.
    fileprivate var finiteNumber: PropertyListValue? {
        switch self {
        case .integer, .unsigned: self
        case .real(let value) where value.isFinite: self
        default: nil
        }
    }
}

/// What a type says of its stored values.
private enum StoredType {
    /// The kind of value, in the words of JSON Schema, with what stands in it; nothing where the type may store several.
    static func schema(of type: Any.Type, coding: String) -> [String: PropertyListValue] {
        if let type = type as? any _OptionalPreferenceValue.Type { return wrapped(type, coding) }
        if coding.hasPrefix("rawValue"), let type = type as? any RawRepresentable.Type { return raw(type) }
        return coding == native ? schema(ofNative: type) : [:]
    }

    /// As `schema`, of a value inside another one.
    private static func schema(ofNested type: Any.Type) -> PropertyListValue? {
        let kind = schema(of: type, coding: native)
        guard !kind.isEmpty else { return nil }
        // Where a value has to stand, `nil` is a string.
        let isOptional = type is any _OptionalPreferenceValue.Type
        return .dictionary(isOptional ? ["anyOf": [.dictionary(kind), ["enum": ["$null"]]]] : kind)
    }

    private static let native = PreferenceCoding<Bool>.native.identifier

    private static func schema(ofNative type: Any.Type) -> [String: PropertyListValue] {
        switch type {
        case is Bool.Type: ["type": "boolean"]
        // As text where 64 bits don't hold it.
        case is Int128.Type, is UInt128.Type: ["type": ["integer", "string"]]
        case is any (FixedWidthInteger & PreferenceValue).Type: ["type": "integer"]
        case is Double.Type, is Float.Type: ["type": "number"]
        case is String.Type, is Character.Type, is URL.Type, is UUID.Type, is Decimal.Type, is Locale.Type,
            is TimeZone.Type, is Duration.Type:
            ["type": "string"]
        // As the file has them, in an object with one key.
        case is Data.Type: ["type": "object", "required": ["$data"]]
        case is Date.Type: ["type": "object", "required": ["$date"]]
        case let type as any StoredAsArray.Type: containing("array", "items", type.elementType)
        case is Rollout.Type:
            [
                "type": "object", "required": ["percent"], "additionalProperties": false,
                "properties": [
                    "percent": ["type": "number", "minimum": 0, "maximum": 100], "seed": ["type": "string"],
                ],
            ]
        case let type as any StoredAsDictionary.Type: containing("object", "additionalProperties", type.memberType)
        default: [:]
        }
    }

    private static func containing(
        _ kind: PropertyListValue,
        _ keyword: String,
        _ type: Any.Type
    ) -> [String: PropertyListValue] {
        var keywords = ["type": kind]
        keywords[keyword] = schema(ofNested: type)
        return keywords
    }

    /// The keywords for the least and the greatest length of a stored type.
    static func lengths(of type: PropertyListValue?) -> (least: String, greatest: String)? {
        switch type {
        case "string": ("minLength", "maxLength")
        case "array": ("minItems", "maxItems")
        default: nil
        }
    }

    private static func wrapped<Value: _OptionalPreferenceValue>(
        _: Value.Type,
        _ coding: String
    ) -> [String: PropertyListValue] {
        schema(of: Value.Wrapped.self, coding: coding)
    }

    private static func raw<Value: RawRepresentable>(_: Value.Type) -> [String: PropertyListValue] {
        schema(of: Value.RawValue.self, coding: native)
    }
}

private protocol StoredAsArray {
    static var elementType: Any.Type { get }
}
extension Array: StoredAsArray {
    fileprivate static var elementType: Any.Type { Element.self }
}
extension Set: StoredAsArray {
    fileprivate static var elementType: Any.Type { Element.self }
}
private protocol StoredAsBounds: StoredAsArray {}
extension Range: StoredAsBounds {
    fileprivate static var elementType: Any.Type { Bound.self }
}
extension ClosedRange: StoredAsBounds {
    fileprivate static var elementType: Any.Type { Bound.self }
}

private protocol StoredAsDictionary {
    static var memberType: Any.Type { get }
}
extension Dictionary: StoredAsDictionary {
    fileprivate static var memberType: Any.Type { Value.self }
}
