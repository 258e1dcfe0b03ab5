import ArgumentParser
import Preferences

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two suites, files, or clusters.",
        usage: "prefs diff [--file <path>] <suite or path> [<suite or path>] [--json] [--show-secrets]",
        discussion:
            """
            A word that begins with http:// or https:// is a suite on an etcd cluster, as in http://etcd1:2379/SUITE, with \
            the keys' prefix before the suite if it is not the default. Every other word with a slash is a path, and one \
            without a suite; a file may have any form that `prefs import` takes. Ends with 0 where nothing differs, else with 1.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show a JSON object for each difference.") var json = false
    @Argument(help: "What to compare.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let old = try options.file.map { try Side(file: $0) } ?? side(&words, "what to compare")
        let new = try side(&words, "what to compare with")
        try words.end()
        let redaction = try secrets.redaction(of: old.place).union(secrets.redaction(of: new.place))
        // The schema of one says what type a text of the other is of.
        let schema = try old.place.readableSchema() ?? new.place.readableSchema()
        let differences = Difference.between(try old.contents(schema), try new.contents(schema))
        if json {
            for difference in differences { Terminal.write(try difference.json(redaction) + "\n") }
        } else {
            Terminal.write(try Difference.text(differences, redaction))
        }
        if !differences.isEmpty { Terminal.end(.absent) }
    }

    private func side(_ words: inout ArraySlice<String>, _ what: String) throws -> Side {
        let word = try words.next(what)
        if let place = try options.prefs.etcd.place(of: word) { return Side(place: place) }
        return try word.contains("/") ? Side(file: word) : Side(place: options.suites().place(of: word))
    }
}

/// One of the two that are compared.
private struct Side {
    let place: any Place
    private let file: String?

    init(place: any Place) {
        self.place = place
        file = nil
    }

    /// A file of any form that can be imported.
    init(file path: String) throws {
        place = try FilePlace(file: path)
        file = path
    }

    func contents(_ schema: Schema?) throws -> [String: PropertyListValue] {
        if let file, try place.exists(), let contents = try ImportSource.contents(of: file, schema: schema) {
            return contents
        }
        return try place.contents()
    }
}
