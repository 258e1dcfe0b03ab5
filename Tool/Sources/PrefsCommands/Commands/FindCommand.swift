import ArgumentParser
import Preferences

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find names and values that contain a text, ignoring case.",
        usage: "prefs find [<suite> | --file <path>] <text> [--json] [--show-secrets]",
        discussion: "Without a suite, searches all suites. Searches the values of secrets only with --show-secrets."
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show a JSON object for each match.") var json = false
    @Argument(help: "The suite, unless all are searched, and the text.", completion: Completion.suites)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        var place: (suite: String?, place: any Place)?
        if options.file != nil {
            place = (nil, try options.place(&words))
        } else if words.count > 1, let suite = words.popFirst() {
            place = (suite, try options.place(of: suite))
        }
        let text = try words.next("the text to find").lowercased()
        guard !text.isEmpty else { throw Failure(.usage, "the text to find is empty; `prefs read` shows everything") }
        try words.end()

        var table = Table()
        var lines = ""
        var found = PresentValues()
        func search(_ suite: String?, _ values: PresentValues, _ redaction: Redaction) throws {
            for (name, value) in values.contents.sortedByName {
                let names = [name, values.storedNames[name]].compactMap { $0?.lowercased() }
                // A match would reveal what a hidden value contains.
                let isFound =
                    try names.contains { $0.contains(text) } || !redaction.hides(name) && value.contains(text)
                guard isFound else { continue }
                found.storedNames[name] = values.storedNames[name]
                if json {
                    var found: [String: PropertyListValue] = [
                        "name": .string(name), "value": redaction.shown(value, of: name),
                    ]
                    found["isSecret"] = redaction.mark(name)
                    if let suite { found["suite"] = .string(suite) }
                    lines += try ValueText.json(.dictionary(found)) + "\n"
                } else if let suite {
                    table.add(ValueText.name(suite), ValueText.name(name), try redaction.line(value, of: name))
                } else {
                    table.add(ValueText.name(name), try redaction.line(value, of: name))
                }
            }
        }
        var failure: Failure?
        if let place {
            let redaction = try secrets.redaction(of: place.place)
            try search(place.suite, place.place.values(FormerNames(place.place.readableSchema())), redaction)
        } else {
            failure = try options.suites().forEach(secrets.redaction, search)
        }
        if let failure, table.isEmpty, lines.isEmpty { throw failure }
        guard !table.isEmpty || !lines.isEmpty else { throw Failure(.absent, "nothing contains \"\(text)\"") }
        Terminal.write(json ? ShownText(lines) : table.text())
        found.reportFormerNames()
        if let failure { throw failure }
    }
}

extension PropertyListValue {
    /// Returns whether the value's text, or a key or value inside it, contains a text in lower case, ignoring case.
    fileprivate func contains(_ text: String) throws -> Bool {
        switch self {
        case .string(let string): string.lowercased().contains(text)
        case .array(let elements): try elements.contains { try $0.contains(text) }
        case .dictionary(let members):
            try members.contains { try $0.key.lowercased().contains(text) || $0.value.contains(text) }
        // As it is shown.
        default: try ValueText.json(self).lowercased().contains(text)
        }
    }
}
