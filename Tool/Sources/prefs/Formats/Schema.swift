import Glibc
@_spi(Tool) import Preferences

/// What a program says of its preferences: the JSON Schema that `PreferenceGroup.jsonSchema` writes.
struct Schema {
    let path: String
    let properties: [String: Property]

    /// What is said of one preference.
    struct Property {
        /// The kind of value, in the words of JSON Schema, or `data` or `date`.
        let type: String?
        /// All values that it may have.
        let choices: [PropertyListValue]?
        let minimum: PropertyListValue?
        let maximum: PropertyListValue?
        /// The least and the greatest length of a string, in characters, or number of elements of an array.
        let lengths: (least: Int?, greatest: Int?)
        /// What the program takes where nothing is set.
        let defaultValue: PropertyListValue?
        /// What it is for.
        let description: String?
    }

    /// Reads a schema; names in it that the tool doesn't know are left alone, but for those with a leading `$`.
    init(path: String) throws {
        var status = stat()
        // A FIFO would wait for somebody to write.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.damaged, "the schema \(path) is no file")
        }
        let text = String(decoding: try InputFile.bytes(of: path), as: UTF8.self)
        do throws(PreferencesError) {
            guard let members = try PreferenceText.value(in: text).members["properties"]?.members else {
                throw Self.none
            }
            properties = members.mapValues { Property($0.members) }
        } catch {
            throw Failure(
                .damaged,
                "the schema \(path) can't be read: \(error.message); let the program write it anew"
            )
        }
        self.path = path
    }

    private static let none = PreferencesError(.unreadable, "it has no properties")

    /// A failure where the program says that it doesn't take the value.
    func check(_ value: PropertyListValue, for name: String) throws {
        guard let reason = try properties[name]?.reasonToRefuse(value) else { return }
        throw Failure(.usage, "\"\(name)\" can't be \(try ValueText.json(value)): \(reason), says \(path)")
    }
}

extension Schema.Property {
    init(_ members: [String: PropertyListValue]) {
        let kind = members["required"]?.elements?.first?.text
        type = kind == "$data" ? "data" : kind == "$date" ? "date" : members["type"]?.text
        choices = members["enum"]?.elements
        minimum = members["minimum"]
        maximum = members["maximum"]
        lengths = (
            (members["minLength"] ?? members["minItems"])?.length, (members["maxLength"] ?? members["maxItems"])?.length
        )
        defaultValue = members["default"]
        description = members["description"]?.text
    }

    /// The choices, the range or the length, as people read it.
    func allowed() throws -> String? {
        if let choices { return try choices.map { try ValueText.json($0) }.joined(separator: ", ") }
        if lengths != (nil, nil) {
            return "length \(lengths.least.map(String.init) ?? "")...\(lengths.greatest.map(String.init) ?? "")"
        }
        guard minimum != nil || maximum != nil else { return nil }
        return
            "\(try minimum.map { try ValueText.json($0) } ?? "")...\(try maximum.map { try ValueText.json($0) } ?? "")"
    }

    /// Why the program wouldn't take a value; nil where it would.
    func reasonToRefuse(_ value: PropertyListValue) throws -> String? {
        if let type, !value.isOf(type) { return "it is no \(type)" }
        if let choices, !choices.contains(value) { return "it is none of \(try allowed() ?? "")" }
        if minimum != nil || maximum != nil, value.isNotANumber { return "it is outside \(try allowed() ?? "")" }
        if let minimum, value.precedes(minimum) { return "it is outside \(try allowed() ?? "")" }
        if let maximum, maximum.precedes(value) { return "it is outside \(try allowed() ?? "")" }
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

    fileprivate var elements: [PropertyListValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var length: Int? {
        if case .integer(let length) = self { Int(length) } else { nil }
    }

    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// Whether it is of a kind, as JSON Schema understands them: a whole real is an integer, every integer a number.
    fileprivate func isOf(_ type: String) -> Bool {
        switch (self, type) {
        case (.boolean, "boolean"), (.string, "string"), (.array, "array"), (.dictionary, "object"): true
        case (.data, "data"), (.date, "date"): true
        case (.integer, "integer"), (.unsigned, "integer"): true
        case (.real(let value), "integer"): value.rounded() == value && value.isFinite
        case (.integer, "number"), (.unsigned, "number"), (.real, "number"): true
        // Of a kind that the tool doesn't know nothing is refused.
        default: !["boolean", "string", "array", "object", "data", "date", "integer", "number"].contains(type)
        }
    }

    /// Whether it is the smaller one of two numbers.
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
