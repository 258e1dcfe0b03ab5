internal import DurableFile

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PreferenceGroup {
    /// What the group declares, as a JSON Schema (https://json-schema.org) of its stored values.
    ///
    /// For those who see the values and not the source. Installed as `preferences.schema.json` beside the system's
    /// defaults of the suite, the tool `prefs` shows it and checks by it what people write; a program may install it
    /// by itself, see `installSchema()`:
    ///
    ///     if CommandLine.arguments.contains("--schema") { print(try GeneralPreferences().jsonSchema()) }
    ///
    /// It has each preference's description, default, type, choices (also of a `CaseIterable` type), range and length,
    /// and the types of an array's elements and a dictionary's values. An integer type of fewer than 64 bits has its own
    /// bounds, an unsigned one of 64 bits the bound 0. What the declaration doesn't state is left out, as the closure of a
    /// rule is, or the type of what is stored by `Codable`, and so is the range of a type that isn't stored as a number,
    /// such as `Date`, `Duration` or `Decimal`. A secret is `writeOnly`, and has its description and type alone. Values stand as in
    /// the preferences file. Nested groups are included. A preference of another suite belongs into that suite's schema, so keep it
    /// in another group.
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

    /// Writes `jsonSchema()` beside the file that the group's preferences are stored in, so that the tool `prefs` finds it.
    ///
    ///     try GeneralPreferences().installSchema()
    ///
    /// Call it when the program starts, once for each group. The file is `preferences.schema.json` in the folder of the
    /// user's file of the suite, or of the file of `PreferenceStore.file(at:durability:)`. A file that is up to date is
    /// read and not written. Else it is replaced in one step, also if several programs do so at the same time, with
    /// the permissions that a preferences file has; the folder is made if it is missing.
    ///
    /// Groups that share the file keep their own parts of it: a call replaces the properties that the same type has
    /// written before, so that a removed preference goes, and leaves all others, as all else that stands in the file, such
    /// as `$schema`. Types of the same name in one module, as private ones may be, count as one. Of a name that two types
    /// declare, the file has what the first of them has written, until the file is removed; so remove it after a type
    /// is renamed. A file that is no JSON object, or nested deeper than 128 levels, is replaced.
    ///
    /// The group's store is that of most of its preferences, of as many the first one's. A preference in another store
    /// is left out. If the store has no file, as in memory, on user defaults, inside `withIsolatedStores` or in a test
    /// process, nothing happens. Blocks while the file is written, on any thread.
    ///
    /// - Throws: `unencodable` if a default can't be stored, `notPermitted` if the file or its folder can't be written or
    ///   belongs to another user, `busy` if another process is writing the file for 5 s, and `unavailable` if the
    ///   system fails; the file is unchanged then. `notDurable` if it is written but may not survive a loss of power.
    public func installSchema() throws(PreferencesError) {
        let declared = DeclaredPreferences.all(in: self).filter { !$0.isMember }
        guard let store = declared.mostCommonStore else { return }
        let layers = store.resolved.core.layers
        guard let backend = layers.writable?.backend as? FileBackend else { return }
        let path = LogPath(path: backend.path).sibling("preferences.schema.json")
        var part = SchemaPart(of: Self.self, scope: layers.writablePrefix ?? "")
        for preference in declared where preference.store === store {
            try part.add(preference.name, try preference.schema())
        }
        var failure: PreferencesError?
        do {
            try WholeFile(path: path).update { old in
                do throws(PreferencesError) { return try part.installed(in: old) } catch {
                    failure = error
                    return nil
                }
            }
        } catch { throw PreferencesError(error, ofSchema: path) }
        if let failure { throw failure }
    }
}

extension [any DeclaredPreference] {
    /// The store that most of them have, of as many the first one's.
    fileprivate var mostCommonStore: PreferenceStore? {
        var counts: [ObjectIdentifier: Int] = [:]
        for preference in self { counts[ObjectIdentifier(preference.store), default: 0] += 1 }
        let most = counts.values.max()
        return first { counts[ObjectIdentifier($0.store)] == most }?.store
    }
}

/// The properties of a schema file that one group has written.
private struct SchemaPart {
    /// Say of each property who wrote it; JSON Schema ignores keywords that it doesn't know.
    private let marks: [String: PropertyListValue]
    private let scope: String
    private var properties: [String: PropertyListValue] = [:]

    init(of group: Any.Type, scope: String) {
        // The context of a private type is an address, which is another one in the next run.
        let name = String(reflecting: group).split(separator: ".").filter { !$0.hasPrefix("(unknown context") }
        var marks: [String: PropertyListValue] = ["x-group": .string(name.joined(separator: "."))]
        // Each scope of a store has its own copy of the group.
        if !scope.isEmpty { marks["x-scope"] = .string(scope) }
        self.marks = marks
        self.scope = scope
    }

    mutating func add(_ name: String, _ schema: [String: PropertyListValue]) throws(PreferencesError) {
        properties[scope + name] = .dictionary(schema.merging(marks) { $1 })
    }

    /// Returns the text of a schema file with these properties; of one that can't be read nothing is kept.
    func installed(in file: [UInt8]?) throws(PreferencesError) -> [UInt8] {
        var members: [String: PropertyListValue] = [:]
        if let file {
            do throws(JSONLineError) { members = try Self.plainMembers(of: file) } catch {
                // It is no schema, so there is nothing in it to keep.
            }
        }
        var all: [String: PropertyListValue] = [:]
        if case .dictionary(let old)? = members["properties"] { all = old }
        let own = try plainProperties()
        all = all.filter { !isOwn($0.value) || own[$0.key] != nil }
        // If two groups declare a name, the calls must not write in turn.
        for (name, property) in own where !isOfAnotherGroup(all[name]) { all[name] = property }
        members["type"] = "object"
        members["properties"] = .dictionary(all)
        var bytes: [UInt8] = []
        try JSONLine.writePlain(.dictionary(members), to: &bytes)
        return bytes + [UInt8(ascii: "\n")]
    }

    /// The properties in the form in which the file is read, which keeps all that others have written.
    private func plainProperties() throws(PreferencesError) -> [String: PropertyListValue] {
        var bytes: [UInt8] = []
        try JSONLine.writeValue(.dictionary(properties), to: &bytes)
        do throws(JSONLineError) { return try Self.plainMembers(of: bytes) } catch {
            // Not reached: all that is written can be read.
            throw PreferencesError(.unencodable, error.description)
        }
    }

    /// The members of any JSON object; none of another value.
    private static func plainMembers(of text: [UInt8]) throws(JSONLineError) -> [String: PropertyListValue] {
        let value = try text.withUnsafeBytes { bytes in
            Result { () throws(JSONLineError) in try JSONLine.readPlain(bytes) }
        }.get()
        if case .dictionary(let members) = value { return members }
        return [:]
    }

    private func isOwn(_ property: PropertyListValue) -> Bool {
        guard case .dictionary(let members) = property else { return false }
        return members["x-group"] == marks["x-group"] && members["x-scope"] == marks["x-scope"]
    }

    private func isOfAnotherGroup(_ property: PropertyListValue?) -> Bool {
        guard case .dictionary(let members)? = property, members["x-group"] != nil else { return false }
        return members["x-group"] != marks["x-group"] || members["x-scope"] != marks["x-scope"]
    }
}

extension PreferencesError {
    /// Why a schema can't be written.
    init(_ error: LogError, ofSchema path: String) {
        switch error {
        case .readOnly(let cause):
            self.init(
                .notPermitted,
                "the schema \(path) can't be written; nothing was changed. Check who owns the file and its folder",
                cause: cause
            )
        case .failed(let cause):
            self.init(.unavailable, "the schema \(path) can't be written; nothing was changed", cause: cause)
        case .notDurable(_, let cause):
            self.init(
                .notDurable,
                "the schema \(path) is written but may not survive a loss of power; check the disk",
                cause: cause
            )
        default: self.init(error)
        }
    }
}

extension DeclaredPreference {
    /// The properties of the stored value, as JSON Schema states them.
    fileprivate func schema() throws(PreferencesError) -> [String: PropertyListValue] {
        var schema = StoredType.schema(of: valueType, coding: codingIdentifier)
        schema["description"] = declaredDescription.map { .string($0) }
        if isSecret {
            schema["writeOnly"] = true
            return schema
        }
        schema["default"] = try storedDefault()
        let rule = storedRule
        switch rule.kind {
        case .range:
            // A bound that the rule leaves open is the type's.
            if let least = rule.minimum?.finiteNumber { schema["minimum"] = least }
            if let greatest = rule.maximum?.finiteNumber { schema["maximum"] = greatest }
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
        case let type as any (FixedWidthInteger & PreferenceValue).Type: integer(type)
        case is Double.Type, is Float.Type: ["type": "number"]
        case is String.Type, is Character.Type, is UUID.Type, is Decimal.Type, is Locale.Type, is TimeZone.Type,
            is Duration.Type:
            ["type": "string"]
        // In an object if its text could be taken for a path.
        case is URL.Type: ["type": ["string", "object"]]
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

    /// An integer with the bounds of its type, unless these are a bound of 64 bits.
    private static func integer<Integer: FixedWidthInteger>(_: Integer.Type) -> [String: PropertyListValue] {
        var keywords: [String: PropertyListValue] = ["type": "integer"]
        if let least = Int64(exactly: Integer.min), least > .min { keywords["minimum"] = .integer(least) }
        if let greatest = Int64(exactly: Integer.max), greatest < .max { keywords["maximum"] = .integer(greatest) }
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
