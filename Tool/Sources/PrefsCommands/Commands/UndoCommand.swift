import ArgumentParser
@_spi(Tool) import Preferences

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Show the last changes and take the newest back.",
        usage: "prefs undo [<suite> | --file <path>] [<name>] [--yes] [--show-secrets]",
        discussion: """
            Shows up to ten changes of the user's file, the newest last, each with its line number, and sets what stood there \
            before the newest, as one change. With a name, it is the newest change of that name, and the other names of its \
            line stay. To undo again redoes.

            At a terminal it asks; elsewhere it changes nothing without --yes. What stood in the file before it was compacted is not \
            known, and not taken back.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Take the newest back without a question.") var yes = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        let name = words.isEmpty ? nil : try words.nextName()
        try words.end()
        guard let path = try place.file(for: .undo), try place.exists() else { throw place.missing }
        let history = try ChangeHistory(path, of: name)
        guard let newest = history.changes.last else { throw history.nothing(in: place) }
        let redaction = try secrets.redaction(of: place)
        if yes {
            try takeBack(newest, in: place, at: path, name)
            return Terminal.write(try Difference.text(newest.differences.map(\.reversed), redaction))
        }
        for change in history.changes.suffix(10) {
            let text = try Difference.text(change.differences, redaction)
            Terminal.write(ShownText("line \(change.line)\n", .dim) + text)
        }
        guard Terminal.canAsk else {
            throw Failure(.usage, "nothing was changed; to take back line \(newest.line), give --yes")
        }
        guard Terminal.confirms("Take back the newest?", standard: false) else { return }
        try takeBack(newest, in: place, at: path, name)
    }

    private func takeBack(_ change: ChangeHistory.Change, in place: any Place, at path: String, _ name: String?) throws
    {
        let stores = try place.open()
        try stores.store.transaction { transaction in
            // Read through the transaction, so that a change from now on makes the body run again.
            _ = transaction.contents
            guard try ChangeHistory(path, of: name).changes.last == change else {
                throw Failure(
                    .failed,
                    "another program changed the file meanwhile; nothing was taken back. See what is the newest now with `prefs undo`"
                )
            }
            for difference in change.differences { transaction[difference.name] = difference.old }
        }
    }
}

/// The changes that a file still holds, or those of one name.
private struct ChangeHistory {
    /// What a line changed.
    struct Change: Equatable {
        let line: Int
        let differences: [Difference]
    }

    /// In the order of the file.
    let changes: [Change]
    private let name: String?
    private let compactedLine: Int?

    init(_ path: String, of name: String?) throws {
        let history = try Self.history(of: path)
        changes = history.entries.compactMap { entry in
            let differences = entry.change.differences.filter { name == nil || $0.name == name }
            return differences.isEmpty ? nil : Change(line: entry.line, differences: differences)
        }
        self.name = name
        compactedLine = history.compactedLine
    }

    private static func history(of path: String) throws -> PreferencesHistory {
        // What is shown has to be what a store reads, which others may change between the two looks.
        for _ in 0..<3 {
            let contents = try PreferencesFile.contents(of: path) { Terminal.report($0) }
            let history = try PreferencesHistory(try InputFile.bytes(of: path))
            if history.contents == contents { return history }
        }
        throw Failure(
            .failed,
            "the changes of \(path) can't be followed: others are writing it, or it holds an object over several lines, which "
                + "`prefs check --repair` rewrites. Nothing was changed"
        )
    }

    /// The failure where there is no change that can be taken back.
    func nothing(in place: any Place) -> Failure {
        let what = name.map { "\"\($0)\"" } ?? "anything"
        guard let compactedLine else { return Failure(.absent, "no line of \(place.title) changes \(what)") }
        return Failure(
            .absent,
            "no line of \(place.title) changes \(what) behind line \(compactedLine), where the file was compacted, and what was set "
                + "before isn't known. Nothing was changed; set a value with `prefs write`"
        )
    }
}
