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
        let advice = "Nothing was changed; set a value with `prefs write`"
        let changes = try place.changes(of: names, limit: yes ? 1 : 10, advice: advice).changes
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
        try checkReadable(change)
        let stores = try place.open()
        if place.isShared {
            // Before the transaction, whose time limit is not for a walk through the history.
            try checkNewest(change, in: place, names)
            if let name = try place.nameChanged(after: change) {
                throw Failure(
                    .failed,
                    "\"\(name)\" was changed after \(change.title) by a program that keeps no log, such as etcdctl; nothing was "
                        + "undone. Set the value with `prefs write`"
                )
            }
        }
        try stores.store.transaction { transaction in
            if place.isShared {
                // Only these names, so that writes of others are no conflicts.
                for difference in change.differences where transaction[difference.name] != difference.new {
                    throw Self.conflict(in: place)
                }
            } else {
                // Read through the transaction, so that the body runs again if another process changes a value now.
                _ = transaction.contents
                try checkNewest(change, in: place, names)
            }
            for difference in change.differences { transaction[difference.name] = difference.old }
        }
    }

    /// Throws if the values before a change can't be restored.
    private func checkReadable(_ change: ChangeHistory.Change) throws {
        guard !change.isCompacted else {
            throw Failure(
                .failed,
                "the values before \(change.title) are compacted; nothing was undone. Set a value with `prefs write`"
            )
        }
        for difference in change.differences where difference.isOldUnreadable || difference.isNewUnreadable {
            throw Failure(
                .failed,
                "\"\(difference.name)\" had a value \(difference.isOldUnreadable ? "before" : "after") \(change.title) that can't be "
                    + "read; nothing was undone. Set the value with `prefs write`, or remove it with `prefs delete`"
            )
        }
    }

    private func checkNewest(_ change: ChangeHistory.Change, in place: any Place, _ names: [String]?) throws {
        guard try place.history(of: names, limit: 1).changes.last == change else { throw Self.conflict(in: place) }
    }

    private static func conflict(in place: any Place) -> Failure {
        Failure(
            .failed,
            "another program has just changed \(place.isShared ? "the suite" : "the file"); nothing was undone. Show the newest "
                + "change with `prefs undo`"
        )
    }
}
