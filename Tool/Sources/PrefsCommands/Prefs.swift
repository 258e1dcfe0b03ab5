package import ArgumentParser
import Dispatch
import Preferences
import PreferencesInspection

/// The command `prefs`.
package struct Prefs: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "prefs",
        abstract: "Show, change, watch and repair preferences.",
        usage: "prefs [--etcd <urls> …] <command> …",
        discussion: """
            A suite is the preferences of a program, by name: the values that an administrator manages, the user's values \
            and the system's defaults, merged as the program reads them. Changes go to the user's file. --file names a \
            file to use instead of a suite. --etcd names a cluster, whose suites many machines share. Running programs \
            see a change at once. Reading never creates anything. Values that a program declares as secrets are shown as \
            <redacted> unless --show-secrets is given.

            Exit codes: 0 done; 1 absent, `diff` found differences, or `merge` conflicts; 2 wrong usage, nothing changed; 3 damaged; \
            4 not permitted; 5 the system failed or another process interfered.
            """,
        version: "0.1.0",
        subcommands: [
            ReadCommand.self, WriteCommand.self, DeleteCommand.self, RenameCommand.self, FindCommand.self,
            DescribeCommand.self, ListCommand.self, PathCommand.self, EditCommand.self, WatchCommand.self,
            LogCommand.self, UndoCommand.self, DiffCommand.self, MergeCommand.self, ServeCommand.self,
            ImportCommand.self, ExportCommand.self, CheckCommand.self, CompactCommand.self,
            SchemaCommand.self,
        ]
    )

    @OptionGroup(title: "Suites on an etcd cluster") var etcd: EtcdOptions

    package init() {}

    /// Runs the command that the process's arguments name, and ends the process if it fails.
    ///
    /// - Parameter serving: Serves the page of `prefs serve`; `nil` in a program without the server, which runs `prefs-serve`.
    package static func main(serving: PageServing? = nil) async {
        Terminal.reserveStandardStreams()
        PreferenceStore.defaultIssueHandler = { Terminal.report($0) }
        var usage: String?
        do {
            try checkText()
            try checkCommand()
            var command = try parseAsRoot(WriteCommand.protected(Array(CommandLine.arguments.dropFirst())))
            usage = type(of: command).configuration.usage
            if let command = command as? ServeCommand {
                try await command.run(by: serving)
            } else if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try await DispatchQueue.commands.run { try command.run() }
            }
        } catch {
            end(error, usage)
        }
    }

    /// Rejects arguments that aren't UTF-8: Swift has replaced their bytes, and would store the replacements.
    private static func checkText() throws {
        // The runtime reads them in /proc/self/cmdline; without them every command would print the help and end with 0.
        guard CommandLine.argc > 0 else {
            throw Failure(.failed, "the arguments of the program can't be read; mount /proc")
        }
        for index in 0..<Int(CommandLine.argc) {
            guard let word = CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else { continue }
            throw Failure(.usage, "\"\(String(cString: word))\" isn't UTF-8 text; write it in UTF-8")
        }
    }

    /// Throws if the command doesn't exist, with a suggestion; the parser would only count the words after it.
    private static func checkCommand() throws {
        let commands = configuration.subcommands.map { $0.configuration }
        let names = commands.flatMap { [$0.commandName].compactMap(\.self) + $0.aliases } + ["help"]
        var words = CommandLine.arguments.dropFirst()
        _ = EtcdOptions.take(from: &words)
        // `help` is followed by a command, too.
        if words.first == "help" { words.removeFirst() }
        guard let word = words.first, !word.hasPrefix("-"), !names.contains(word) else { return }
        let hint = word.nearest(of: names).map { "did you mean \"\($0)\"? " } ?? ""
        throw Failure(.usage, "there is no command \"\(word)\"; \(hint)`prefs help` lists them")
    }

    private static func end(_ error: any Error, _ usage: String?) -> Never {
        switch error {
        case let failure as Failure where failure.showsUsage:
            Terminal.end(failure, usage: usage.map { "Usage: \($0)" })
        case let failure as Failure: Terminal.end(failure)
        case let error as PreferenceError: Terminal.end(Failure(error))
        default: break
        }
        // Help and the version are errors of the parser, too.
        let message = fullMessage(for: error)
        guard exitCode(for: error).isSuccess else {
            // "Error: …", and from the next line on the usage of the command.
            let text = message.hasPrefix("Error: ") ? message.dropFirst(7) : message[...]
            let line = text.prefix { $0 != "\n" }
            let usage = text[line.endIndex...].dropFirst()
            Terminal.end(Failure(.usage, String(line)), usage: usage.isEmpty ? nil : String(usage))
        }
        let isScript = CommandLine.arguments.contains { $0.hasPrefix("--generate-completion-script") }
        let commands = configuration.subcommands.map { $0.configuration }
        Terminal.write((isScript ? Completion.addingAliases(of: commands, to: message) : message) + "\n")
        Terminal.end(.done)
    }
}
