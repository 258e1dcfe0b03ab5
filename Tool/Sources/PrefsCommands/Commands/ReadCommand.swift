import ArgumentParser
import Preferences

struct ReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Show a value, all values of a suite, or the values of all suites.",
        usage: "prefs read [<suite> | --file <path>] [<name>] [--json] [--origin] [--show-secrets]",
        discussion: """
            A string is shown without quotes, any other value as JSON. Without a name, each line is a name and its value. A \
            name such as frame.x is a member of the value of frame, unless a preference is named frame.x. A value that is \
            stored under a former name of its preference is shown under the present name, as the program reads it.

            With --origin, each line has a layer, the file and line (on etcd, the key) of the value, the name and the value. \
            The value that a program reads comes first; the values that it hides are marked as hidden.

            All commands show the values of secrets as <redacted>, to keep them off the screen and out of logs: anyone who \
            can read the file can read them. The program's schema marks secrets. --show-secrets shows them.
            """,
        aliases: ["get"]
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show JSON: the value, or one object of all names.") var json = false
    @Flag(help: "Show the location of each value in each layer.") var origin = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        if try !origin && options.isEmpty(words) { return try readAll() }
        let place = try options.place(&words)
        let name = words.popFirst()
        try words.end()
        if origin { return try readOrigins(name, of: place) }
        let redaction = try secrets.redaction(of: place)
        let schema = try place.readableSchema()
        let formerNames = FormerNames(schema)
        if let name {
            let former = schema?.formerName(in: name)
            // The user asks for what is stored under a former name.
            let values = try place.values(former == nil ? formerNames : FormerNames(nil))
            let contents = values.contents
            let path = ValuePath(name, schema) { contents[$0] }
            guard let value = path.member(of: contents[path.name]) else {
                throw try place.absent(name, of: contents.keys, formerNames)
            }
            let shown = redaction.shown(value, of: path.name)
            if json {
                Terminal.write(try ValueText.json(shown) + "\n")
            } else {
                Terminal.writeData(try ValueText.plain(shown) + "\n")
            }
            if redaction.hides(path.name) {
                Terminal.warn("\"\(path.name)\" is a secret; --show-secrets shows its value")
            }
            values.reportFormerName(of: path.name)
            if let former, let present = formerNames.preference(storedAs: former) {
                Terminal.warn("\"\(former)\" is a former name of \"\(present)\"")
            }
            return
        }
        let values = try place.values(formerNames)
        if json {
            let shown = redaction.shown(values.contents)
            Terminal.write(try ValueText.json(shown, indented: Terminal.isOutput))
        } else {
            var table = Table()
            for (name, value) in values.contents.sortedByName {
                table.add(ValueText.name(name), try redaction.line(value, of: name))
            }
            Terminal.write(table.text())
        }
        values.reportFormerNames()
    }

    /// A value of one layer.
    private struct Row {
        /// The name as the user wrote it.
        let name: String
        /// The name of the preference, which `name` may be a member of.
        let preference: String
        let layer: PlaceLayer
        let origin: ValueOrigin
        let value: PropertyListValue
        let isHidden: Bool

        var storedName: String? { layer.storedNames[preference] }
    }

    private func readOrigins(_ name: String?, of place: any Place) throws {
        let redaction = try secrets.redaction(of: place)
        let schema = try place.readableSchema()
        let formerNames = FormerNames(schema)
        // The user may ask for what is stored under a former name.
        let isFormer = name.flatMap { schema?.formerName(in: $0) } != nil
        let layers = try place.layers(isFormer ? FormerNames(nil) : formerNames)
        var shown: Set<String> = []
        var rows: [Row] = []
        for layer in layers.reversed() {
            let origins = try layer.origins()
            let path = name.map { ValuePath($0, schema) { layer.contents[$0] } }
            for (known, value) in layer.contents.sortedByName {
                // A layer of higher precedence hides the whole value, even members that its own value lacks.
                let isHidden = !shown.insert(known).inserted
                guard path.map({ $0.name == known }) ?? true else { continue }
                guard let origin = origins[known], let part = path.map({ $0.member(of: value) }) ?? value else {
                    continue
                }
                rows.append(
                    Row(
                        name: name ?? known,
                        preference: known,
                        layer: layer,
                        origin: origin,
                        value: part,
                        isHidden: isHidden
                    )
                )
            }
        }
        if let name, rows.isEmpty { throw try place.absent(name, of: layers.flatMap(\.contents.keys), formerNames) }
        guard try !rows.isEmpty || place.exists() else { throw place.missing }
        // Sorted by name, for each name by decreasing precedence, which is the order of `rows`.
        let sorted = rows.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        var table = Table()
        for row in sorted.map(\.element) {
            if json {
                var members: [String: PropertyListValue] = [
                    "name": .string(row.name), "value": redaction.shown(row.value, of: row.preference),
                    "layer": .string(row.layer.source.rawValue),
                    "hidden": .boolean(row.isHidden),
                ]
                members["isSecret"] = redaction.mark(row.preference)
                members["storedAs"] = row.storedName.map { .string($0) }
                // The name in a domain is `name`, or `storedAs`.
                let location = row.layer.kind == .domain ? row.layer.location : row.origin.place
                members[row.layer.kind.rawValue] = .string(location)
                members["line"] = row.origin.line.map { .integer(Int64($0)) }
                Terminal.write(try ValueText.json(.dictionary(members)) + "\n")
            } else {
                let cells = [
                    row.layer.source.rawValue, row.origin.text, ValueText.name(row.name),
                    try redaction.line(row.value, of: row.preference),
                ]
                let notes = [row.isHidden ? "hidden" : nil, row.storedName.map { "stored as \(ValueText.name($0))" }]
                table.add(cells + notes.compactMap(\.self))
            }
        }
        Terminal.write(table.text())
    }

    private func readAll() throws {
        var all: [String: PropertyListValue] = [:]
        var table = Table()
        var stored = PresentValues()
        let failure = try options.suites().forEach(secrets.redaction) { suite, values, redaction in
            stored.storedNames.merge(values.storedNames) { $1 }
            if json { return all[suite] = .dictionary(redaction.shown(values.contents)) }
            for (name, value) in values.contents.sortedByName {
                table.add(ValueText.name(suite), ValueText.name(name), try redaction.line(value, of: name))
            }
        }
        Terminal.write(json ? ShownText(try ValueText.json(all, indented: Terminal.isOutput)) : table.text())
        stored.reportFormerNames()
        if let failure { throw failure }
    }
}
