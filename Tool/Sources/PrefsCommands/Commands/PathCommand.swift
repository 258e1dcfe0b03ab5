import ArgumentParser
import Preferences

struct PathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Show where a suite's file lies, or would.",
        usage: "prefs path <suite> [--json]",
        discussion: "On etcd: what the keys of the suite begin with."
    )

    @ParentCommand var prefs: Prefs
    @Flag(help: "Show the files of all layers, as a JSON object.") var json = false
    @Argument(help: "The suite.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let suite = try words.next("the suite")
        try words.end()
        let paths = try prefs.etcd.suites().paths(of: suite)
        Terminal.write(json ? try ValueText.json(.dictionary(paths.all)) + "\n" : paths.own + "\n")
    }
}
