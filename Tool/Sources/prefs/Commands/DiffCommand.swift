import ArgumentParser
import Preferences

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two suites, files, or clusters.",
        usage: "prefs diff [--file <path>] <suite or path> [<suite or path>] [--json]",
        discussion:
            """
            A word that begins with http:// or https:// is a suite on an etcd cluster, as in http://etcd1:2379/SUITE, with \
            the keys' prefix before the suite if it is not the default. Every other word with a slash is a path, and one \
            without a suite. Ends with 0 where nothing differs, else with 1.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Show a JSON object for each difference.") var json = false
    @Argument(help: "What to compare.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let old = try options.file.map { try FilePlace(file: $0) } ?? place(&words, "what to compare")
        let new = try place(&words, "what to compare with")
        try words.end()
        let differences = Difference.between(try old.contents(), try new.contents())
        if json {
            for difference in differences { Terminal.write(try difference.json() + "\n") }
        } else {
            Terminal.write(try Difference.text(differences))
        }
        if !differences.isEmpty { Terminal.end(.absent) }
    }

    private func place(_ words: inout ArraySlice<String>, _ what: String) throws -> any Place {
        let word = try words.next(what)
        if let place = try options.prefs.etcd.place(of: word) { return place }
        return try word.contains("/") ? FilePlace(file: word) : options.suites().place(of: word)
    }
}
