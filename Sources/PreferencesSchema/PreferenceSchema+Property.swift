public import Preferences

extension PreferenceSchema {
    /// The declaration of one value.
    public struct Property: Sendable {
        /// All keywords of JSON Schema but those with a leading `$`.
        public let keywords: [String: PropertyListValue]
        /// Whether the value, or a part of it, is a secret.
        public let isSecret: Bool
        /// The types in terms of JSON Schema, or `data` or `date`; empty if any is allowed.
        public let types: [String]
        /// All allowed values, if they are listed; `nil` for a secret, as one of them would be its value.
        public let choices: [PropertyListValue]?
        /// The least number.
        public let minimum: PropertyListValue?
        /// The greatest number.
        public let maximum: PropertyListValue?
        /// The minimum and maximum length of a string, in characters, or of an array, in elements.
        public let lengths: (least: Int?, greatest: Int?)
        /// The program's default; `nil` for a secret.
        public let defaultValue: PropertyListValue?
        /// The name for people.
        public let title: String?
        /// The heading under which it is shown.
        public let section: String?
        /// A sentence about the preference.
        public let description: String?
        /// The advice for a deprecated value, such as "set volume"; empty if the schema has none.
        public let deprecation: String?
        /// The former names of the preference, in the order in which they are read.
        public let formerNames: [String]
        /// The requirement of a rule that only the program can check.
        public let requirement: String?
        /// Whether the program needs a value.
        public let isRequired: Bool
        /// Further rules, all of which a value must meet.
        public let rules: [Property]
    }
}

extension PreferenceSchema.Property {
    private typealias Refusal = PreferenceSchema.Refusal

    /// Creates the declaration of a value from its part of a schema.
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
    public var type: String? { types.isEmpty ? nil : types.joined(separator: " or ") }

    /// The declaration of an array's elements.
    public var items: Self? { keywords["items"].map { Self($0.members) } }

    /// The declaration of each known member of a dictionary.
    public var properties: [String: Self] {
        keywords["properties"]?.members.mapValues { Self($0.members) } ?? [:]
    }

    /// Returns the declaration of a member of a dictionary, or `nil` if a member with this key isn't allowed.
    ///
    /// Unlike in JSON Schema, if some members are declared, no other members are allowed without `additionalProperties`.
    public func property(of key: String) -> Self? {
        if let known = keywords["properties"]?.members[key] { return Self(known.members) }
        return switch keywords["additionalProperties"] {
        case .boolean(false): nil
        case nil where keywords["properties"] != nil: nil
        case let others: Self(others?.members ?? [:])
        }
    }

    /// Returns all rules for display; `nil` if there are none, and for a secret, as they would reveal a part of its value.
    public func allowed() throws(PreferenceError) -> String? {
        guard !isSecret else { return nil }
        let own = [try choicesText(), try rangeText(), lengthText.map { "length \($0)" }, requirement]
        let further = try rules.map { rule throws(PreferenceError) in try rule.allowed() }
        let all = (own + further).compactMap(\.self)
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    private func choicesText() throws(PreferenceError) -> String? {
        try choices?.map { choice throws(PreferenceError) in try choice.json() }.joined(separator: ", ")
    }

    private func rangeText() throws(PreferenceError) -> String? {
        guard minimum != nil || maximum != nil else { return nil }
        return "\(try minimum?.json() ?? "")...\(try maximum?.json() ?? "")"
    }

    private var lengthText: String? {
        guard lengths != (nil, nil) else { return nil }
        return "\(lengths.least.map(String.init) ?? "")...\(lengths.greatest.map(String.init) ?? "")"
    }

    /// Returns those of the values that no rule forbids: of the choices, another rule may allow only some.
    public func allowedValues(
        among values: [PropertyListValue]
    ) throws(PreferenceError) -> [PropertyListValue] {
        try values.map { value throws(PreferenceError) in
            try refusal(of: value, isStored: false) == nil ? value : nil
        }
        .compactMap(\.self)
    }

    /// Returns the reason why a value, or a part of it, isn't allowed, or `nil` if it is.
    func refusal(
        of value: PropertyListValue,
        isStored: Bool
    ) throws(PreferenceError) -> PreferenceSchema.Refusal? {
        let value = isStored ? booleanReading(of: value) : value
        guard let refusal = try fullRefusal(of: value, isStored: isStored) else { return nil }
        guard isSecret else { return refusal }
        // The location inside the value and most reasons would reveal a part of the secret.
        let reason =
            type.flatMap { allowsKind(of: value) ? nil : "it isn't of type \($0)" } ?? "the schema doesn't allow it"
        return Refusal(.unallowed(reason), nil)
    }

    private func fullRefusal(of value: PropertyListValue, isStored: Bool) throws(PreferenceError) -> Refusal? {
        if let reason = try reasonToRefuse(value) { return Refusal(.unallowed(reason), value) }
        for rule in rules {
            if let refusal = try rule.refusal(of: value, isStored: isStored) { return refusal }
        }
        if let others = keywords["anyOf"]?.elements {
            let refusals = try others.map { other throws(PreferenceError) in
                try Self(other.members).refusal(of: value, isStored: isStored)
            }
            if !refusals.contains(where: { $0 == nil }), let first = refusals.first { return first }
        }
        switch value {
        case .array(let elements):
            guard let items else { return nil }
            for (index, element) in elements.enumerated() {
                if let refusal = try items.refusal(of: element, isStored: isStored) { return refusal.inside(index) }
            }
        case .dictionary(let members):
            for (key, member) in members.sortedByBytes {
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
    func refusal(
        of member: PropertyListValue,
        at key: String,
        isStored: Bool
    ) throws(PreferenceError) -> PreferenceSchema.Refusal? {
        guard let property = property(of: key) else {
            let known = keywords["properties"]?.members.keys.map { $0 } ?? []
            return Refusal(.undeclared(nearest: key.nearest(among: known)), member).inside(key)
        }
        return try property.refusal(of: member, isStored: isStored)?.inside(key)
    }

    /// Returns whether the type of a value is allowed, regardless of the other keywords.
    public func allowsKind(of value: PropertyListValue) -> Bool {
        types.isEmpty || types.contains(where: value.isOf)
    }

    /// Returns the boolean that a program reads for the integers 0 and 1 if a boolean is declared, else the value itself.
    private func booleanReading(of value: PropertyListValue) -> PropertyListValue {
        guard types == ["boolean"] else { return value }
        return switch value {
        case .integer(0): false
        case .integer(1): true
        default: value
        }
    }

    private func reasonToRefuse(_ value: PropertyListValue) throws(PreferenceError) -> String? {
        if let type, !allowsKind(of: value) { return "it isn't of type \(type)" }
        if let choices, !choices.contains(where: value.readsSame(as:)) {
            return "it isn't one of \(try choicesText() ?? "")"
        }
        if let range = try rangeText(),
            value.isNotANumber || minimum.map(value.isSmaller) == true || maximum?.isSmaller(than: value) == true
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

    /// Whether a part of a schema marks a value, or a part of one, as a secret.
    fileprivate var marksSecret: Bool {
        switch self {
        case .dictionary(let members): members["writeOnly"] == true || members.values.contains(where: \.marksSecret)
        case .array(let elements): elements.contains(where: \.marksSecret)
        default: false
        }
    }

    /// The type in terms of JSON Schema, or `data` or `date`.
    public var kind: String {
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
    public func readsSame(as other: PropertyListValue) -> Bool {
        self == other
            || number != nil && other.number != nil && !isSmaller(than: other) && !other.isSmaller(than: self)
                && !isNotANumber
                && !other.isNotANumber
    }

    fileprivate var elements: [PropertyListValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var length: Int? {
        if case .integer(let length) = self { Int(clamping: length) } else { nil }
    }

    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// Returns whether the value is of a type of JSON Schema: a whole real that fits 64 bits is an integer, and every integer is a
    /// number. A type that the library doesn't know allows every value.
    fileprivate func isOf(_ type: String) -> Bool {
        switch (type, self) {
        case ("integer", .real(let value)): Int64(exactly: value) != nil || UInt64(exactly: value) != nil
        case ("number", .integer), ("number", .unsigned): true
        default: kind == type || !Self.kinds.contains(type)
        }
    }

    private static let kinds = [
        "boolean", "string", "array", "object", "data", "date", "integer", "number", "null",
    ]

    /// Returns whether both values are numbers and this one is smaller.
    fileprivate func isSmaller(than other: PropertyListValue) -> Bool {
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
