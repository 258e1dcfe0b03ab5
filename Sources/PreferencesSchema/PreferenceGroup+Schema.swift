public import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceGroup {
    /// Returns a JSON Schema (https://json-schema.org) of the stored values that the group declares.
    ///
    /// It describes the values to users and tools that don't have the source. If it is installed as `preferences.schema.json` next
    /// to the system's defaults of the suite, the tool `prefs` shows it and checks values against it before it writes them. A program
    /// can install it with `installSchema()`, or print it for an installer:
    ///
    ///     if CommandLine.arguments.contains("--schema") { print(try GeneralPreferences().jsonSchema()) }
    ///
    /// The schema has each preference's description, default, type, choices (also those of a `CaseIterable` type), range and length,
    /// and the types of an array's elements and a dictionary's values. Values are in the form of the preferences file. An integer
    /// type of fewer than 64 bits has its own bounds, an unsigned one of 64 bits the bound 0. If two rules have the same keyword, the
    /// further rules are in `allOf`. A secret is `writeOnly`; it has no default and no rules.
    ///
    /// These keywords have the other options of a declaration; apart from the first two, JSON Schema doesn't know them:
    ///
    /// | keyword | value |
    /// |---|---|
    /// | `title` | the text of `.title` |
    /// | `deprecated` | `true` for a deprecated preference |
    /// | `x-deprecation` | what to do instead, the text of `.deprecated` |
    /// | `x-section` | the text of `.section` |
    /// | `x-formerly` | the former names, in the order in which they are read |
    /// | `x-requirement` | what a value must be by the rule `.check` |
    /// | `x-required` | `true` if the value can't be `nil`; JSON Schema's `required` would demand it of each layer |
    ///
    /// The schema leaves out what can't be derived from the declaration: the closure of a rule, the type of a value that is stored
    /// by `Codable`, and the range of a type that isn't stored as a number, such as `Date`, `Duration` or `Decimal`.
    ///
    /// Nested groups are included. Declare preferences of another suite in another group, as they belong in that suite's schema.
    ///
    /// - Throws: `unencodable` if a default can't be encoded.
    public func jsonSchema() throws(PreferenceError) -> String {
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
    /// Returns the JSON Schema of the stored value.
    func schema() throws(PreferenceError) -> [String: PropertyListValue] {
        var schema = schemaWithoutDefault(StoredType.schema(of: valueType, coding: codingIdentifier))
        if !isSecret { schema["default"] = try storedDefault() }
        return schema
    }

    /// Returns the JSON Schema of a value whose type has these keywords.
    ///
    /// - Parameter ofOwnForms: Whether the rules are in the form that the type has by itself.
    fileprivate func schemaWithoutDefault(
        _ type: [String: PropertyListValue],
        ofOwnForms: Bool = false
    ) -> [String: PropertyListValue] {
        var schema = type
        var ruled: Set<String> = []
        schema["description"] = declaredDescription.map { .string($0) }
        if let options {
            schema["title"] = options.title.map { .string($0) }
            schema["x-section"] = options.section.map { .string($0) }
            if let deprecation = options.deprecation {
                schema["deprecated"] = true
                schema["x-deprecation"] = .string(deprecation)
            }
            // Those of another preference are ignored.
            let used = store.resolved.core.declaredFormerNames(of: name)
            let formerNames = options.formerNames.filter(used.contains)
            if !formerNames.isEmpty { schema["x-formerly"] = .array(formerNames.map { .string($0) }) }
        }
        // Not `required`, as another layer may have the value.
        if isRequired { schema["x-required"] = true }
        if isSecret {
            schema["writeOnly"] = true
            return schema
        }
        var others: [PropertyListValue] = []
        for rule in rules(ofOwnForms: ofOwnForms) {
            let keywords = keywords(of: rule, for: schema["type"])
            // A keyword of the type itself, such as the minimum of an unsigned integer, is replaced by a rule's.
            if ruled.isDisjoint(with: keywords.keys) {
                schema.merge(keywords) { $1 }
                ruled.formUnion(keywords.keys)
            } else {
                others.append(.dictionary(keywords))
            }
        }
        if !others.isEmpty { schema["allOf"] = .array(others) }
        return schema
    }

    /// Returns the JSON Schema keywords of a rule for a stored type.
    private func keywords(of rule: PreferenceRule, for type: PropertyListValue?) -> [String: PropertyListValue] {
        var keywords: [String: PropertyListValue] = [:]
        switch rule.kind {
        case .range:
            keywords["minimum"] = rule.minimum?.finiteNumber
            keywords["maximum"] = rule.maximum?.finiteNumber
        case .choices:
            if !rule.choices.isEmpty { keywords["enum"] = .array(rule.choices) }
        case .length:
            // A range is stored as its bounds, so its length isn't that of the stored array.
            if !(valueType is any StoredAsBounds.Type),
                let (minimum, maximum) = StoredType.lengthKeywords(of: type)
            {
                keywords[minimum] = rule.minimum
                keywords[maximum] = rule.maximum
            }
        case .check:
            if !rule.requirement.isEmpty { keywords["x-requirement"] = .string(rule.requirement) }
        }
        return keywords
    }
}

extension AnyPreference {
    /// The JSON Schema keywords of the stored values' type, with `items` for arrays; empty if the type may store values of several
    /// kinds.
    package var storedKind: [String: PropertyListValue] {
        StoredType.schema(of: valueType, coding: base.codingIdentifier)
    }

    /// The control with which a form shows the value: for a simple type by the type, also if a coding stores it in another form, else
    /// by the stored form.
    package var control: PreferenceControl {
        let type = isEditedAsItself ? StoredType.schema(of: valueType) : storedKind
        return PreferenceControl(base.schemaWithoutDefault(type, ofOwnForms: isEditedAsItself))
    }

    /// Whether controls edit the form that the type has by itself, whichever coding stores it.
    package var isEditedAsItself: Bool {
        StoredType.isSimple((valueType as? any _OptionalPreferenceValue.Type)?.wrappedType ?? valueType)
    }
}

extension PropertyListValue {
    /// The value itself if it is a number that JSON can represent.
    fileprivate var finiteNumber: PropertyListValue? {
        switch self {
        case .integer, .unsigned: self
        case .real(let value) where value.isFinite: self
        default: nil
        }
    }
}

/// The JSON Schema of a type's stored values.
private enum StoredType {
    /// Returns the keywords for a type and its elements or members; empty if the type may store values of several kinds.
    static func schema(of type: Any.Type, coding: String) -> [String: PropertyListValue] {
        if let type = type as? any _OptionalPreferenceValue.Type { return wrapped(type, coding) }
        if coding.hasPrefix("rawValue"), let type = type as? any RawRepresentable.Type { return raw(type) }
        return coding == native ? schema(ofNative: type) : [:]
    }

    /// Returns the keywords for a type as if it were stored in its own form; empty for a type that has none.
    static func schema(of type: Any.Type) -> [String: PropertyListValue] { schema(of: type, coding: native) }

    /// Returns the schema of an element or a member; `nil` if its type may store values of several kinds.
    private static func schema(ofNested type: Any.Type) -> PropertyListValue? {
        let kind = schema(of: type, coding: native)
        guard !kind.isEmpty else { return nil }
        // Inside a collection `nil` is stored as a string.
        let isOptional = type is any _OptionalPreferenceValue.Type
        return .dictionary(isOptional ? ["anyOf": [.dictionary(kind), ["enum": ["$null"]]]] : kind)
    }

    /// Returns whether a type has one form by itself that a person can edit.
    static func isSimple(_ type: Any.Type) -> Bool {
        switch type {
        case is Bool.Type, is String.Type, is Date.Type, is Double.Type, is Float.Type: true
        default: type is any (FixedWidthInteger & PreferenceValue).Type
        }
    }

    private static let native = PreferenceCoding<Bool>.native.identifier

    private static func schema(ofNative type: Any.Type) -> [String: PropertyListValue] {
        switch type {
        case is Bool.Type: ["type": "boolean"]
        // As text if it doesn't fit 64 bits.
        case is Int128.Type, is UInt128.Type: ["type": ["integer", "string"]]
        case let type as any (FixedWidthInteger & PreferenceValue).Type: integer(type)
        case is Double.Type, is Float.Type: ["type": "number"]
        case is String.Type, is Character.Type, is UUID.Type, is Decimal.Type, is Locale.Type, is TimeZone.Type,
            is Duration.Type:
            ["type": "string"]
        // In an object if its text looks like a path.
        case is URL.Type: ["type": ["string", "object"]]
        // In the form of the file, an object with one key.
        case is Data.Type: ["type": "object", "required": ["$data"]]
        case is Date.Type: ["type": "object", "required": ["$date"]]
        case let type as any StoredAsArray.Type: containing("array", "items", type.elementType)
        case let type as any StoredAsDictionary.Type: containing("object", "additionalProperties", type.memberType)
        default: [:]
        }
    }

    /// Returns the keywords for an integer type, with its bounds unless they are those of 64 bits.
    private static func integer<Integer: FixedWidthInteger>(_: Integer.Type) -> [String: PropertyListValue] {
        var keywords: [String: PropertyListValue] = ["type": "integer"]
        if let minimum = Int64(exactly: Integer.min), minimum > .min { keywords["minimum"] = .integer(minimum) }
        if let maximum = Int64(exactly: Integer.max), maximum < .max { keywords["maximum"] = .integer(maximum) }
        return keywords
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

    /// Returns the keywords for the minimum and the maximum length of a stored type.
    static func lengthKeywords(of type: PropertyListValue?) -> (minimum: String, maximum: String)? {
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
