import ArgumentParser
@_spi(Tool) import Preferences
import Synchronization

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Look for damage, and at sizes, permissions, lock holders and watch limits.",
        usage: "prefs check [<suite> | --file <path>] [--repair]",
        discussion: """
            Ends with 3 where lines are damaged, with 4 where the file or its folder can't be written. --repair writes the \
            file anew without the damaged lines, and keeps these in a file beside it.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Write the file anew; the damaged lines are kept beside it.") var repair = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let path = try options.place(&words).file(for: repair ? .repair : .check)
        try words.end()
        let progress = Progress("Checking \(path)")
        let file = try FileReport(path)
        var contents: [String: PropertyListValue]
        var damage: [PreferencesError]
        do { (contents, damage) = try Self.read(path) } catch let error as PreferencesError
            where error.code == .notPermitted
        {
            _ = consume progress
            // The owners are the reason, so they are shown first.
            Terminal.write(try Self.owners(of: file).text())
            throw error
        }
        var copies: [String] = []
        if repair, !damage.isEmpty {
            try file.checkWritable()
            let before = try file.damagedCopies()
            try PreferencesFile.compact(path)
            copies = try file.damagedCopies().filter { !before.contains($0) }
            (contents, _) = try Self.read(path)
            damage = []
        }
        _ = consume progress

        var table = try Self.owners(of: file)
        table.add(
            "size",
            "\(try FileReport(path).size) bytes, \(contents.count == 1 ? "1 name" : "\(contents.count) names")"
        )
        table.add("needed", "\(try contents.reduce(0) { try $0 + ValueText.line($1.key, $1.value).utf8.count }) bytes")
        table.add("writable", file.problemOfWriting ?? "yes")
        table.add("locked by", file.lockHolders())
        table.add("watches", FileReport.watchLimits())
        table.add("damage", damage.isEmpty ? "none" : damage.count == 1 ? "1 line" : "\(damage.count) lines")
        for copy in copies { table.add("repaired", "the damaged lines are kept in \(copy)") }
        Terminal.write(table.text())
        for error in damage { Terminal.warn(error.message) }
        if !damage.isEmpty {
            throw Failure(.damaged, "`prefs check --repair` moves the damaged lines to a file beside it")
        }
        try file.checkWritable()
    }

    private static func owners(of file: FileReport) throws -> Table {
        var table = Table()
        table.add("file", file.path)
        table.add("permissions", file.permissions)
        for part in try file.way() { table.add(part.title, part.text) }
        return table
    }

    /// The contents, and what could not be read of them.
    private static func read(_ path: String) throws -> ([String: PropertyListValue], [PreferencesError]) {
        let found = Issues()
        let contents = try PreferencesFile.contents(of: path) { found.add($0) }
        return (contents, found.all)
    }
}

/// What the library reports while a file is read.
private final class Issues: Sendable {
    private let found = Mutex<[PreferencesError]>([])

    func add(_ error: PreferencesError) { found.withLock { $0.append(error) } }

    var all: [PreferencesError] { found.withLock { $0 } }
}
