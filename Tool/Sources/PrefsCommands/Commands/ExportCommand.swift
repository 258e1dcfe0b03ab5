import ArgumentParser
import Preferences

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all values as JSON, an XML property list or JSON lines.",
        usage: "prefs export [<suite> | --file <path>] [<destination>] [--format json|xml|lines] [--show-secrets]",
        discussion: """
            Without a destination, or with -, writes to standard output; a file is replaced atomically. Without a format, a \
            destination that ends in .plist or .xml gets XML, one that ends in .jsonl gets lines, any other gets JSON.

            Secrets are left out, and named on standard error, unless --show-secrets is given.
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json, xml, lines
    }

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Option(help: "The format: json, xml or lines.") var format: Format?
    @Argument(help: "The suite unless --file is given, and the destination.", completion: Completion.suites)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        let destination = words.popFirst() ?? "-"
        guard !destination.isEmpty else { throw Failure(.usage, "the destination is empty; name a file, or -") }
        try words.end()
        // Throws if the schema can't be read, unless secrets are shown.
        let redaction = try secrets.redaction(of: place)
        // Also what a program has stored for nil, as only it hides the system's value after an import.
        let all = try place.storedValues(FormerNames(place.readableSchema())).contents
        let (contents, hidden) = redaction.split(all)
        let format = format ?? Self.format(of: destination)
        let text: String
        switch format {
        case .json: text = try ValueText.json(contents)
        case .xml: text = try PropertyListXML.text(of: contents, advice: "; use --format json")
        case .lines: text = try contents.sortedByName.map { try ValueText.line($0.name, $0.value) }.joined()
        }
        if destination == "-" {
            // The escapes that a terminal needs are valid in JSON, but not in XML.
            if format == .xml { Terminal.writeData(text) } else { Terminal.write(text) }
        } else {
            try OutputFile.replace(destination, with: Array(text.utf8))
        }
        secrets.reportLeftOut(hidden)
    }

    private static func format(of destination: String) -> Format {
        if destination.hasSuffix(".plist") || destination.hasSuffix(".xml") { return .xml }
        return destination.hasSuffix(".jsonl") ? .lines : .json
    }
}
