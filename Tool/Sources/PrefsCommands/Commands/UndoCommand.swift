import ArgumentParser
import Preferences

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Show the latest changes and undo the newest.",
        usage: "prefs undo [<suite> | --file <path>] [<name>] [--yes] [--json] [--show-secrets]",
        discussion: """
            Shows up to ten changes of the user's file, the newest last, each with its line number, and sets the values from \
            before the newest change, as one change. With a name, undoes the newest change of that name, and keeps the \
            other names that the same line changed. Undoing twice redoes. On etcd, a change is a transaction of the suite, with its \
            revision, time, author and reason; it isn't undone if one of its values was changed since.

            At a terminal, asks first; elsewhere, and with --json, changes nothing without --yes. Changes from before the file, or \
            etcd's history, was compacted aren't known and can't be undone.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Undo the newest change without asking.") var yes = false
    @Flag(help: "Show a JSON object for each value that a change sets, with the change's line.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        let names = try place.names(ofNext: &words)
        let changes = try place.changes(of: names, limit: 10)
        guard let newest = changes.last else { return }
        let redaction = try secrets.redaction(of: place)
        if yes {
            try undo(newest, in: place, names)
            let undone = newest.reversed
            return Terminal.write(
                json ? ShownText(try undone.json(redaction)) : try Difference.text(undone.differences, redaction)
            )
        }
        if json { return Terminal.write(try changes.map { try $0.json(redaction) }.joined()) }
        for change in changes { Terminal.write(try change.text(redaction)) }
        guard Terminal.canAsk else {
            throw Failure(.usage, "nothing was changed; to undo \(newest.title), give --yes")
        }
        guard Terminal.confirms("Undo the newest change?", standard: false) else { return }
        try undo(newest, in: place, names)
    }

    private func undo(_ change: ChangeHistory.Change, in place: any Place, _ names: [String]?) throws {
        let stores = try place.open()
        try stores.store.transaction { transaction in
            // Read through the transaction, so that the body runs again if another process changes a value now.
            let contents = transaction.contents
            guard try place.history(of: names, limit: 1).changes.last == change else {
                throw Failure(
                    .failed,
                    "another program has just changed \(place.isShared ? "the suite" : "the file"); nothing was undone. Show the "
                        + "newest change with `prefs undo`"
                )
            }
            for difference in change.differences {
                guard !place.isShared || contents[difference.name] == difference.new else {
                    throw Failure(
                        .failed,
                        "\"\(difference.name)\" was changed after \(change.title) by a program that keeps no log, such as "
                            + "etcdctl; nothing was undone. Set the value with `prefs write`"
                    )
                }
                transaction[difference.name] = difference.old
            }
        }
    }
}
