import ArgumentParser
import Dispatch
import Preferences

/// Serves the page on a port of the loopback address, 0 for any free port, until the task is cancelled, and calls `ready` with the
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
        abstract: "Serve a web page that shows all suites live, with search and editing.",
        usage: "prefs serve [<suite> | --file <path>] [--port <number>] [--read-only]",
        discussion: """
            Prints the link to the page on one line. The link has a token, without which values can't be read or changed; \
            it works only on this machine, until Ctrl-C ends the command. A shell reports that as exit code 130.

            The page shows each value, its origin and what it overrides, damage, and the changes of other programs as they \
            happen. Edits go to the user's file, are checked against the program's schema, and can be undone. Without a \
            suite, shows all suites, including those that are created later.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Option(help: ArgumentHelp("Listen on this port (default: a free port).", valueName: "number"))
    var port: UInt16?
    @Flag(help: "Show values, but don't change them.") var readOnly = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    /// Serves the page with `serving`, or replaces this process with `prefs-serve` and the same arguments if that is `nil`.
    func run(by serving: PageServing?) async throws {
        guard let serving else { try ChildProcess.replaceThisProcess(by: ChildProcess.sibling("prefs-serve")) }
        let inspector = try await DispatchQueue.commands.run { try self.inspector() }
        try await serving(inspector, port ?? 0, readOnly) { link in
            Terminal.write(link + "\n")
            if Terminal.isErrorOutput {
                Terminal.warn("open the link in a browser on this machine; Ctrl-C ends the page")
            }
        }
    }

    private func inspector() throws -> Inspector {
        var words = words[...]
        if try options.isEmpty(words) { return try Inspector(all: try options.suites(), isReadOnly: readOnly) }
        let name = options.file ?? words.first ?? ""
        let place = try options.place(&words)
        try words.end()
        // If the place can't be read now, the command fails; failures from now on are shown on the page.
        _ = try place.layers { _ in }
        return Inspector(name, place, isReadOnly: readOnly)
    }
}
