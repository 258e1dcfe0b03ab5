public import Preferences

/// The declaration of a program's preferences: the JSON Schema that `PreferenceGroup.jsonSchema()` returns.
///
/// The tool `prefs` checks values by it before it stores them, and so does a store on etcd in whose suite a schema is stored. A backend
/// that many programs share can do the same:
///
///     let schema = try PreferenceSchema(text, path: "settings/schema.json")
///     try schema.check(["volume": 11])
///
/// Unknown keywords are ignored, also those with a leading `$`.
public struct PreferenceSchema: Sendable {
    /// The file or key that has the text, for messages.
    public let path: String
    /// The declaration of all preferences, as the members of one object.
    public let all: Property
    /// The declaration of each preference, by name.
    public let properties: [String: Property]
    /// The present names of the preferences, by former name; as in a program, a name that another preference has is no former one.
    public let presentNames: [String: String]

    /// Creates a schema from its text.
    ///
    /// - Parameters:
    ///   - text: The JSON Schema.
    ///   - path: The file or key that has the text, for messages.
    /// - Throws: `unreadable` if the text isn't JSON or has no `properties`, `unknownFormat` if it has a value of a newer format.
    public init(_ text: String, path: String) throws(PreferenceError) {
        guard case .dictionary(let keywords) = try Self.value(in: text), case .dictionary = keywords["properties"]
        else { throw PreferenceError(.unreadable, "it has no properties") }
        self.path = path
        all = Property(keywords)
        properties = all.properties
        var presentNames: [String: String] = [:]
        for (name, property) in properties.sortedByBytes {
            for former in property.formerNames where properties[former] == nil && presentNames[former] == nil {
                presentNames[former] = name
            }
        }
        self.presentNames = presentNames
    }

    /// Reads a JSON Schema, with the values in it as in a preferences file.
    ///
    /// Leaves out the keywords of JSON Schema with a leading `$`, such as `$schema` and `$ref`, and null, which a stored value can't
    /// represent.
    public static func value(in text: String) throws(PreferenceError) -> PropertyListValue {
        let plain = try JSONLine.reading(Array(text.utf8)) { bytes throws(JSONLineError) in
            try JSONLine.readPlain(bytes)
        }
        var bytes: [UInt8] = []
        try JSONLine.writePlain(plain.withoutKeywordsOfJSONSchema, to: &bytes)
        return try PropertyListValue(json: String(decoding: bytes, as: UTF8.self))
    }

    /// Checks changes of stored values, as `prefs check` does; removals are always allowed.
    ///
    /// A name that the schema doesn't declare has no rule: it may be that of a newer version of the program, or have a prefix, as the
    /// names of a scope have. A value may be stored under a former name, by an earlier version; the rules of the present name apply.
    ///
    /// - Throws: `invalid` for the first name, in the order of the names, whose value the schema doesn't allow.
    public func check(_ changes: [String: PropertyListValue?]) throws(PreferenceError) {
        for (name, value) in changes.sortedByBytes {
            guard let value, let refusal = try refusal(of: value, for: name, isStored: true),
                !refusal.isOfUndeclaredName
            else { continue }
            throw refusal.error(by: path)
        }
    }

    /// Returns the reason why the schema doesn't allow a value, or `nil` if it does.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name of the preference.
    ///   - isStored: Whether former names are allowed, and the integers 0 and 1 for a boolean, as programs read them.
    public func refusal(
        of value: PropertyListValue,
        for name: String,
        isStored: Bool = false
    ) throws(PreferenceError) -> Refusal? {
        // The library sets these names itself.
        if PreferenceStore.recordNames.contains(name) { return nil }
        // A program has set nil over a weaker layer's value.
        if isStored, value.isUnset { return nil }
        if let present = presentNames[name] {
            guard isStored else { return Refusal(.former(of: present), nil).inside(name) }
            return try properties[present]?.refusal(of: value, isStored: true)?.inside(name)
        }
        return try all.refusal(of: value, at: name, isStored: isStored)
    }

    /// A value that the schema doesn't allow, and the reason.
    public struct Refusal: Sendable {
        /// The steps from the name to the part of the value that isn't allowed.
        private var steps: [Step] = []
        /// The part of the value; `nil` for a secret, which isn't shown.
        private let value: PropertyListValue?
        private let reason: Reason

        private enum Step {
            case name(String)
            case index(Int)
        }

        enum Reason {
            case unallowed(String)
            case undeclared(nearest: String?)
            case former(of: String)
        }

        init(_ reason: Reason, _ value: PropertyListValue?) {
            self.value = value
            self.reason = reason
        }

        func inside(_ name: String) -> Refusal { inside(.name(name)) }
        func inside(_ index: Int) -> Refusal { inside(.index(index)) }

        private func inside(_ step: Step) -> Refusal {
            var refusal = self
            refusal.steps.insert(step, at: 0)
            return refusal
        }
    }
}

extension PreferenceSchema.Refusal {
    /// Whether the schema doesn't declare the preference: there is no rule for it.
    public var isOfUndeclaredName: Bool {
        if case .undeclared = reason { steps.count == 1 } else { false }
    }

    /// Whether the name isn't allowed, not the value.
    public var isOfName: Bool {
        if case .unallowed = reason { false } else { true }
    }

    /// Returns the reason as text, such as `"recent"[2] can't be 5: it isn't of type string`.
    public func text(by schema: String? = nil) throws(PreferenceError) -> String {
        switch reason {
        case .unallowed(let reason):
            let value = try value?.json() ?? "<redacted>"
            return "\(place) can't be \(value): \(reason)\(schema.map { ", according to \($0)" } ?? "")"
        case .undeclared(let nearest):
            return "\(place) isn't declared\(schema.map { " by \($0)" } ?? "")"
                + (nearest.map { "; did you mean \"\(prefix + $0)\"?" } ?? "")
        case .former(let name):
            return "\(place) is a former name of \"\(name)\"\(schema.map { ", according to \($0)" } ?? "")"
                + "; use \"\(name)\" instead"
        }
    }

    /// Returns the error of a write that isn't made.
    fileprivate func error(by path: String) -> PreferenceError {
        let text =
            switch reason {
            case .unallowed(let reason):
                "the schema \(path) doesn't allow \(value?.summary ?? "the secret value"): \(reason)"
            case .undeclared(let nearest):
                "the schema \(path) doesn't declare it" + (nearest.map { ", but \"\($0)\" in its place" } ?? "")
            case .former(let name): "the schema \(path) declares it as \"\(name)\""
            }
        let words = steps.map { step in
            switch step {
            case .name(let name): name
            case .index(let index): String(index)
            }
        }
        return PreferenceError(
            .invalid,
            name: words.first,
            "\(text); nothing was changed. Set a value that the schema allows, or change the schema",
            codingPath: Array(words.dropFirst())
        )
    }

    /// The names in quotes, separated by dots, and the steps from the first array on after them.
    private var place: String {
        var text = "\""
        var isQuoted = true
        for (number, step) in steps.enumerated() {
            switch step {
            case .name(let name): text += (number == 0 ? "" : ".") + name
            case .index(let index):
                text += (isQuoted ? "\"" : "") + "[\(index)]"
                isQuoted = false
            }
        }
        return isQuoted ? text + "\"" : text
    }

    /// The steps before the last name.
    private var prefix: String {
        steps.dropLast().map { step in
            switch step {
            case .name(let name): "\(name)."
            case .index(let index): "[\(index)]."
            }
        }.joined()
    }
}

extension PropertyListValue {
    /// The value, read from plain JSON, without null and without the keys with a single leading `$` that aren't a value's tag.
    fileprivate var withoutKeywordsOfJSONSchema: PropertyListValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map(\.withoutKeywordsOfJSONSchema))
        case .dictionary(let members):
            .dictionary(
                members.filter { key, member in
                    let isTag = members.count == 1 && ["$data", "$date", "$real"].contains(key)
                    return !member.isNull && (!key.hasPrefix("$") || key.hasPrefix("$$") || isTag)
                }
                .mapValues(\.withoutKeywordsOfJSONSchema)
            )
        default: self
        }
    }
}
