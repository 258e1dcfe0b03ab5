import Foundation
import Testing

/// What a person at a terminal sees and does.
struct TerminalTests {
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
    func watchOfANameOfASuiteToComeIsForPrograms() throws {
        let tool = try Tool()
        let line = "prefs watch app volume --json | sed -u 's/\"time\":\"[^\"]*\"/\"time\":1/'"
        guard let session = try TerminalSession(tool, line) else { return }
        _ = try session.screen(showing: "Ctrl-C ends it")
        try tool.run("write app theme -string dark")
        try tool.run("write app volume 1")
        // Else both may be told as one change.
        _ = try session.screen(showing: "\"new\":1")
        try tool.run("write app volume 2")
        let screen = try session.screen(showing: "\"new\":2")
        #expect(screen.contains("{\"name\":\"volume\",\"new\":1,\"time\":1}"))
        #expect(screen.contains("{\"name\":\"volume\",\"new\":2,\"old\":1,\"time\":1}"))
        #expect(!screen.contains("theme"))
    }

    @Test
    func watchWithoutASuiteShowsAllAndThoseToCome() throws {
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
    func suiteThatCanNotBeReadIsWatchedOnceItCan() throws {
        let tool = try Tool()
        try tool.shell("mkdir -p config/app/preferences.jsonl")
        guard let session = try TerminalSession(tool, "prefs watch") else { return }
        #expect(try session.screen(showing: "Ctrl-C ends it").contains("is no file"))
        try tool.shell("rmdir config/app/preferences.jsonl")
        try tool.run("write app volume 5")
        let screen = try session.screen(showing: "volume")
        #expect(screen.contains("  app  volume  - → 5"))
        #expect(screen.split(separator: "is no file").count == 2, "told once: \(screen)")
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
    func editAsksAgainWhereTheTextIsBroken() throws {
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
        #expect(try session.screen(showing: "Edit again? [Y/n]").contains("the text is no JSON object"))
        #expect(try tool.run("read app volume").output == "5\n")
        try session.press("y", "Enter")
        #expect(try session.screen(showing: "ended with").contains("ended with 0"))
        #expect(try tool.run("read app volume").output == "6\n")
    }

    @Test
    func editThatIsGivenUpKeepsTheText() throws {
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

    /// A shell that a person types into, once it is ready.
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

    /// The status 141 is that of a program that SIGPIPE ended; 124 would be the limit's.
    @Test
    func watchEndsWithItsReader() throws {
        let tool = try Tool()
        let line = "timeout 300 prefs watch app | head -c 0; echo ${PIPESTATUS[0]}"
        #expect(try tool.run("/bin/bash", ["-c", line]) == Tool.Run(output: "141\n", error: "", status: 0))
    }

    /// The bytes that a terminal gets; a larger file is taken where a fast machine was through in half a second.
    @Test(arguments: [
        ("check --file large.jsonl", "Checking large.jsonl…"),
        ("compact --file large.jsonl", "Compacting large.jsonl…"),
        ("import app large.jsonl", "Importing large.jsonl…"),
    ])
    func longWorkShowsItsProgressOnATerminalAlone(_ line: String, _ title: String) throws {
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
        // Then the line is taken away.
        #expect(shown[start.upperBound...].contains("\r\u{1B}[K") && !shown.hasSuffix("written"))
        let silent = try tool.run(line)
        #expect(silent.error == "" && !silent.output.contains(title) && silent.status == 0, "\(silent)")
    }
}
