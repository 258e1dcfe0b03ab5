import Preferences
import PreferencesInspection

/// Values as text: the JSON of the preferences file, and variants of it for people.
enum ValueText {
    /// The text that is shown instead of a value that is or might be a secret.
    static let redacted = "<redacted>"

    /// Returns the JSON of a value on one line.
    static func json(_ value: PropertyListValue) throws -> String {
        try value.json()
    }

    /// Returns all names as one object, with each name on a new line.
    static func json(_ contents: [String: PropertyListValue], indented: Bool = true) throws -> String {
        if contents.isEmpty { return "{}\n" }
        let members = try contents.sortedByName.map { name, value in
            "  \(try indented ? "\(key(name)): \(pretty(value, depth: 1))" : member(name, value))"
        }
        return "{\n\(members.joined(separator: ",\n"))\n}\n"
    }

    /// Returns a member of an object of names on one line; `null`, which removes the name, for none.
    static func member(_ name: String, _ value: PropertyListValue?) throws -> String {
        "\(try key(name)): \(try value.map(json) ?? "null")"
    }

    /// Returns the line of a preferences file that sets a value.
    static func line(_ name: String, _ value: PropertyListValue) throws -> String {
        String(decoding: try PreferenceText.line([name: value]), as: UTF8.self)
    }

    /// Returns the JSON of a value with each nested value on a new line.
    static func pretty(_ value: PropertyListValue, depth: Int = 0) throws -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch value {
        case .array(let elements) where !elements.isEmpty:
            let lines = try elements.map { inner + (try pretty($0, depth: depth + 1)) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        case .dictionary(let members) where !members.isEmpty:
            let lines = try members.sortedByName.map { key, value in
                "\(inner)\(try self.key(key)): \(try pretty(value, depth: depth + 1))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        default:
            return try json(value)
        }
    }

    /// Returns a value that is shown alone: a string without quotes, any other value as JSON.
    static func plain(_ value: PropertyListValue) throws -> String {
        switch value {
        case .string(let text): text
        default: try Terminal.isOutput ? pretty(value) : json(value)
        }
    }

    /// Returns a name for a list: in quotes if it could be mistaken for something else.
    static func name(_ name: String) -> String {
        let isPlain = PreferenceText.printable(name) == name && !name.contains(" ") && name.first != "\""
        return isPlain ? name : PropertyListValue.string(name).description
    }

    /// Returns text with line ends and tabs replaced by spaces, for one line of a list.
    static func line(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    }

    private static func key(_ key: String) throws -> String {
        // As in the file, a key that begins with a dollar sign gets another one.
        try json(.string(key.utf8.first == UInt8(ascii: "$") ? "$" + key : key))
    }
}

extension [String: PropertyListValue] {
    /// The values in the order in which they are shown and stored.
    var sortedByName: [(name: String, value: PropertyListValue)] {
        sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }
}
