import ArgumentParser

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the changes, the newest first.",
        usage: "prefs log [<suite> | --file <path>] [<name>] [--limit <count>] [--json] [--show-secrets]",
        discussion: """
            Shows the changes of the user's file that are still known, each with its line number and with the values before and \
            after it; with a name, the changes of that name. On etcd, a change is a transaction of the suite: its line shows the \
            revision, the time by the clock of the host, the user and host, the program, and the reason that --reason gave. Changes by \
            programs without this library, such as etcdctl, are not logged.

            Changes from before the file, or etcd's history, was compacted aren't known.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Option(help: ArgumentHelp("The largest number of changes (default: 20).", valueName: "count")) var limit = 20
    @Flag(help: "Show a JSON object for each value that a change sets.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        guard limit > 0 else { throw Failure(.usage, "--limit takes a number of changes, at least 1") }
        let history = try place.changes(of: try place.names(ofNext: &words), limit: limit)
        let redaction = try secrets.redaction(of: place)
        for change in history.changes.reversed() {
            Terminal.write(json ? ShownText(try change.json(redaction)) : try change.text(redaction))
        }
        if let compaction = history.compaction {
            Terminal.warn("these are the changes \(compaction); older ones aren't known")
        }
    }
}
