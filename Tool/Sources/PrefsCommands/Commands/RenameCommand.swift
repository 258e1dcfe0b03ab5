import ArgumentParser
import Preferences
import PreferencesInspection

struct RenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Move a value to another name.",
        usage: "prefs rename [<suite> | --file <path>] <old> <new> [--force]"
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Replace the value of the new name, which need not be in the program's schema.") var force = false
    @Argument(
        help: "The suite unless --file is given, the old and the new name.",
        completion: Completion.suiteThenNames
    )
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        let old = try words.nextName("the old name")
        let new = try words.nextName("the new name")
        try words.end()
        guard old != new else { throw Failure(.usage, "the old name and the new name are the same; give two names") }
        if force { place.ignoreSchema() }
        let stores = try place.open()
        let schema = try place.readableSchema()
        let formerNames = FormerNames(schema)
        let redaction = Redaction(schema)
        guard force || !redaction.isSecret(old) || redaction.isSecret(new) else {
            throw Failure(
                .usage,
                "\"\(old)\" is a secret and \"\(new)\" isn't, so its value would be shown; --force renames it anyway"
            )
        }
        // Before the transaction, during which the file exists.
        guard stores.own[old] != nil else { throw try place.absent(old, in: stores, formerNames) }
        try stores.store.transaction { transaction in
            guard let value = stores.own[old] else { throw try place.absent(old, in: stores, formerNames) }
            // The program reads the user's value of a former name before the system's value.
            let isPresentName = formerNames.preference(storedAs: old) == new
            let replaced = transaction[new]?.unlessUnset
            guard force || (isPresentName ? stores.own[new]?.unlessUnset : replaced) == nil else {
                throw Failure(.usage, "\"\(new)\" is already set; use --force to replace its value")
            }
            // Read through the transaction, so that the body runs again if another process changes the value now.
            let moved = transaction[old] ?? value
            if !force { try schema?.check(moved, for: new) }
            transaction[new] = moved
            transaction[old] = nil
        }
    }
}
