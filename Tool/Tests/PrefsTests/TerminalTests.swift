import Foundation
import Testing

/// Commands at a terminal.
struct TerminalTests {
    /// Controls (ESC, BEL, DEL, C1), formats (right-to-left override and isolate, soft hyphen, byte order mark, tag), line and
    /// paragraph separators.
    private static let hostile =
        "\u{1B}[2J\u{7}\u{7F}\u{85}\u{9B}31m\u{202E}\u{2066}\u{AD}\u{FEFF}\u{E0041}\u{2028}\u{2029}"

    private func expectHarmless(_ text: String, _ line: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = text.unicodeScalars.filter { scalar in
            let isKept = scalar == "\n" || scalar == "\t"
            return !isKept
                && [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(
            found.isEmpty,
            "prefs \(line): \(found.map { String($0.value, radix: 16) })",
            sourceLocation: sourceLocation
        )
    }

    @Test
    func controlCharactersAreEscaped() throws {
        let tool = try Tool()
        let hostile = Self.hostile
        try tool.run(["write", "app", "name" + hostile, "-string", "value" + hostile])
        try tool.run([
            "write", "app", "nested",
            "{\"key\(String(decoding: try JSONEncoder().encode(hostile), as: UTF8.self).dropFirst().dropLast())\":[1]}",
        ])
        try tool.run(["write", "app" + hostile, "a", "1"])
        let schema = [
            "properties": [
                "name" + hostile: ["type": "string", "description": "text" + hostile, "enum": ["b" + hostile]]
            ]
        ]
        try JSONSerialization.data(withJSONObject: schema).write(
            to: URL(filePath: tool.folder + "/config/app/preferences.schema.json")
        )
        try tool.shell("echo broken >> config/app/preferences.jsonl")
        let lines: [[String]] = [
            ["read"], ["read", "--json"], ["read", "app"], ["read", "app", "--json"],
            ["read", "app", "name" + hostile, "--json"],
            ["read", "app" + hostile], ["list"], ["list", "--json"], ["find", "a"], ["find", "a", "--json"],
            ["describe", "app"],
            ["describe", "app", "--json"], ["describe", "app", "name" + hostile],
            ["describe", "app", "name" + hostile, "--json"],
            ["diff", "app", "app" + hostile], ["diff", "app", "app" + hostile, "--json"], ["export", "app"],
            ["check", "app"],
            ["check", "app" + hostile], ["path", "app" + hostile], ["compact", "app" + hostile],
            ["export", "app", "--format", "lines"], ["undo", "app"],
            // Failures.
            ["read", "app", "absent" + hostile], ["read", "absent" + hostile], ["read", "--file", "absent" + hostile],
            ["delete", "app", "absent" + hostile], ["write", "app", "name" + hostile, "-string", "c" + hostile],
            ["write", "app", "x", "{" + hostile], ["nonsense" + hostile], ["read", "--nonsense" + hostile],
            ["import", "app", "absent" + hostile],
            ["import", "app", "--file", hostile],
        ]
        for line in lines {
            let run = try tool.run(line)
            expectHarmless(run.output, line.joined(separator: " "))
            expectHarmless(run.error, line.joined(separator: " "))
            #expect(!run.output.isEmpty || !run.error.isEmpty || line[0] == "compact")
        }
        let value = try tool.run(["read", "app", "name" + hostile]).output
        #expect(value == "value" + hostile + "\n", "a program gets what is stored")
        // The bytes that a terminal gets, as script(1) records them; the tool writes the colours itself.
        try tool.write("name" + hostile, to: "name")
        for line in [
            #"prefs read app "$(cat name)""#, "prefs read app", "prefs describe app", #"prefs read app "x$(cat name)""#,
        ] {
            let run = try tool.run("/usr/bin/script", ["-qefc", "env TERM=xterm \(line)", "/dev/null"])
            let text = run.output.replacing("\r\n", with: "\n").replacing(/\u{1B}\[[0-9]*m/, with: "")
            expectHarmless(text, line)
            #expect(text.contains("name") || text.contains("value"))
        }
    }

    @Test
    func watchShowsEachChange() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        guard let session = try TerminalSession(tool, "prefs watch app") else { return }
        #expect(try session.screen(showing: "Ctrl-C ends it").contains("watching the suite \"app\""))
        try tool.run("write app volume 6")
        #expect(try session.screen(showing: "volume").contains("volume  5 → 6"))
        try tool.shell("echo '{\"theme\":\"dark\"}' >> config/app/preferences.jsonl")
        #expect(try session.screen(showing: "theme").contains("theme  - → \"dark\""))
        try tool.run("delete app volume")
        #expect(try session.screen(showing: "6 → -").contains("volume  6 → -"))
        #expect(try session.screen(colours: true).contains("\u{1B}[1mvolume"))
    }

    @Test
    func watchOfANameOfANewSuiteIsForPrograms() throws {
        let tool = try Tool()
        let line = "prefs watch app volume --json | sed -u 's/\"time\":\"[^\"]*\"/\"time\":1/'"
        guard let session = try TerminalSession(tool, line) else { return }
        _ = try session.screen(showing: "Ctrl-C ends it")
        try tool.run("write app theme -string dark")
        try tool.run("write app volume 1")
        // Otherwise both may be reported as one change.
        _ = try session.screen(showing: "\"new\":1")
        try tool.run("write app volume 2")
        let screen = try session.screen(showing: "\"new\":2")
        #expect(screen.contains("{\"name\":\"volume\",\"new\":1,\"time\":1}"))
        #expect(screen.contains("{\"name\":\"volume\",\"new\":2,\"old\":1,\"time\":1}"))
        #expect(!screen.contains("theme"))
    }

    @Test
    func watchWithoutASuiteShowsAllAndNewSuites() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        try tool.write("{\"volume\":9,\"theme\":\"dark\"}\n", to: "system/later/preferences.jsonl")
        guard let session = try TerminalSession(tool, "prefs watch") else { return }
        #expect(try session.screen(showing: "Ctrl-C ends it").contains("watching all suites"))
        try tool.run("write app volume 6")
        #expect(try session.screen(showing: "5 → 6").contains("  app  volume  5 → 6"))
        try tool.run("write later volume 1")
        #expect(try session.screen(showing: "later").contains("  later  volume  9 → 1"))
        try tool.run("write later volume 2")
        let screen = try session.screen(showing: "1 → 2")
        #expect(screen.contains("  later  volume  1 → 2"))
        #expect(!screen.contains("theme"), "the system's value was there before")
    }

    @Test
    func unreadableSuiteIsWatchedOnceItIsReadable() throws {
        let tool = try Tool()
        try tool.shell("mkdir -p config/app/preferences.jsonl")
        guard let session = try TerminalSession(tool, "prefs watch") else { return }
        #expect(try session.screen(showing: "Ctrl-C ends it").contains("isn't a regular file"))
        try tool.shell("rmdir config/app/preferences.jsonl")
        try tool.run("write app volume 5")
        let screen = try session.screen(showing: "volume")
        #expect(screen.contains("  app  volume  - → 5"))
        #expect(screen.split(separator: "isn't a regular file").count == 2, "reported once: \(screen)")
    }

    @Test
    func watchOfAllSuitesIsForProgramsToo() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        try tool.run("write other volume 5")
        let line = "prefs watch --json | sed -u 's/\"time\":\"[^\"]*\"/\"time\":1/'"
        guard let session = try TerminalSession(tool, line) else { return }
        _ = try session.screen(showing: "Ctrl-C ends it")
        try tool.run("write other volume 6")
        let screen = try session.screen(showing: "\"new\":6")
        #expect(screen.contains("{\"name\":\"volume\",\"new\":6,\"old\":5,\"suite\":\"other\",\"time\":1}"))
    }

    @Test
    func editAsksAgainIfTheTextIsInvalid() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        try tool.write(
            """
            if [ -e seen ]; then sed -i s/BROKEN/6/ "$1"; else touch seen; sed -i s/5/BROKEN/ "$1"; fi
            """,
            to: "editor"
        )
        guard let session = try TerminalSession(tool, "EDITOR='sh editor' prefs edit app; echo ended with $?") else {
            return
        }
        #expect(try session.screen(showing: "Edit again? [Y/n]").contains("the text isn't a JSON object"))
        #expect(try tool.run("read app volume").output == "5\n")
        try session.press("y", "Enter")
        #expect(try session.screen(showing: "ended with").contains("ended with 0"))
        #expect(try tool.run("read app volume").output == "6\n")
    }

    @Test
    func abandonedEditKeepsTheText() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        guard let session = try TerminalSession(tool, "EDITOR='sed -i s/5/BROKEN/' prefs edit app; echo ended with $?")
        else { return }
        _ = try session.screen(showing: "Edit again? [Y/n]")
        try session.press("n", "Enter")
        let screen = try session.screen(showing: "ended with")
        #expect(
            screen.contains("nothing was changed; your text is kept in ~/prefs.") && screen.contains("ended with 2")
        )
        #expect(try tool.run("read app volume").output == "5\n")
        let kept = try #require(try tool.files().first { $0.key.hasSuffix("preferences.json") })
        #expect(String(decoding: kept.value, as: UTF8.self).contains("BROKEN"))
    }

    @Test(arguments: [("", true), ("NO_COLOR=1 ", false), ("TERM=dumb ", false)])
    func coloursAreForTerminalsThatWantThem(_ variable: String, _ isColoured: Bool) throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        try tool.run("write app a 1")
        guard let session = try TerminalSession(tool, "\(variable)prefs read app; echo ended") else { return }
        #expect(try session.screen(showing: "ended").hasPrefix("a       1\nvolume  5\n"))
        #expect(try session.screen(colours: true).contains("\u{1B}[1mvolume") == isColoured)
    }

    /// Returns an interactive shell after its first prompt.
    private func interactiveShell(_ tool: Tool) throws -> TerminalSession? {
        try tool.write("PS1='READY> '\n", to: "setup")
        guard let session = try TerminalSession(tool, "bash --rcfile setup -i") else { return nil }
        _ = try session.screen(showing: "READY>")
        return session
    }

    @Test
    func interruptEndsWatchAsAShellExpects() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        guard let session = try interactiveShell(tool) else { return }
        try session.type("stty -g > before; prefs watch app")
        _ = try session.screen(showing: "Ctrl-C ends it")
        try tool.run("write app volume 6")
        _ = try session.screen(showing: "5 → 6")
        try session.press("C-c")
        try session.type("echo status $?; stty -g > after; echo end''ed")
        let screen = try session.screen(showing: "\nended")
        #expect(screen.contains("volume  5 → 6\n") && screen.contains("\nstatus 130\n"), "\(screen)")
        #expect(try tool.read("after") == tool.read("before"))
    }

    @Test
    func interruptLeavesNoPartOfALine() throws {
        let tool = try Tool()
        guard let session = try interactiveShell(tool) else { return }
        try session.type("prefs watch app --json > changes")
        _ = try session.screen(showing: "Ctrl-C ends it")
        try tool.shell("seq 5000 | sed 's/.*/{\"name&\":1}/' | prefs import app -")
        try session.press("C-c")
        try session.type("echo status $?")
        #expect(try session.screen(showing: "\nstatus").contains("\nstatus 130\n"))
        let lines = try tool.read("changes").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.last == "" && lines.dropLast().allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }

    /// The status 141 means that SIGPIPE ended the program; 124 would mean that timeout(1) did.
    @Test
    func watchEndsWithItsReader() throws {
        let tool = try Tool()
        let line = "timeout 300 prefs watch app | head -c 0; echo ${PIPESTATUS[0]}"
        #expect(try tool.run("/bin/bash", ["-c", line]) == Tool.Run(output: "141\n", error: "", status: 0))
    }

    /// Checks the bytes that a terminal gets; a larger file is used if a fast machine was done within half a second.
    @Test(arguments: [
        ("check --file large.jsonl", "Checking large.jsonl…"),
        ("compact --file large.jsonl", "Compacting large.jsonl…"),
        ("import app large.jsonl", "Importing large.jsonl…"),
    ])
    func longWorkShowsItsProgressOnlyOnATerminal(_ line: String, _ title: String) throws {
        guard let script = Needed.path(of: "script") else { return }
        let tool = try Tool()
        var shown = ""
        for megabytes in [8, 32, 128, 512] where !shown.contains(title) {
            let count = megabytes * 1000
            try tool.shell(
                "seq \(count) | awk '{ printf \"{\\\"name%d\\\":\\\"%0980d\\\"}\\n\", $1, 0 }' > large.jsonl"
            )
            shown = try tool.run(script, ["-qec", "prefs \(line)", "shown"]).output
        }
        let start = try #require(shown.range(of: "\r\u{1B}[K\(title)"), "no progress: \(shown)")
        #expect(shown[start.upperBound...].contains("MB read, "))
        // Then the line is cleared.
        #expect(shown[start.upperBound...].contains("\r\u{1B}[K") && !shown.hasSuffix("written"))
        let silent = try tool.run(line)
        #expect(silent.error == "" && !silent.output.contains(title) && silent.status == 0, "\(silent)")
    }
}
