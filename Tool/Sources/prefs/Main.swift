import PrefsCommands

/// The tool `prefs`. Its commands are in a separate module, which `prefs-serve` uses, too.
@main
enum Main {
    static func main() async { await Prefs.main() }
}
