import PrefsCommands

/// The tool `prefs`. Its commands are a module of their own, which the program with the page's server uses, too.
@main
enum Main {
    static func main() async { await Prefs.main() }
}
