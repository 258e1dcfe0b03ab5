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
    /// It has each preference's default, type, choices (of a `CaseIterable` type), range of numbers
    /// and, by `descriptions`, what it is for. What the declaration doesn't tell is left out, as a validation by a
    /// closure is, or the type of what is stored by `Codable`. Values stand as in the preferences file. Nested groups
    /// are included. A preference of another suite belongs into that suite's schema, so keep it in another group.
    ///
    /// Throws where a default can't be stored, or where `descriptions` has a name that the group doesn't declare.
    public func jsonSchema(descriptions: [String: String] = [:]) throws(PreferencesError) -> String {
        var properties: [String: PropertyListValue] = [:]
        for preference in DeclaredPreferences.all(in: self) {
            var schema = try preference.schema()
            schema["description"] = descriptions[preference.name].map { .string($0) }
            properties[preference.name] = .dictionary(schema)
        }
        for name in descriptions.keys.sorted() where properties[name] == nil {
            throw PreferencesError(.misuse, name: name, "\(Self.self) declares no preference that is described so")
        }
        var bytes: [UInt8] = []
        try JSONLine.writeValue(["type": "object", "properties": .dictionary(properties)], to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Preference {
    func schema() throws(PreferencesError) -> [String: PropertyListValue] {
        let rules = declaration.rules
        var schema = StoredType.schema(of: Value.self, coding: rules.coding.identifier)
        schema["default"] = try stored(defaultValue)
        if let bounds = rules.validation?.bounds {
            schema["minimum"] = try stored(bounds.least).flatMap(\.finiteNumber)
            schema["maximum"] = try stored(bounds.greatest).flatMap(\.finiteNumber)
        }
        if let choices = StoredType.choices(of: Value.self) {
            var stored: [PropertyListValue] = []
            for choice in choices { if let value = try self.stored(choice) { stored.append(value) } }
            schema["enum"] = .array(stored)
        }
        return schema
    }

    private func stored(_ value: Value) throws(PreferencesError) -> PropertyListValue? {
        try PreferenceRules(coding: declaration.rules.coding, validation: nil).encode(value, name: name)
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
    /// The kind of value, in the words of JSON Schema; nothing where the type may store several.
    static func schema(of type: Any.Type, coding: String) -> [String: PropertyListValue] {
        if let type = type as? any OptionalPreferenceValue.Type { return wrapped(type, coding) }
        if coding.hasPrefix("rawValue"), let type = type as? any RawRepresentable.Type { return raw(type) }
        return coding == native ? schema(ofNative: type) : [:]
    }

    private static let native = PreferenceCoding<Bool>.native.identifier

    private static func schema(ofNative type: Any.Type) -> [String: PropertyListValue] {
        switch type {
        case is Bool.Type: ["type": "boolean"]
        case is Int128.Type, is UInt128.Type: [:]
        case is any (FixedWidthInteger & PreferenceValue).Type: ["type": "integer"]
        case is Double.Type, is Float.Type: ["type": "number"]
        case is String.Type, is Character.Type, is URL.Type, is UUID.Type, is Decimal.Type, is Locale.Type,
            is TimeZone.Type:
            ["type": "string"]
        // As the file has them, in an object with one key.
        case is Data.Type: ["type": "object", "required": ["$data"]]
        case is Date.Type: ["type": "object", "required": ["$date"]]
        case is any StoredAsArray.Type: ["type": "array"]
        default: [:]
        }
    }

    /// All values of a type that has few.
    static func choices<Value>(of type: Value.Type) -> [Value]? {
        switch type {
        case let type as any CaseIterable.Type: all(type) as? [Value]
        case let type as any OptionalPreferenceValue.Type: wrappedChoices(type) as? [Value]
        default: nil
        }
    }

    private static func wrapped<Value: OptionalPreferenceValue>(
        _: Value.Type,
        _ coding: String
    ) -> [String: PropertyListValue] {
        schema(of: Value.Wrapped.self, coding: coding)
    }

    private static func raw<Value: RawRepresentable>(_: Value.Type) -> [String: PropertyListValue] {
        schema(of: Value.RawValue.self, coding: native)
    }

    private static func all<Value: CaseIterable>(_: Value.Type) -> [Value] { Array(Value.allCases) }

    private static func wrappedChoices<Value: OptionalPreferenceValue>(_: Value.Type) -> [Value]? {
        choices(of: Value.Wrapped.self)?.map { Value($0) }
    }
}

private protocol StoredAsArray {}
extension Array: StoredAsArray {}
extension Set: StoredAsArray {}
