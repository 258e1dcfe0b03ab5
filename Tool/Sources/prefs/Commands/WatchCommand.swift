import ArgumentParser
import Glibc
import Preferences

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show each change as it happens, until interrupted.",
        usage: "prefs watch [<suite> | --file <path>] [<name>] [--json]",
        discussion: """
            A line has the time, the name, the old value and the new one; - stands for absent. Ctrl-C ends it, with the \
            exit code 130 as a shell has it; so does the end of who reads the output.
            """
    )

    @OptionGroup var options: PlaceOptions
    @Flag(help: "Show a JSON object for each change.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() async throws {
        var words = words[...]
        let place = try options.place(&words)
        let name = words.popFirst()
        try words.end()
        Terminal.endWithReader()
        // Made first, so that nothing is missed from the moment on that the line below is read.
        var changes = try place.open().store.changes.makeAsyncIterator()
        if Terminal.isErrorOutput { Terminal.warn("watching \(place.title); Ctrl-C ends it") }
        while let change = await changes.next() {
            for changed in change.names.sorted() where name == nil || name == changed {
                let difference = Difference(name: changed, old: change.old[changed], new: change.new[changed])
                Terminal.write(try line(difference) + "\n")
            }
        }
    }

    private func line(_ difference: Difference) throws -> String {
        let time = Clock.now()
        if json { return try difference.json(["time": .string(time)]) }
        let old = try difference.old.map { try ValueText.json($0) } ?? "-"
        let new = try difference.new.map { try ValueText.json($0) } ?? "-"
        let name = ValueText.name(difference.name)
        guard Terminal.isOutput else { return [time, name, old, new].joined(separator: "\t") }
        return "\(Terminal.coloured(time, .dim))  \(Terminal.coloured(name, .bold))  "
            + "\(Terminal.coloured(old, .red)) → \(Terminal.coloured(new, .green))"
    }
}

/// The time of day as people and programs read it (ISO 8601), in the user's zone.
private enum Clock {
    static func now() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        var seconds = now.tv_sec
        localtime_r(&seconds, &parts)
        func text(_ format: String) -> String {
            var buffer = [CChar](repeating: 0, count: 64)
            let count = strftime(&buffer, buffer.count, format, &parts)
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        let milliseconds = String(now.tv_nsec / 1_000_000 + 1000).dropFirst()
        return "\(text("%Y-%m-%dT%H:%M:%S")).\(milliseconds)\(text("%z"))"
    }
}
