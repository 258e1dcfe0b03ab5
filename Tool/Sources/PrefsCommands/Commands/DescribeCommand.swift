import ArgumentParser
import Preferences
import PreferencesInspection
import PreferencesSchema

struct DescribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Show where a value comes from, whether you may change it, and how the program declares it.",
        usage: "prefs describe [<suite> | --file <path>] [<name>] [--json] [--show-secrets]",
        discussion: """
            Types, choices, ranges, defaults and descriptions come from the schema that was installed with the program: \
            preferences.schema.json in the folder of the suite's file or of the system's defaults. `prefs write`, `edit`, \
            `import` and `rename` reject values that it doesn't allow.

            Without a name, each line is a name that is set or declared, with its type, its value, the layer of the value \
            and, from the schema, the allowed values, the default and the description; - means none.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
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
        let schema = try place.schema()
        let known = try place.knownNames(schema)
        let redaction = try secrets.redaction(of: place)
        if json {
            let all = try known.map {
                ($0.name, PropertyListValue.dictionary(try Self.members(of: $0, in: schema, redaction)))
            }
            return Terminal.write(
                try ValueText.json(Dictionary(uniqueKeysWithValues: all), indented: Terminal.isOutput)
            )
        }
        var table = Table()
        for known in known {
            var cells = [
                ValueText.name(known.name), known.property?.type ?? known.value?.kind ?? "-",
                try known.value.map { try redaction.line($0, of: known.name) } ?? "-",
                known.source?.rawValue ?? "default",
            ]
            if schema != nil {
                cells += [
                    try known.property?.allowed() ?? "-",
                    try known.property?.defaultValue.map { try ValueText.json($0) } ?? "-",
                    known.property.map(Self.summary) ?? "not declared",
                ]
            }
            table.add(cells)
        }
        Terminal.write(table.text())
        known.reportFormerNames()
    }

    /// Returns the deprecation and the description, or else the title, of a preference.
    private static func summary(_ property: Schema.Property) -> String {
        let deprecated = property.deprecation.map { $0.isEmpty ? "deprecated" : "deprecated: \($0)" }
        let texts = [deprecated, property.description ?? property.title].compactMap(\.self)
        return texts.isEmpty ? "-" : ValueText.line(texts.joined(separator: "; "))
    }

    private static func members(
        of known: KnownName,
        in schema: Schema?,
        _ redaction: Redaction
    ) throws -> [String: PropertyListValue] {
        var members = try known.property.map(Self.members) ?? [:]
        members["type"] = members["type"] ?? known.value.map { .string($0.kind) }
        members["value"] = known.value.map { redaction.shown($0, of: known.name) }
        members["isSecret"] = redaction.mark(known.name)
        members["source"] = .string(known.source?.rawValue ?? "default")
        members["storedAs"] = known.storedName.map { .string($0) }
        if schema != nil, known.property == nil { members["declared"] = false }
        return members
    }

    private func describe(_ word: String, of place: any Place) throws {
        let schema = try place.schema()
        let formerNames = FormerNames(schema)
        let name = formerNames.preference(storedAs: word) ?? word
        let property = schema?.properties[name]
        let layers = try place.layers(formerNames)
        let deciding = layers.deciding(name)
        // A program that has set nil reads its default.
        let layer = deciding?.contents[name]?.unlessUnset == nil ? nil : deciding
        guard property != nil || layer != nil else {
            let known = layers.flatMap(\.contents.keys) + (schema?.properties.keys.map { $0 } ?? [])
            let hint = name.nearest(of: known).map { "; did you mean \"\($0)\"?" } ?? ""
            throw Failure(.absent, "\"\(name)\" is neither set in \(place.title) nor described by a schema\(hint)")
        }
        let redaction = try secrets.redaction(of: place)
        let source = layer?.source
        let storedName = layer?.storedNames[name]
        let writability =
            deciding?.source == .managed ? Writability.unwritable("an administrator manages it") : place.writability
        if json {
            var members = try property.map(Self.members) ?? [:]
            members["type"] = members["type"] ?? layer?.contents[name].map { .string($0.kind) }
            members["value"] = layer?.contents[name].map { redaction.shown($0, of: name) }
            members["isSecret"] = redaction.mark(name)
            members["source"] = .string(source?.rawValue ?? "default")
            members["storedAs"] = storedName.map { .string($0) }
            switch writability {
            case .writable: members["writable"] = true
            case .unwritable: members["writable"] = false
            case .unknown: break
            }
            Terminal.write(try ValueText.json(members, indented: Terminal.isOutput))
            return Self.reportFormerName(word, of: name)
        }
        var table = Table()
        if let value = layer?.contents[name] { table.add("value", try redaction.line(value, of: name)) }
        if let storedName { table.add("stored as", ValueText.name(storedName)) }
        if redaction.mark(name) != nil { table.add("secret", "yes") }
        table.add("source", source?.rawValue ?? "default")
        switch writability {
        case .writable: table.add("writable", "yes")
        case .unwritable(let reason): table.add("writable", "no: \(reason)")
        case .unknown(let reason): table.add("writable", "unknown: \(reason)")
        }
        if let type = property?.type ?? layer?.contents[name]?.kind { table.add("type", type) }
        if let allowed = try property?.allowed() { table.add("allowed", allowed) }
        if let value = property?.defaultValue { table.add("default", try ValueText.json(value)) }
        if let property { Self.addTexts(of: property, to: &table) }
        Terminal.write(table.text())
        Self.reportFormerName(word, of: name)
    }

    private static func addTexts(of property: Schema.Property, to table: inout Table) {
        if property.isRequired { table.add("required", "yes") }
        if let text = property.title { table.add("title", ValueText.line(text)) }
        if let text = property.section { table.add("section", ValueText.line(text)) }
        if let text = property.description { table.add("description", ValueText.line(text)) }
        if let text = property.deprecation { table.add("deprecated", text.isEmpty ? "yes" : ValueText.line(text)) }
        guard !property.formerNames.isEmpty else { return }
        table.add("formerly", property.formerNames.map(ValueText.name).joined(separator: ", "))
    }

    private static func reportFormerName(_ word: String, of name: String) {
        if word != name { Terminal.warn("\"\(word)\" is a former name of \"\(name)\"") }
    }

    private static func members(_ property: Schema.Property) throws -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        members["type"] = property.type.map { .string($0) }
        members["default"] = property.defaultValue
        members["title"] = property.title.map { .string($0) }
        members["section"] = property.section.map { .string($0) }
        members["description"] = property.description.map { .string($0) }
        members["deprecated"] = property.deprecation.map { .string($0) }
        if property.isRequired { members["required"] = true }
        if !property.formerNames.isEmpty { members["formerly"] = .array(property.formerNames.map { .string($0) }) }
        // The rules of a secret would reveal a part of its value.
        guard !property.isSecret else { return members }
        members["choices"] = property.choices.map { .array($0) }
        members["minimum"] = property.minimum
        members["maximum"] = property.maximum
        members["minLength"] = property.lengths.least.map { .integer(Int64($0)) }
        members["maxLength"] = property.lengths.greatest.map { .integer(Int64($0)) }
        members["requirement"] = property.requirement.map { .string($0) }
        if !property.rules.isEmpty {
            members["rules"] = .array(try property.rules.map { .dictionary(try Self.members($0)) })
        }
        return members
    }
}
