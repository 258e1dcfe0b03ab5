import ArgumentParser
import Preferences

struct PathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Show the path of a suite's file, even if the file doesn't exist.",
        usage: "prefs path <suite> [--json]",
        discussion: "On etcd, shows the prefix of the suite's keys."
    )

    @ParentCommand var etcd: EtcdOptions
    @Flag(help: "Show the files of all layers, as a JSON object.") var json = false
    @Argument(help: "The suite.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let suite = try words.next("the suite")
        try words.end()
        let paths = try etcd.suites().paths(of: suite)
        if json {
            Terminal.write(try ValueText.json(.dictionary(paths.all)) + "\n")
        } else {
            Terminal.write(path: paths.own)
        }
    }
}
