import ArgumentParser
import Preferences

struct RenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Move a value to another name.",
        usage: "prefs rename [<suite> | --file <path>] <old> <new> [--force]"
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Replace what the new name has, which need not be in the program's schema.") var force = false
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
        guard old != new else { throw Failure(.usage, "the old name and the new one are the same") }
        let stores = try place.open()
        try stores.store.transaction { transaction in
            guard let value = stores.own[old] else { throw try place.absent(old, in: stores) }
            guard force || transaction[new] == nil else {
                throw Failure(.usage, "\"\(new)\" is set already; use --force to replace its value")
            }
            // Read through the transaction, so that a change meanwhile makes the body run again.
            let moved = transaction[old] ?? value
            if !force { try place.check([new: moved], from: [:]) }
            transaction[new] = moved
            transaction[old] = nil
        }
    }
}
