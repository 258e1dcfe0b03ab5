import ArgumentParser
import Preferences
import PreferencesInspection

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge the values of two files that began as one, as a merge driver of git.",
        usage: "prefs merge <base> <ours> <theirs> [<path>]",
        discussion: """
            Sets what the third file changed since the first also in the second, name by name, and inside of dictionaries \
            member by member. Lines and comments of the second file that aren't concerned stay as they are. Where both \
            changed one value differently, the second file's stays, the conflict is named, and the command ends with 1. A \
            path replaces that of the second file in messages. The second file is replaced, so don't name one that a running \
            program uses. A path may begin with a dash after the word --.

              git config merge.prefs.driver 'prefs merge -- %O %A %B %P'
              echo '*.jsonl merge=prefs' >> .gitattributes
            """
    )

    @ParentCommand var etcd: EtcdOptions
    @Argument(help: "The common ancestor, the file to change, the other file, and a path.", completion: .file())
    var words: [String] = []

    func run() throws {
        var words = words[...]
        let base = try words.next("the common ancestor")
        let ours = try words.next("the file to change")
        let theirs = try words.next("the other file")
        let title = words.popFirst() ?? ours
        try words.end()
        guard try !etcd.suites().isShared else { throw Failure(.usage, "merge is for files; leave out --etcd") }
        let old = try InputFile.bytes(of: ours)
        let contents = try [base, ours, theirs].map { try Self.contents(of: $0) }
        let merge = ThreeWayMerge(base: contents[0], ours: contents[1], theirs: contents[2])
        let differences = Difference.between(contents[1], merge.contents)
        let new = try Self.bytes(old, changing: differences, to: merge.contents)
        if new != old { try Self.replace(ours, old, with: new) }
        guard !merge.conflicts.isEmpty else { return }
        for path in merge.conflicts {
            Terminal.warn(
                "\(title): both sides changed \(ValueText.name(path.joined(separator: "."))); this side's value stays, so set the one "
                    + "that you want"
            )
        }
        Terminal.end(.absent)
    }

    /// Returns the values of a file; a line that can't be read would be lost, so it ends the command.
    private static func contents(of path: String) throws -> [String: PropertyListValue] {
        // A store reads a missing file as empty, so all that it had would be merged as removed.
        guard access(path, R_OK) == 0 else { throw Failure("read", path, errno: errno) }
        let damage = Issues()
        let contents = try PreferencesFile.contents(of: path) { damage.add($0) }
        guard let first = damage.all.first else { return contents }
        throw Failure(.damaged, "nothing was merged: \(first.message)")
    }

    /// Replaces a file that still has the bytes that were read.
    static func replace(_ path: String, _ old: [UInt8], with new: [UInt8]) throws {
        guard try InputFile.bytes(of: path) == old else {
            throw Failure(
                .failed,
                "\(path) was changed by another process in the meantime; nothing was merged, so try again"
            )
        }
        try OutputFile.replace(path, with: new)
    }

    /// Returns the text with other values: a line that sets one name is replaced, and other values are appended.
    ///
    /// - Throws: A `Failure` if the text doesn't have these values, as another process has changed the file between two reads.
    static func bytes(
        _ old: [UInt8],
        changing differences: [Difference],
        to contents: [String: PropertyListValue]
    ) throws -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        var lines: [[UInt8]?] = old.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) }
        // What follows the last newline: nothing, in a complete file.
        if lines.last??.isEmpty == true { lines.removeLast() }
        var appended: [UInt8] = []
        let numbers = PreferencesFile.lines(in: old, joinsLines: false)
        for difference in differences {
            let text = try PreferenceText.line([difference.name: difference.new])
            // A line with a comment, or another keyword, stays.
            if let number = numbers[difference.name], let line = lines[number - 1], !line.contains(Array("\"$".utf8)),
                try PreferenceText.changes(in: line, isStrict: false).count == 1
            {
                lines[number - 1] = difference.new == nil ? nil : Array(text.dropLast())
            } else {
                appended += text
            }
        }
        let new = lines.compactMap(\.self).flatMap { $0 + [newline] } + appended
        if try PreferencesHistory(new).contents == contents { return new }
        // An earlier line has set a name that is removed now, or a line is followed by another that sets the same name.
        let end: [UInt8] = old.isEmpty || old.last == newline ? [] : [newline]
        let appendedTo = try old + end + differences.flatMap { try PreferenceText.line([$0.name: $0.new]) }
        guard try PreferencesHistory(appendedTo).contents == contents else {
            throw Failure(
                .failed,
                "the file to change was changed while it was merged; nothing was merged, so try again"
            )
        }
        return appendedTo
    }
}
