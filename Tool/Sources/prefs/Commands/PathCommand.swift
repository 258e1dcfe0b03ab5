import ArgumentParser
@_spi(Tool) import Preferences

struct PathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Show where a suite's file lies, or would.",
        usage: "prefs path <suite> [--json]"
    )

    @Flag(help: "Show the files of all layers, as a JSON object.") var json = false
    @Argument(help: "The suite.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let suite = try words.next("the suite")
        try words.end()
        let location = try SuiteFiles(suite)
        guard json else { return Terminal.write(location.userPath + "\n") }
        let paths: [String: PropertyListValue] = [
            "managed": .string(location.managedPath),
            "user": .string(location.userPath),
            "system": .array(location.systemPaths.map { .string($0) }),
        ]
        Terminal.write(try ValueText.json(.dictionary(paths)) + "\n")
    }
}
