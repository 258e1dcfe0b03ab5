import ArgumentParser
import Preferences

struct ReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Show a value, all values of a suite, or those of all suites.",
        usage: "prefs read [<suite> | --file <path>] [<name>] [--json]",
        discussion:
            "A text value is shown without quotes, every other value as JSON. Without a name each line is a name and its value."
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Show JSON: the value, or one object of all names.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        if words.isEmpty, options.file == nil { return try readAll() }
        let place = try options.place(&words)
        if let name = words.popFirst() {
            try words.end()
            guard let value = try place.contents()[name] else { throw try place.absent(name) }
            if json { return Terminal.write(try ValueText.json(value) + "\n") }
            return Terminal.writeData(try ValueText.plain(value) + "\n")
        }
        let contents = try place.contents()
        if json { return Terminal.write(try ValueText.json(contents, indented: Terminal.isOutput)) }
        var table = Table()
        for (name, value) in contents.sortedByName { table.add(ValueText.name(name), try ValueText.json(value)) }
        Terminal.write(table.text())
    }

    private func readAll() throws {
        var all: [String: PropertyListValue] = [:]
        var table = Table()
        let failure = try options.suites().forEach { suite, contents in
            if json { return all[suite] = .dictionary(contents) }
            for (name, value) in contents.sortedByName {
                table.add(ValueText.name(suite), ValueText.name(name), try ValueText.json(value))
            }
        }
        Terminal.write(json ? ShownText(try ValueText.json(all, indented: Terminal.isOutput)) : table.text())
        if let failure { throw failure }
    }
}
