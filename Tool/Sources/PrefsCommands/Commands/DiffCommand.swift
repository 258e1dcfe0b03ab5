import ArgumentParser
import Preferences

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show the differences between two suites, files or clusters.",
        usage: "prefs diff [--file <path>] <suite or path> [<suite or path>] [--json] [--show-secrets]",
        discussion:
            """
            A word that begins with http:// or https:// is a suite on an etcd cluster, as in http://etcd1:2379/SUITE, with \
            the keys' prefix before the suite if it isn't the default. Any other word is a path if it has a slash, else a \
            suite. A file may have any format that `prefs import` reads. Ends with 0 if nothing differs, else with 1.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show a JSON object for each difference.") var json = false
    @Argument(help: "The two suites or files to compare.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let old = try options.file.map { try Side(file: $0) } ?? side(&words, "what to compare")
        let new = try side(&words, "what to compare with")
        try words.end()
        guard !options.state || old.isSuite || new.isSuite else {
            throw Failure(.usage, "--state needs a suite, and neither side is one; leave it out")
        }
        let redaction = try secrets.redaction(of: old.place).union(secrets.redaction(of: new.place))
        // One side may have no types, such as the output of `defaults read`; the other's schema has them.
        let schemas = (old: try old.place.readableSchema(), new: try new.place.readableSchema())
        let differences = Difference.between(
            try old.contents(schemas.old ?? schemas.new),
            try new.contents(schemas.new ?? schemas.old)
        )
        if json {
            for difference in differences { Terminal.write(try difference.json(redaction) + "\n") }
        } else {
            Terminal.write(try Difference.text(differences, redaction))
        }
        if !differences.isEmpty { Terminal.end(.absent) }
    }

    private func side(_ words: inout ArraySlice<String>, _ what: String) throws -> Side {
        let word = try words.next(what)
        if let place = try options.etcd.place(of: word) { return Side(place: place) }
        return try word.contains("/") ? Side(file: word) : Side(place: options.place(of: word), isSuite: true)
    }
}

/// One side of the comparison.
private struct Side {
    let place: any Place
    /// Whether it is a suite, whose state `--state` means.
    let isSuite: Bool
    private let file: String?

    init(place: any Place, isSuite: Bool = false) {
        (self.place, self.isSuite) = (place, isSuite)
        file = nil
    }

    /// Creates the side of a preferences file, or of a file of any format that can be imported.
    init(file path: String) throws {
        place = try FilePlace(file: path)
        isSuite = false
        file = path
    }

    func contents(_ schema: Schema?) throws -> [String: PropertyListValue] {
        if let file, try place.exists(), let contents = try ImportSource.contents(of: file, schema: schema) {
            return FormerNames(schema).present(contents).contents
        }
        return try place.values(FormerNames(schema)).contents
    }
}
