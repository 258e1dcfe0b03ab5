import ArgumentParser
import Preferences
import PreferencesSchema

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Set the values of a file in another format, as one change.",
        usage:
            "prefs import [<suite> | --file <path>] [<source>] [--dry-run] [--keep | --replace] [--force] [--show-secrets]",
        discussion: """
            The source is a JSON object, JSON lines, an XML or binary property list (from a Mac: `defaults export`), or \
            the output of `defaults read`; - is standard input. Without a source, reads the file of Foundation's \
            UserDefaults for the suite, <suite>.plist in the configuration folder.

            --replace removes the names that the source doesn't have, except secrets, which `export` leaves out. --keep \
            doesn't change names that are already set.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show what would change, and change nothing.") var dryRun = false
    @Flag(help: "Don't change names that are already set.") var keep = false
    @Flag(help: "Remove the names that the source doesn't have, except secrets.") var replace = false
    @Flag(help: "Also set values that the program's schema doesn't allow.") var force = false
    @Argument(help: "The suite unless --file is given, and the source.", completion: Completion.suites)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let suite = options.file == nil ? words.first : nil
        let place = try options.place(&words)
        let source = try words.popFirst() ?? foundationFile(of: suite)
        try words.end()
        guard !keep || !replace else {
            throw Failure(.usage, "--keep and --replace exclude each other; give one of them")
        }
        if force { place.ignoreSchema() }
        let stores = try place.open()
        let progress = Progress("Importing \(source)")
        let schema = try place.readableSchema()
        let formerNames = FormerNames(schema)
        let redaction = try replace || dryRun ? secrets.redaction(of: place) : .everything
        let imported = try ImportSource.changes(in: source, schema: schema)
        for name in imported.keys.sorted()
        where imported[name] == .string(ValueText.redacted) && schema?.property(of: name)?.isSecret == true {
            throw Failure(
                .usage,
                "\(source) has \(ValueText.redacted) instead of the secret \"\(name)\"; remove the name from it. Nothing was "
                    + "changed"
            )
        }
        if !force {
            let own = stores.ownContents
            try schema?.check(changes(imported, of: own, redaction, formerNames), from: own)
        }
        if dryRun {
            let old = stores.ownContents
            var new = old
            for (name, value) in changes(imported, of: old, redaction, formerNames) { new[name] = value }
            _ = consume progress
            let differences = Difference.between(old, new)
            return Terminal.write(try Difference.text(differences, redaction))
        }
        try stores.store.transaction { transaction in
            // Read through the transaction, so that the body runs again if another process changes a value now.
            if keep { for name in imported.keys.flatMap(formerNames.names) { _ = transaction[name] } }
            let changes = changes(imported, of: stores.ownContents, redaction, formerNames)
            for (name, value) in changes { transaction[name] = value }
        }
    }

    /// Returns the changes to make to the values that the user's file has.
    private func changes(
        _ imported: [String: PropertyListValue?],
        of own: [String: PropertyListValue],
        _ redaction: Redaction,
        _ formerNames: FormerNames
    ) -> [String: PropertyListValue?] {
        if keep { return imported.filter { formerNames.value(of: $0.key, in: own) == nil } }
        guard replace else { return formerNames.storing(imported) }
        // Exported files have no secrets, so a missing secret doesn't mean that it should be removed.
        let removed = own.keys.filter { !redaction.isSecret($0) }
        return formerNames.storing(imported).merging(removed.map { ($0, nil) }) { imported, _ in imported }
    }

    private func foundationFile(of suite: String?) throws -> String {
        // UserDefaults has no state.
        guard let suite, !options.state, let path = try options.suites().foundationFile(of: suite) else {
            throw Failure(.usage, "the source is missing; name a file, or - for standard input")
        }
        guard access(path, F_OK) == 0 else {
            throw Failure(.usage, "the source is missing, and UserDefaults has no file \(path); name a file, or -")
        }
        return path
    }
}
