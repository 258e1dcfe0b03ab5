import PrefsCommands

/// The tool `prefs` with the web server of `prefs serve`. It is a separate program, which `prefs` replaces itself with, because the
/// server's library would more than double the start time of every command.
@main
enum Main {
    static func main() async {
        await Prefs.main { try await PageServer.run($0, port: $1, isReadOnly: $2, ready: $3) }
    }
}
