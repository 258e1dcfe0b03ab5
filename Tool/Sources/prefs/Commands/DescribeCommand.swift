import ArgumentParser
import Preferences

struct DescribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Show where a value comes from, whether it may be changed, and what the program says of it.",
        usage: "prefs describe [<suite> | --file <path>] [<name>] [--json]",
        discussion: """
            Types, choices, ranges, defaults and descriptions come from the schema that the program was installed with: \
            preferences.schema.json beside the suite's file or the system's defaults. `prefs write`, `edit` and `import` \
            refuse what it doesn't allow.

            Without a name each line is a name of the schema with its type, what is allowed, the default and the \
            description; - stands for what isn't said.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Show a JSON object.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        let name = words.popFirst()
        try words.end()
        if let name { try describe(name, of: place) } else { try describeAll(of: place) }
    }

    private func describeAll(of place: any Place) throws {
        guard let schema = try place.schema() else {
            let path = place.schemaPaths.last.map { "; its program may be installed with one, such as \($0)" } ?? ""
            throw Failure(.absent, "there is no schema of \(place.title)\(path)")
        }
        if json {
            let all = try schema.properties.mapValues { PropertyListValue.dictionary(try Self.members($0)) }
            return Terminal.write(try ValueText.json(all, indented: Terminal.isOutput))
        }
        var table = Table()
        for (name, property) in schema.properties.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            let value = try property.defaultValue.map { try ValueText.json($0) }
            table.add(
                ValueText.name(name),
                property.type ?? "-",
                try property.allowed() ?? "-",
                value ?? "-",
                property.description.map(ValueText.line) ?? "-"
            )
        }
        Terminal.write(table.text())
    }

    private func describe(_ name: String, of place: any Place) throws {
        let property = try place.schema()?.properties[name]
        let layer = try place.layers().last { $0.contents[name] != nil }
        guard property != nil || layer != nil else {
            throw Failure(.absent, "\"\(name)\" is neither set in \(place.title) nor described by a schema")
        }
        let source = layer?.source
        let writability =
            source == .managed ? Writability.unwritable("an administrator manages it") : place.writability
        if json {
            var members = try property.map(Self.members) ?? [:]
            members["value"] = layer?.contents[name]
            members["source"] = .string(source?.rawValue ?? "default")
            switch writability {
            case .writable: members["writable"] = true
            case .unwritable: members["writable"] = false
            case .unknown: break
            }
            return Terminal.write(try ValueText.json(members, indented: Terminal.isOutput))
        }
        var table = Table()
        if let value = layer?.contents[name] { table.add("value", try ValueText.json(value)) }
        table.add("source", source?.rawValue ?? "default")
        switch writability {
        case .writable: table.add("writable", "yes")
        case .unwritable(let reason): table.add("writable", "no: \(reason)")
        case .unknown(let reason): table.add("writable", "unknown: \(reason)")
        }
        if let type = property?.type { table.add("type", type) }
        if let allowed = try property?.allowed() { table.add("allowed", allowed) }
        if let value = property?.defaultValue { table.add("default", try ValueText.json(value)) }
        if let text = property?.description { table.add("description", ValueText.line(text)) }
        Terminal.write(table.text())
    }

    private static func members(_ property: Schema.Property) throws -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        members["type"] = property.type.map { .string($0) }
        members["choices"] = property.choices.map { .array($0) }
        members["minimum"] = property.minimum
        members["maximum"] = property.maximum
        members["minLength"] = property.lengths.least.map { .integer(Int64($0)) }
        members["maxLength"] = property.lengths.greatest.map { .integer(Int64($0)) }
        members["default"] = property.defaultValue
        members["description"] = property.description.map { .string($0) }
        return members
    }
}
