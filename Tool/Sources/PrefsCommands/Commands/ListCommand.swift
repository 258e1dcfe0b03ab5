import ArgumentParser
import Preferences
import PreferencesSchema

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the suites in which you have values, or the names and values of one suite.",
        usage: "prefs list [<suite> | --file <path>] [--json] [--show-secrets]",
        discussion: """
            For a suite, each line is a name that is set or declared, with the value that the program reads. A * marks names \
            whose values differ from the program's defaults or, without a schema, all names that are set.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show a JSON array of suites, or an object of names.") var json = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        if try options.isEmpty(words) { return try listSuites() }
        let place = try options.place(&words)
        try words.end()
        var table = Table()
        var all: [String: PropertyListValue] = [:]
        let redaction = try secrets.redaction(of: place)
        let names = try place.knownNames(try place.readableSchema())
        for known in names {
            let value = known.value ?? known.property?.defaultValue
            if json {
                var members: [String: PropertyListValue] = ["differs": .boolean(known.differs)]
                members["value"] = value.map { redaction.shown($0, of: known.name) }
                members["isSecret"] = redaction.mark(known.name)
                members["storedAs"] = known.storedName.map { .string($0) }
                all[known.name] = .dictionary(members)
            } else {
                let text = try value.map { try redaction.line($0, of: known.name) } ?? "-"
                table.add(known.differs ? "*" : "", ValueText.name(known.name), text)
            }
        }
        Terminal.write(json ? ShownText(try ValueText.json(all, indented: Terminal.isOutput)) : table.text())
        names.reportFormerNames()
    }

    private func listSuites() throws {
        let names = try options.suites().names()
        if json { return Terminal.write(try ValueText.json(.array(names.map { .string($0) })) + "\n") }
        Terminal.write(names.map { ValueText.name($0) + "\n" }.joined())
    }
}
