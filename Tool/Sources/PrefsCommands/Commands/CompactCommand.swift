import ArgumentParser
import PreferencesInspection

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Rewrite the file without the lines that later lines override.",
        usage: "prefs compact [<suite> | --file <path>]",
        discussion: "Programs can use the file at the same time. Damaged lines stay."
    )

    @OptionGroup var options: PlaceOptions
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        try words.end()
        guard let path = try place.file(for: .compact) else { throw place.missing }
        let file = try FileReport(path)
        try file.checkWritable()
        let progress = Progress("Compacting \(path)")
        try PreferencesFile.compact(path)
        _ = consume progress
        let after = try FileReport(path).size
        Terminal.write("\(path): \(file.size) bytes before, \(after) now\n")
    }
}
