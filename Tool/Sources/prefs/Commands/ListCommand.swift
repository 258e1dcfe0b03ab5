import ArgumentParser
import Preferences

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the suites that you have values in.",
        usage: "prefs list [--json]"
    )

    @ParentCommand var prefs: Prefs
    @Flag(help: "Show a JSON array.") var json = false

    func run() throws {
        let names = try prefs.etcd.suites().names()
        if json { return Terminal.write(try ValueText.json(.array(names.map { .string($0) })) + "\n") }
        Terminal.write(names.map { ValueText.name($0) + "\n" }.joined())
    }
}
