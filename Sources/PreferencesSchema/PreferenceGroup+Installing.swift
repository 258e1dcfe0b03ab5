public import Preferences

extension PreferenceGroup {
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
        guard let layer = store.resolved.core.writable else { return }
        var part = SchemaPart(of: Self.self, scope: layer.prefix)
        for preference in declared where preference.store === store {
            try part.add(preference.name, try preference.schema())
        }
        try layer.source.updateFile(besides: "preferences.schema.json", part.installed)
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
