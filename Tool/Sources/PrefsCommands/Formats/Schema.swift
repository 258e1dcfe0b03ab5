@_spi(Tool) import Preferences

/// The declaration of a program's preferences: the JSON Schema that `PreferenceGroup.jsonSchema` returns.
struct Schema {
    let path: String
    /// The declaration of all preferences, as the members of one object.
    let all: Property
    /// The declaration of each preference, by name.
    let properties: [String: Property]
    let formerNames: FormerNames

    /// The declaration of one value.
    struct Property {
        /// All keywords of JSON Schema but those with a leading `$`.
        let keywords: [String: PropertyListValue]
        /// Whether the value, or a part of it, is a secret.
        let isSecret: Bool
        /// The types in terms of JSON Schema, or `data` or `date`; empty if any is allowed.
        let types: [String]
        /// All allowed values, if they are listed; `nil` for a secret, as one of them would be its value.
        let choices: [PropertyListValue]?
        let minimum: PropertyListValue?
        let maximum: PropertyListValue?
        /// The minimum and maximum length of a string, in characters, or of an array, in elements.
        let lengths: (least: Int?, greatest: Int?)
        /// The program's default; `nil` for a secret.
        let defaultValue: PropertyListValue?
        let title: String?
        let section: String?
        let description: String?
        /// The advice for a deprecated value, such as "set volume"; empty if the schema has none.
        let deprecation: String?
        /// The former names of the preference, in the order in which they are read.
        let formerNames: [String]
        /// The requirement of a rule that only the program can check.
        let requirement: String?
        /// Whether the program needs a value.
        let isRequired: Bool
        /// Further rules, all of which a value must meet.
        let rules: [Property]
    }

    /// Creates a schema from a file. Unknown keywords are ignored, also those with a leading `$`.
    init(path: String) throws {
        var status = stat()
        // Opening a FIFO would wait for a writer.
        guard stat(path.pathBytes, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.damaged, "the schema \(path) isn't a regular file; remove it")
        }
        try self.init(String(decoding: try InputFile.bytes(of: path), as: UTF8.self), path: path)
    }

    /// Creates a schema from its text, as `init(path:)` does.
    ///
    /// - Parameter path: The file or key that has the text, for messages.
    init(_ text: String, path: String) throws {
        do throws(PreferenceError) {
            let keywords = try PreferenceText.schema(in: text).members
            guard keywords["properties"]?.isDictionary == true else { throw Self.withoutProperties }
            all = Property(keywords)
        } catch {
            throw Failure(
                .damaged,
                "the schema \(path) can't be read: \(error.message); let the program write it again"
            )
        }
        properties = all.properties
        formerNames = FormerNames(of: properties.mapValues(\.formerNames))
        self.path = path
    }

    /// Creates a schema from the first file that exists; `nil` if none does.
    init?(firstOf paths: [String]) throws {
        guard let path = paths.first(where: { access($0.pathBytes, F_OK) == 0 }) else { return nil }
        try self.init(path: path)
    }

    private static let withoutProperties = PreferenceError(.unreadable, "it has no properties")

    /// Returns the possible paths of the schema of a file: in its folder and, if it is a suite's file, those of the suite.
    static func paths(near path: String) -> [String] {
        let real = InputFile.realPath(path)
        return [path, real].flatMap { path in
            let folders = path.split(separator: "/").dropLast()
            let start = path.hasPrefix("/") ? "/" : ""
            let neighbour = start + (folders + ["preferences.schema.json"]).joined(separator: "/")
            do throws(PreferenceError) {
                // The files of a suite are in folders with its name.
                let files = try SuiteFiles(folders.last.map(String.init) ?? "")
                let own = [files.userPath, files.managedPath] + files.systemPaths
                return [neighbour] + (own.contains { InputFile.realPath($0) == real } ? files.schemaPaths : [])
            } catch {
                return [neighbour]
            }
        }
    }

    /// Returns the name of the secret whose value, or a member of it, a word of a command line names; `nil` for other words.
    func secret(in word: String) -> String? {
        secretNames.first { word == $0 || word.hasPrefix("\($0).") }
    }

    /// Returns the former name that a word of a command line is, or is a member of.
    func formerName(in word: String) -> String? {
        let isIn = { word == $0 || word.hasPrefix("\($0).") }
        return properties.keys.contains(where: isIn) ? nil : formerNames.all.first(where: isIn)
    }

    /// The names under which a secret may be stored.
    var secretNames: Set<String> { Set(properties.filter(\.value.isSecret).keys.flatMap(formerNames.names)) }

    /// Returns the declaration of the preference that has a name, or had it.
    func property(of name: String) -> Property? {
        properties[name] ?? formerNames.preference(storedAs: name).flatMap { properties[$0] }
    }

    /// Returns the reason why the schema doesn't allow a value, or `nil` if it does.
    ///
    /// - Parameter isStored: Whether former names are allowed, and the integers 0 and 1 for a boolean, as programs read them.
    func refusal(of value: PropertyListValue, for name: String, isStored: Bool = false) throws -> Refusal? {
        // The library sets these names itself.
        if PreferencesFile.ownNames.contains(name) { return nil }
        // A program has set nil over a weaker layer's value.
        if isStored, value == ["$unset": true] { return nil }
        if let present = formerNames.preference(storedAs: name) {
            guard isStored else { return Refusal(.former(of: present), nil).inside(name) }
            return try properties[present]?.refusal(of: value, isStored: true)?.inside(name)
        }
        return try all.refusal(of: value, at: name, isStored: isStored)
    }

    /// Throws if a change sets a name or value that the schema doesn't allow.
    func check(_ changes: [String: PropertyListValue?], from old: [String: PropertyListValue]) throws {
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if let value, value != old[name] { try check(value, for: name) }
        }
    }

    /// Throws if the schema doesn't allow the value.
    func check(_ value: PropertyListValue, for name: String) throws {
        if properties[name]?.isSecret == true {
            let word = ValueText.name(name)
            throw Failure(
                .usage,
                "\"\(name)\" is a secret according to \(path) and would be stored as plain text; nothing was changed. If the program "
                    + "keeps it in the system's keyring, store it there: `secret-tool store --label=\(word) application ID name "
                    + "\(word)`, with the program's identifier for ID; --force writes it anyway"
            )
        }
        guard let refusal = try refusal(of: value, for: name) else { return }
        let text = try refusal.text(by: path)
        guard refusal.isOfName else { throw Failure(.usage, text) }
        throw Failure(.usage, "\(text)\(text.hasSuffix("?") ? "" : ";") --force writes it anyway")
    }
}

extension FormerNames {
    /// Creates the former names that a schema declares; none without a schema.
    init(_ schema: Schema?) { self = schema?.formerNames ?? FormerNames(of: [:]) }
}

extension Schema.Property {
    init(_ keywords: [String: PropertyListValue]) {
        self.keywords = keywords
        let kind = keywords["required"]?.elements?.first?.text
        let tag = kind == "$data" ? "data" : kind == "$date" ? "date" : nil
        types = (keywords["type"].map { $0.elements ?? [$0] } ?? []).compactMap(\.text).map {
            $0 == "object" ? tag ?? $0 : $0
        }
        isSecret = PropertyListValue.dictionary(keywords).marksSecret
        choices = isSecret ? nil : keywords["enum"]?.elements
        minimum = keywords["minimum"]
        maximum = keywords["maximum"]
        lengths = (
            (keywords["minLength"] ?? keywords["minItems"])?.length,
            (keywords["maxLength"] ?? keywords["maxItems"])?.length
        )
        defaultValue = isSecret ? nil : keywords["default"]
        title = keywords["title"]?.text
        section = keywords["x-section"]?.text
        description = keywords["description"]?.text
        deprecation = keywords["deprecated"] == true ? keywords["x-deprecation"]?.text ?? "" : nil
        formerNames = keywords["x-formerly"]?.elements?.compactMap(\.text) ?? []
        requirement = keywords["x-requirement"]?.text
        isRequired = keywords["x-required"] == true
        // Each may declare other members of a dictionary.
        rules = (keywords["allOf"]?.elements ?? []).map {
            Self(["additionalProperties": true].merging($0.members) { $1 })
        }
    }

    /// The types for display; `nil` if any is allowed.
    var type: String? { types.isEmpty ? nil : types.joined(separator: " or ") }

    /// The declaration of an array's elements.
    var items: Schema.Property? { keywords["items"].map { Schema.Property($0.members) } }

    /// The declaration of each known member of a dictionary.
    var properties: [String: Schema.Property] {
        keywords["properties"]?.members.mapValues { Schema.Property($0.members) } ?? [:]
    }

    /// Returns the declaration of a member of a dictionary, or `nil` if a member with this key isn't allowed.
    ///
    /// Unlike in JSON Schema, if some members are declared, no other members are allowed without `additionalProperties`.
    func property(of key: String) -> Schema.Property? {
        if let known = keywords["properties"]?.members[key] { return Schema.Property(known.members) }
        return switch keywords["additionalProperties"] {
        case .boolean(false): nil
        case nil where keywords["properties"] != nil: nil
        case let others: Schema.Property(others?.members ?? [:])
        }
    }

    /// Returns all rules for display; `nil` if there are none, and for a secret, as they would reveal a part of its value.
    func allowed() throws -> String? {
        guard !isSecret else { return nil }
        let own = [try choicesText(), try rangeText(), lengthText.map { "length \($0)" }, requirement]
        let all = try own.compactMap(\.self) + rules.compactMap { try $0.allowed() }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    private func choicesText() throws -> String? {
        try choices.map { try $0.map { try ValueText.json($0) }.joined(separator: ", ") }
    }

    private func rangeText() throws -> String? {
        guard minimum != nil || maximum != nil else { return nil }
        return
            "\(try minimum.map { try ValueText.json($0) } ?? "")...\(try maximum.map { try ValueText.json($0) } ?? "")"
    }

    private var lengthText: String? {
        guard lengths != (nil, nil) else { return nil }
        return "\(lengths.least.map(String.init) ?? "")...\(lengths.greatest.map(String.init) ?? "")"
    }

    /// Returns the reason why a value, or a part of it, isn't allowed, or `nil` if it is.
    func refusal(of value: PropertyListValue, isStored: Bool = false) throws -> Refusal? {
        let value = isStored ? booleanReading(of: value) : value
        guard let refusal = try fullRefusal(of: value, isStored: isStored) else { return nil }
        guard isSecret else { return refusal }
        // The location inside the value and most reasons would reveal a part of the secret.
        let reason =
            type.flatMap { allowsKind(of: value) ? nil : "it isn't of type \($0)" } ?? "the schema doesn't allow it"
        return Refusal(.unallowed(reason), nil)
    }

    private func fullRefusal(of value: PropertyListValue, isStored: Bool) throws -> Refusal? {
        if let reason = try reasonToRefuse(value) { return Refusal(.unallowed(reason), value) }
        for rule in rules {
            if let refusal = try rule.refusal(of: value, isStored: isStored) { return refusal }
        }
        if let others = keywords["anyOf"]?.elements {
            let refusals = try others.map { try Schema.Property($0.members).refusal(of: value, isStored: isStored) }
            if !refusals.contains(where: { $0 == nil }), let first = refusals.first { return first }
        }
        switch value {
        case .array(let elements):
            guard let items else { return nil }
            for (index, element) in elements.enumerated() {
                if let refusal = try items.refusal(of: element, isStored: isStored) { return refusal.inside(index) }
            }
        case .dictionary(let members):
            for (key, member) in members.sortedByName {
                if let refusal = try refusal(of: member, at: key, isStored: isStored) { return refusal }
            }
            for key in keywords["required"]?.elements?.compactMap(\.text) ?? [] where members[key] == nil {
                return Refusal(.unallowed("it has no member \"\(key)\""), value)
            }
        default: break
        }
        return nil
    }

    /// Returns the reason why a member of a dictionary isn't allowed, or `nil` if it is.
    fileprivate func refusal(of member: PropertyListValue, at key: String, isStored: Bool) throws -> Refusal? {
        guard let property = property(of: key) else {
            let known = keywords["properties"]?.members.keys.map { $0 } ?? []
            return Refusal(.undeclared(nearest: key.nearest(of: known)), member).inside(key)
        }
        return try property.refusal(of: member, isStored: isStored)?.inside(key)
    }

    /// Returns whether the type of a value is allowed, regardless of the other keywords.
    func allowsKind(of value: PropertyListValue) -> Bool { types.isEmpty || types.contains(where: value.isOf) }

    /// Returns the boolean that a program reads for the integers 0 and 1 if a boolean is declared, else the value itself.
    private func booleanReading(of value: PropertyListValue) -> PropertyListValue {
        guard types == ["boolean"] else { return value }
        return switch value {
        case .integer(0): false
        case .integer(1): true
        default: value
        }
    }

    private func reasonToRefuse(_ value: PropertyListValue) throws -> String? {
        if let type, !allowsKind(of: value) { return "it isn't of type \(type)" }
        if let choices, !choices.contains(where: value.isSame(as:)) {
            return "it isn't one of \(try choicesText() ?? "")"
        }
        if let range = try rangeText(),
            value.isNotANumber || minimum.map(value.precedes) == true || maximum?.precedes(value) == true
        {
            return "it is outside \(range)"
        }
        if let length = value.elements?.count ?? value.text?.count,
            length < lengths.least ?? 0 || length > lengths.greatest ?? .max
        {
            return "its length \(length) is outside \(lengths.least ?? 0)...\(lengths.greatest.map(String.init) ?? "")"
        }
        return nil
    }
}

extension PropertyListValue {
    fileprivate var members: [String: PropertyListValue] {
        if case .dictionary(let members) = self { members } else { [:] }
    }

    fileprivate var isDictionary: Bool {
        if case .dictionary = self { true } else { false }
    }

    /// Whether a part of a schema marks a value, or a part of one, as a secret.
    fileprivate var marksSecret: Bool {
        switch self {
        case .dictionary(let members): members["writeOnly"] == true || members.values.contains(where: \.marksSecret)
        case .array(let elements): elements.contains(where: \.marksSecret)
        default: false
        }
    }

    /// The type in terms of JSON Schema, or `data` or `date`.
    var kind: String {
        switch self {
        case .boolean: "boolean"
        case .integer, .unsigned: "integer"
        case .real: "number"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .array: "array"
        case .dictionary: "object"
        }
    }

    /// Returns whether a program reads both values alike: a whole number may be written with a fraction.
    func isSame(as other: PropertyListValue) -> Bool {
        self == other
            || number != nil && other.number != nil && !precedes(other) && !other.precedes(self) && !isNotANumber
                && !other.isNotANumber
    }

    fileprivate var elements: [PropertyListValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var length: Int? {
        if case .integer(let length) = self { Int(length) } else { nil }
    }

    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// Returns whether the value is of a type of JSON Schema: a whole real that fits 64 bits is an integer, and every integer is a
    /// number. A type that the tool doesn't know allows every value.
    fileprivate func isOf(_ type: String) -> Bool {
        switch (self, type) {
        case (.real(let value), "integer"): Int64(exactly: value) != nil || UInt64(exactly: value) != nil
        case (.integer, "number"), (.unsigned, "number"): true
        default: kind == type || !Self.kinds.contains(type)
        }
    }

    private static let kinds = [
        "boolean", "string", "array", "object", "data", "date", "integer", "number", "null",
    ]

    /// Returns whether both values are numbers and this one is smaller.
    fileprivate func precedes(_ other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        case (.integer, .unsigned): true
        case (.unsigned, .integer): false
        default: if let left = number, let right = other.number { left < right } else { false }
        }
    }

    fileprivate var isNotANumber: Bool {
        if case .real(let value) = self { value.isNaN } else { false }
    }

    private var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
}
