package import Preferences
import PreferencesInspection
import PreferencesSchema

/// JSON for pages. Values are sent as text of the preferences file, as JavaScript's numbers can't hold all integers.
package enum JSONText {
    package static func string(_ text: String) -> String {
        // Encoding a string never fails; control characters and line separators are escaped.
        do { return try ValueText.json(.string(text)) } catch { return "\"\"" }
    }

    package static func object(_ members: [String: PropertyListValue?]) -> String {
        do { return try ValueText.json(.dictionary(members.compactMapValues(\.self))) } catch {
            return "{\"error\":\(string(Failure(error).message))}"
        }
    }
}

/// A name of a suite as the page shows it, with the value in each layer and the declaration in the schema.
struct PreferenceRow {
    let name: String
    /// The value in each layer, lowest precedence first.
    let values: [PropertyListValue?]
    let sources: [PlaceLayer.Source]
    /// The former name under which the value is stored; `nil` if it is stored under the name.
    let storedName: String?
    let property: Schema.Property?
    /// The reason why the value isn't shown; `nil` if it is.
    let hidden: String?
    /// The reason why the schema doesn't allow the value; `nil` if it does.
    let problem: String?

    /// Returns the row as JSON without empty members.
    func json() throws -> String {
        let deciding = values.lastIndex { $0 != nil }
        let set = deciding.flatMap { values[$0]?.unlessUnset }
        let winner = set == nil ? nil : deciding
        let value = set ?? property?.defaultValue
        let own = sources.lastIndex { $0 == .user || $0 == .file || $0 == .etcd }
        var members: [String: PropertyListValue] = ["name": .string(name)]
        members["source"] = .string(winner.map { sources[$0].rawValue } ?? "default")
        members["storedAs"] = set == nil ? nil : storedName.map { .string($0) }
        members["hidden"] = hidden.map { .string($0) }
        members["text"] = try value.map { .string(try text(of: $0)) }
        if hidden == nil, let value {
            members["kind"] = .string(Self.kind(of: value))
            if let pretty = try Self.pretty(value) { members["pretty"] = .string(pretty) }
        }
        members["control"] = .string(control(of: value).name)
        members["layers"] = .array(try values.map { .string(try $0.map { try text(of: $0) } ?? "") })
        if winner != nil { members["isSet"] = true }
        if let own, values[own] != nil { members["isOwn"] = true }
        if deciding.map({ sources[$0] == .managed }) == true { members["isManaged"] = true }
        if let set, let basis, set != basis { members["differs"] = true }
        members["problem"] = problem.map { .string($0) }
        members["schema"] = try property.map { .dictionary(try Self.members($0)) }
        return try ValueText.json(.dictionary(members))
    }

    /// Returns the control for the declaration, else for the value itself.
    private func control(of value: PropertyListValue?) -> PreferenceControl {
        var keywords = property?.keywords ?? [:]
        if hidden == nil {
            // A secret that is shown has the control of its type; the page doesn't know its bounds.
            if keywords.removeValue(forKey: "writeOnly") == true {
                keywords = keywords.filter { $0.key != "minimum" && $0.key != "maximum" }
            }
        }
        guard keywords["type"] == nil, keywords["enum"] == nil, let value, hidden == nil else {
            return PreferenceControl(keywords)
        }
        return PreferenceControl(keywords.merging(["type": .string(Self.kind(of: value))]) { $1 })
    }

    private func text(of value: PropertyListValue) throws -> String {
        try hidden == nil ? ValueText.json(value) : ValueText.redacted
    }

    /// The value that applies without the user's: the system's or else the program's default.
    private var basis: PropertyListValue? {
        values.indices.last { values[$0] != nil && sources[$0] == .system }.flatMap { values[$0]?.unlessUnset }
            ?? property?.defaultValue
    }

    private static func members(_ property: Schema.Property) throws -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        members["type"] = property.type.map { .string($0) }
        members["choices"] = try property.choices.map { .array(try $0.map { .string(try ValueText.json($0)) }) }
        // The rules of a secret would reveal a part of its value.
        if !property.isSecret {
            members["minimum"] = try property.minimum.map { .string(try ValueText.json($0)) }
            members["maximum"] = try property.maximum.map { .string(try ValueText.json($0)) }
        }
        members["allowed"] = try property.allowed().map { .string($0) }
        members["default"] = try property.defaultValue.map { .string(try ValueText.json($0)) }
        members["title"] = property.title.map { .string($0) }
        members["section"] = property.section.map { .string($0) }
        members["description"] = property.description.map { .string($0) }
        members["deprecated"] = property.deprecation.map { .string($0) }
        members["formerly"] =
            property.formerNames.isEmpty ? nil : .array(property.formerNames.map { .string($0) })
        if property.isRequired { members["required"] = true }
        return members
    }

    private static func pretty(_ value: PropertyListValue) throws -> String? {
        switch value {
        case .array, .dictionary: try ValueText.pretty(value)
        default: nil
        }
    }

    private static func kind(of value: PropertyListValue) -> String {
        switch value {
        case .boolean: "boolean"
        case .integer, .unsigned: "integer"
        case .real: "number"
        case .string: "string"
        case .date: "date"
        case .data: "data"
        case .array: "array"
        case .dictionary: "object"
        }
    }
}
