internal import DurableFile
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

    /// Writes `jsonSchema()` next to the file of the group's preferences, where the tool `prefs` finds it.
    ///
    ///     try GeneralPreferences().installSchema()
    ///
    /// Call it once for each group when the program starts. The file is `preferences.schema.json` in the folder of the user's file of
    /// the suite, or of the file of `PreferenceStore.file(at:durability:trustsOwner:)`. A file that is up to date is read and not written.
    /// Otherwise the file is replaced atomically, even if several programs do so at the same time, with the permissions of a
    /// preferences file; its folder is created if it is missing.
    ///
    /// Each group that shares the file has its own part of it. A call replaces the properties that the same type has written before,
    /// and so removes those of preferences that no longer exist. It keeps all other properties and everything else in the file, such
    /// as `$schema`. Types of the same name in one module, which private ones may be, count as one. If two types declare the same
    /// name, the file keeps the property of the one that wrote it first until the file is removed, so remove the file after renaming
    /// a type. A file that isn't a JSON object, or is nested deeper than 128 levels, is replaced.
    ///
    /// The group's store is the one that most of its preferences have; of stores with equally many, the one that is declared first.
    /// Preferences in other stores are left out. Does nothing if the store has no file: in memory, on user defaults, inside
    /// `withIsolatedStores` and in a test process. Call it on any thread; it blocks while the file is written.
    ///
    /// - Throws: `unencodable` if a default can't be encoded, `notPermitted` if the file or its folder can't be written or belongs to
    ///   another user, `busy` if another process holds the file's lock for 5 s, and `unavailable` if a system call fails; the file is
    ///   unchanged then. `notDurable` if the file is written but might not survive a loss of power.
    public func installSchema() throws(PreferenceError) {
        let declared = DeclaredPreferences.all(in: self).filter { !$0.isMember }
        guard let store = declared.mostCommonStore else { return }
        let layers = store.resolved.core.layers
        guard let backend = layers.writable?.backend as? FileBackend else { return }
        let path = LogPath(path: backend.path).sibling("preferences.schema.json")
        var part = SchemaPart(of: Self.self, scope: layers.writablePrefix ?? "")
        for preference in declared where preference.store === store {
            try part.add(preference.name, try preference.schema())
        }
        var failure: PreferenceError?
        do {
            try WholeFile(path: path, trustsOwners: backend.trustsOwner).update { old in
                do throws(PreferenceError) { return try part.installed(in: old) } catch {
                    failure = error
                    return nil
                }
            }
        } catch { throw PreferenceError(error, ofSchema: path) }
        if let failure { throw failure }
    }
}

extension [any DeclaredPreference] {
    /// The store that most of them have; of stores with equally many, the one of the first preference.
    fileprivate var mostCommonStore: PreferenceStore? {
        var counts: [ObjectIdentifier: Int] = [:]
        for preference in self { counts[ObjectIdentifier(preference.store), default: 0] += 1 }
        let most = counts.values.max()
        return first { counts[ObjectIdentifier($0.store)] == most }?.store
    }
}

/// The properties of a schema file that one group has written.
private struct SchemaPart {
    /// The keywords that mark a property as written by the group; JSON Schema ignores unknown keywords.
    private let marks: [String: PropertyListValue]
    private let scope: String
    private var properties: [String: PropertyListValue] = [:]

    init(of group: Any.Type, scope: String) {
        // The context of a private type is an address, which differs from run to run.
        let name = String(reflecting: group).split(separator: ".").filter { !$0.hasPrefix("(unknown context") }
        var marks: [String: PropertyListValue] = ["x-group": .string(name.joined(separator: "."))]
        // Each scope of a store has its own copy of the group.
        if !scope.isEmpty { marks["x-scope"] = .string(scope) }
        self.marks = marks
        self.scope = scope
    }

    mutating func add(_ name: String, _ schema: [String: PropertyListValue]) throws(PreferenceError) {
        var schema = schema
        // The values of a scope have its prefix under a former name, too.
        if case .array(let names)? = schema["x-formerly"] {
            schema["x-formerly"] = .array(
                names.map { if case .string(let name) = $0 { .string(scope + name) } else { $0 } }
            )
        }
        properties[scope + name] = .dictionary(schema.merging(marks) { $1 })
    }

    /// Returns the text of a schema file with these properties in place of the group's old ones; drops a file that can't be read.
    func installed(in file: [UInt8]?) throws(PreferenceError) -> [UInt8] {
        var members: [String: PropertyListValue] = [:]
        if let file {
            do throws(JSONLineError) { members = try Self.plainMembers(of: file) } catch {
                // It isn't a schema, so there is nothing to keep.
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

    /// Returns the properties in the form that `plainMembers` reads, which preserves all JSON values.
    private func plainProperties() throws(PreferenceError) -> [String: PropertyListValue] {
        var bytes: [UInt8] = []
        try JSONLine.writeValue(.dictionary(properties), to: &bytes)
        do throws(JSONLineError) { return try Self.plainMembers(of: bytes) } catch {
            // Not reached: everything that `writeValue` writes can be read.
            throw PreferenceError(.unencodable, error.description)
        }
    }

    /// Returns the members of a JSON object; empty for other values.
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

extension PreferenceError {
    /// Creates the error of a schema file that can't be written.
    init(_ error: LogError, ofSchema path: String) {
        switch error {
        case .readOnly(let cause):
            self.init(
                .notPermitted,
                "the schema \(path) can't be written; nothing was changed. Check the owner and the mode of the file and its folder",
                cause: cause
            )
        case .failed(let cause):
            self.init(.unavailable, "the schema \(path) can't be written; nothing was changed", cause: cause)
        case .notDurable(_, let cause):
            self.init(
                .notDurable,
                "the schema \(path) is written but might not survive a loss of power; check the disk",
                cause: cause
            )
        default: self.init(error)
        }
    }
}

extension DeclaredPreference {
    /// Returns the JSON Schema of the stored value.
    fileprivate func schema() throws(PreferenceError) -> [String: PropertyListValue] {
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
