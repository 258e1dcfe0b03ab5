import ArgumentParser
import Glibc
import Preferences

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show each change as it happens, until interrupted.",
        usage: "prefs watch [<suite> [<name>] | --file <path> [<name>]] [--json] [--show-secrets]",
        discussion: """
            A line has the time, the name, the old value and the new one; - stands for absent. Without a suite all are \
            watched, and each line has the suite before the name; one that is made meanwhile is noticed within a second. \
            Ctrl-C ends it, with the exit code 130 as a shell has it. It also ends when nobody reads its output any more.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show a JSON object for each change.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() async throws {
        var words = words[...]
        if words.isEmpty, options.file == nil { return try await watchAll() }
        let place = try options.place(&words)
        let name = words.popFirst()
        try words.end()
        Terminal.endWithReader()
        // Made first, so that nothing is missed from the moment on that the line below is read.
        var changes = try place.open().store.changes.makeAsyncIterator()
        place.reportConnection()
        tell("watching \(place.title)")
        while let change = await changes.next() {
            let differences = change.differences.filter { name == nil || name == $0.name }
            // Anew each time, as a program may have installed its schema since.
            if !differences.isEmpty { try show(differences, secrets.safeRedaction { place }) }
        }
    }

    private func watchAll() async throws {
        Terminal.endWithReader()
        let suites = try options.suites()
        let changes = try SuiteChanges.follow(suites)
        tell("watching all suites")
        for await (suite, differences) in changes {
            try show(differences, secrets.safeRedaction { try suites.place(of: suite) }, of: suite)
        }
    }

    private func tell(_ what: String) {
        if Terminal.isErrorOutput { Terminal.warn("\(what); Ctrl-C ends it") }
    }

    private func show(_ differences: [Difference], _ redaction: Redaction, of suite: String? = nil) throws {
        for difference in differences { Terminal.write(try line(difference, redaction, of: suite) + ShownText("\n")) }
    }

    private func line(_ difference: Difference, _ redaction: Redaction, of suite: String?) throws -> ShownText {
        let time = Clock.now()
        if json {
            var members: [String: PropertyListValue] = ["time": .string(time)]
            members["suite"] = suite.map { .string($0) }
            return ShownText(try difference.json(redaction, members))
        }
        let old = try difference.old.map { try redaction.line($0, of: difference.name) } ?? "-"
        let new = try difference.new.map { try redaction.line($0, of: difference.name) } ?? "-"
        let place = suite.map { [ValueText.name($0)] } ?? []
        let name = ValueText.name(difference.name)
        guard Terminal.isOutput else {
            return ShownText(([time] + place + [name, old, new]).joined(separator: "\t"))
        }
        let gap = ShownText("  ")
        let start = place.reduce(ShownText(time, .dim) + gap) { $0 + ShownText($1) + gap }
        return start + ShownText(name, .bold) + gap + ShownText(old, .red) + ShownText(" → ") + ShownText(new, .green)
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
