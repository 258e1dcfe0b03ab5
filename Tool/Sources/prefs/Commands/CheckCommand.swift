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

            On etcd the values alone are checked; ends with 3 where one of them can't be read.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Write the file anew; the damaged lines are kept beside it.") var repair = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        try words.end()
        guard let path = try place.file(for: repair ? .repair : .check) else { return try checkValues(of: place) }
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
        table.add("needed", "\(try Self.bytes(contents)) bytes")
        table.add("writable", file.problemOfWriting ?? "yes")
        table.add("locked by", file.lockHolders())
        table.add("watches", FileReport.watchLimits())
        table.add("damage", damage.isEmpty ? "none" : damage.count == 1 ? "1 line" : "\(damage.count) lines")
        for copy in copies { table.add("repaired", "the damaged lines are kept in \(copy)") }
        Terminal.write(table.text())
        for error in damage { Terminal.report(error) }
        if !damage.isEmpty {
            throw Failure(.damaged, "`prefs check --repair` moves the damaged lines to a file beside it")
        }
        try file.checkWritable()
    }

    /// Checks values that lie in no file.
    private func checkValues(of place: any Place) throws {
        let found = Issues()
        let contents = try place.layers { found.add($0) }.reduce(into: [:]) { all, layer in
            all.merge(layer.contents) { $1 }
        }
        let damage = found.all
        guard !contents.isEmpty || !damage.isEmpty else { throw place.missing }
        var table = Table()
        table.add("place", place.title)
        table.add("size", contents.count == 1 ? "1 name" : "\(contents.count) names")
        table.add("needed", "\(try Self.bytes(contents)) bytes")
        table.add("damage", damage.isEmpty ? "none" : damage.count == 1 ? "1 value" : "\(damage.count) values")
        Terminal.write(table.text())
        for error in damage { Terminal.warn("\(error)") }
        if !damage.isEmpty { throw Failure(.damaged, "set each value anew that can't be read, or remove its key") }
    }

    private static func bytes(_ contents: [String: PropertyListValue]) throws -> Int {
        try contents.reduce(0) { try $0 + ValueText.line($1.key, $1.value).utf8.count }
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

/// The errors that the library reports while values are read.
final class Issues: Sendable {
    private let found = Mutex<[PreferencesError]>([])

    func add(_ error: PreferencesError) { found.withLock { $0.append(error) } }

    var all: [PreferencesError] { found.withLock { $0 } }
}
