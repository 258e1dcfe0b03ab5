import ArgumentParser
import Dispatch
import Preferences

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show each change as it happens, until interrupted.",
        usage: "prefs watch [<suite> [<name>] | --file <path> [<name>]] [--json] [--show-secrets]",
        discussion: """
            A line has the time, the name, the old value and the new value; - means absent. Without a suite, watches all \
            suites, each line has the suite before the name, and new suites are found within a second. Ctrl-C ends it, \
            which a shell reports as exit code 130. It also ends when its output is closed, as by `| head`.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Show a JSON object for each change.") var json = false
    @Argument(help: "The suite unless --file is given, and the name.", completion: Completion.suiteThenNames)
    var words: [String] = []

    func run() async throws {
        var words = words[...]
        if try options.isEmpty(words) { return try await watchAll() }
        let place = try options.place(&words)
        let name = words.popFirst()
        try words.end()
        let names = try name.map { FormerNames(try place.readableSchema()).names(of: $0) }
        Terminal.endWithReader()
        // Created before the line below is printed, so that no change is missed after a user or script reads that line.
        let store = try await DispatchQueue.commands.run { try place.open().store }
        var changes = store.changes.makeAsyncIterator()
        place.reportConnection()
        announce("watching \(place.title)")
        while let change = await changes.next() {
            let differences = change.differences.compactMap(\.ofRead).filter { names?.contains($0.name) ?? true }
            // Read again each time, as a program may have installed its schema since.
            if !differences.isEmpty { try show(differences, secrets.safeRedaction { place }) }
        }
    }

    private func watchAll() async throws {
        Terminal.endWithReader()
        let suites = try options.suites()
        let changes = try await SuiteChanges.follow(suites)
        announce("watching all suites")
        for await (suite, differences) in changes {
            try show(differences, secrets.safeRedaction { try suites.place(of: suite) }, of: suite)
        }
    }

    private func announce(_ what: String) {
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

/// The time of day in ISO 8601, in the user's time zone.
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
