import PrefsCommands

/// The tool `prefs` with the web server of `prefs serve`. It is a separate program, which `prefs` replaces itself with, so that the
/// server isn't in the program of the other commands.
@main
enum Main {
    static func main() async {
        await Prefs.main { try await PageServer.run($0, port: $1, isReadOnly: $2, ready: $3) }
    }
}
