import ArgumentParser
import Glibc
import Preferences

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Set what a file of another form holds, as one change.",
        usage: "prefs import [<suite> | --file <path>] [<source>] [--dry-run] [--replace]",
        discussion: """
            The source is a JSON object, JSON lines, an XML or binary property list (from a Mac: `defaults export`), or \
            what `dconf dump` wrote; - is standard input. Without a source it is what Foundation's UserDefaults left for \
            the suite, <suite>.plist in the configuration folder.

            Names that the source doesn't have stay as they are, unless --replace is given. A name of a dconf dump is its \
            path and key, as in org/gnome/calculator/base.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Show what would change, and change nothing.") var dryRun = false
    @Flag(help: "Remove the names that the source doesn't have.") var replace = false
    @Argument(help: "The suite unless --file is given, and the source.", completion: Completion.suites)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let suite = options.file == nil ? words.first : nil
        let place = try options.place(&words)
        let source = try words.popFirst() ?? Self.foundationFile(of: suite)
        try words.end()
        let stores = try place.open()
        let progress = Progress("Importing \(source)")
        let imported = try ImportSource.changes(in: source)
        try place.check(imported)
        var changes = imported
        if replace {
            for name in stores.own.names where imported[name] == nil { changes.updateValue(nil, forKey: name) }
        }
        if dryRun {
            let old = stores.own.contents
            var new = old
            for (name, value) in changes { new[name] = value }
            _ = consume progress
            return Terminal.write(try Difference.text(Difference.between(old, new)))
        }
        try stores.store.transaction { transaction in
            for (name, value) in changes { transaction[name] = value }
        }
    }

    private static func foundationFile(of suite: String?) throws -> String {
        guard let suite else { throw Failure(.usage, "the source is missing; name a file, or - for standard input") }
        let path = "\(try FileSuites.folder())/\(suite).plist"
        guard access(path, F_OK) == 0 else {
            throw Failure(.usage, "the source is missing, and Foundation has left none at \(path); name a file, or -")
        }
        return path
    }
}
