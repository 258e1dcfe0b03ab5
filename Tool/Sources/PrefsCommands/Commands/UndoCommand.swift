import ArgumentParser
@_spi(Tool) import Preferences

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Show the latest changes and undo the newest.",
        usage: "prefs undo [<suite> | --file <path>] [<name>] [--yes] [--json] [--show-secrets]",
        discussion: """
            Shows up to ten changes of the user's file, the newest last, each with its line number, and sets the values from \
            before the newest change, as one change. With a name, undoes the newest change of that name, and keeps the \
            other names that the same line changed. Undoing twice redoes.

            At a terminal, asks first; elsewhere, and with --json, changes nothing without --yes. Changes from before the file was compacted \
            aren't known and can't be undone.
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
        let name = words.isEmpty ? nil : try words.nextName()
        try words.end()
        guard let path = try place.file(for: .undo), try place.exists() else { throw place.missing }
        // A write also removes the former names, which are restored with the value.
        let names = try name.map { FormerNames(try place.readableSchema()).names(of: $0) }
        let history = try ChangeHistory(path, of: names)
        guard let newest = history.changes.last else { throw history.nothing(in: place) }
        let redaction = try secrets.redaction(of: place)
        if yes {
            try undo(newest, in: place, at: path, names)
            let undone = ChangeHistory.Change(line: newest.line, differences: newest.differences.map(\.reversed))
            return Terminal.write(
                json ? ShownText(try undone.json(redaction)) : try Difference.text(undone.differences, redaction)
            )
        }
        if json {
            let lines = try history.changes.suffix(10).map { try $0.json(redaction) }
            return Terminal.write(lines.joined())
        }
        for change in history.changes.suffix(10) {
            let text = try Difference.text(change.differences, redaction)
            Terminal.write(ShownText("line \(change.line)\n", .dim) + text)
        }
        guard Terminal.canAsk else {
            throw Failure(.usage, "nothing was changed; to undo line \(newest.line), give --yes")
        }
        guard Terminal.confirms("Undo the newest change?", standard: false) else { return }
        try undo(newest, in: place, at: path, names)
    }

    private func undo(_ change: ChangeHistory.Change, in place: any Place, at path: String, _ names: [String]?) throws {
        let stores = try place.open()
        try stores.store.transaction { transaction in
            // Read through the transaction, so that the body runs again if another process changes a value now.
            _ = transaction.contents
            guard try ChangeHistory(path, of: names).changes.last == change else {
                throw Failure(
                    .failed,
                    "another program has just changed the file; nothing was undone. Show the newest change with `prefs undo`"
                )
            }
            for difference in change.differences { transaction[difference.name] = difference.old }
        }
    }
}

/// The changes that a file still holds, or those of one preference.
private struct ChangeHistory {
    /// A line and the values that it changed.
    struct Change: Equatable {
        let line: Int
        let differences: [Difference]

        /// Returns an object on a line for each value.
        func json(_ redaction: Redaction) throws -> String {
            try differences.map { try $0.json(redaction, ["line": .integer(Int64(line))]) + "\n" }.joined()
        }
    }

    /// In the order of the file.
    let changes: [Change]
    private let name: String?
    private let compactedLine: Int?

    /// Creates the history of a file.
    ///
    /// - Parameter names: The present name and the former names of the preference; `nil` for all.
    init(_ path: String, of names: [String]?) throws {
        let history = try Self.history(of: path)
        changes = history.entries.compactMap { entry in
            let differences = entry.change.differences.filter { names?.contains($0.name) ?? true }
            return differences.isEmpty ? nil : Change(line: entry.line, differences: differences)
        }
        name = names?.first
        compactedLine = history.compactedLine
    }

    private static func history(of path: String) throws -> PreferencesHistory {
        // The history must match the values that a store reads; another process may write between the two reads.
        for _ in 0..<3 {
            let contents = try PreferencesFile.contents(of: path) { Terminal.report($0) }
            let history = try PreferencesHistory(try InputFile.bytes(of: path))
            if history.contents == contents { return history }
        }
        throw Failure(
            .failed,
            "the changes of \(path) can't be determined: other programs keep writing it, or it has an object that spans several "
                + "lines, which `prefs check --repair` rewrites. Nothing was changed"
        )
    }

    /// Returns the failure if there is no change that can be undone.
    func nothing(in place: any Place) -> Failure {
        let what = name.map { "\"\($0)\"" } ?? "anything"
        guard let compactedLine else { return Failure(.absent, "no line of \(place.title) changes \(what)") }
        return Failure(
            .absent,
            "no line of \(place.title) changes \(what) after line \(compactedLine), where the file was compacted; the values from "
                + "before that aren't known. Nothing was changed; set a value with `prefs write`"
        )
    }
}
