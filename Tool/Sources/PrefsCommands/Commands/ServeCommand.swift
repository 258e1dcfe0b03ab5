import ArgumentParser
import Preferences

/// Answers pages on a port of the loopback address, 0 for any that is free, until the task is cancelled, and calls `ready` with the
/// link to the page.
package typealias PageServing =
    @Sendable (
        _ inspector: Inspector,
        _ port: UInt16,
        _ isReadOnly: Bool,
        _ ready: @escaping @Sendable (_ link: String) -> Void
    ) async throws -> Void

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Show a page in the browser with all suites: live, to search and to edit.",
        usage: "prefs serve [<suite> | --file <path>] [--port <number>] [--read-only]",
        discussion: """
            Prints the link to the page on a line of its own. The link has a token, without which nobody reads or changes \
            anything; it is for this machine alone and lasts until Ctrl-C ends the command, with the exit code 130 as a shell \
            has it.

            The page shows each value, where it comes from and what it differs from, damage, and what other programs change, \
            as it happens. Edits go to the user's file, are checked by the program's schema, and can be undone. Without a \
            suite all are shown, also those that are made meanwhile.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Option(help: ArgumentHelp("Listen on this port (default: one that is free).", valueName: "number"))
    var port: UInt16?
    @Flag(help: "Show values, but change none.") var readOnly = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    /// Runs the page by `serving`, or else the program `prefs-serve` in the place of this one, with the same arguments.
    func run(by serving: PageServing?) async throws {
        guard let serving else { try ChildProcess.replaceThisProcess(by: ChildProcess.sibling("prefs-serve")) }
        try await serving(try inspector(), port ?? 0, readOnly) { link in
            Terminal.write(link + "\n")
            if Terminal.isErrorOutput {
                Terminal.warn("open the link in a browser on this machine; Ctrl-C ends the page")
            }
        }
    }

    private func inspector() throws -> Inspector {
        var words = words[...]
        if words.isEmpty, options.file == nil { return try Inspector(all: try options.suites(), isReadOnly: readOnly) }
        let name = options.file ?? words.first ?? ""
        let place = try options.place(&words)
        try words.end()
        // A place that can't be read at all ends the command; later the page shows it.
        _ = try place.layers { _ in }
        return Inspector(name, place, isReadOnly: readOnly)
    }
}
