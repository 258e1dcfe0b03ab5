import PrefsCommands

/// The tool `prefs` with the server of `prefs serve`, which `prefs` runs in its place: apart, as the server's library would more than
/// double the time in which each command starts.
@main
enum Main {
    static func main() async {
        await Prefs.main { try await PageServer.run($0, port: $1, isReadOnly: $2, ready: $3) }
    }
}
