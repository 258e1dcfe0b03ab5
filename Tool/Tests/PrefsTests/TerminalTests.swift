import Foundation
import Testing

/// What a person at a terminal sees and does.
@Suite(.enabled(if: TerminalSession.isAvailable))
struct TerminalTests {
    @Test
    func watchShowsEachChange() throws {
        let tool = try Tool()
        try tool.run("write app volume 5")
        let session = try TerminalSession(tool, "prefs watch app")
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
        let session = try TerminalSession(
            tool,
            "prefs watch app volume --json | sed -u 's/\"time\":\"[^\"]*\"/\"time\":1/'"
        )
        _ = try session.screen(showing: "Ctrl-C ends it")
        try tool.run("write app theme -string dark")
        try tool.run("write app volume 1")
        try tool.run("write app volume 2")
        let screen = try session.screen(showing: "\"new\":2")
        #expect(screen.contains("{\"name\":\"volume\",\"new\":1,\"time\":1}"))
        #expect(screen.contains("{\"name\":\"volume\",\"new\":2,\"old\":1,\"time\":1}"))
        #expect(!screen.contains("theme"))
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
        let session = try TerminalSession(tool, "EDITOR='sh editor' prefs edit app; echo ended with $?")
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
        let session = try TerminalSession(tool, "EDITOR='sed -i s/5/BROKEN/' prefs edit app; echo ended with $?")
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
        let session = try TerminalSession(tool, "\(variable)prefs read app; echo ended")
        #expect(try session.screen(showing: "ended").hasPrefix("a       1\nvolume  5\n"))
        #expect(try session.screen(colours: true).contains("\u{1B}[1mvolume") == isColoured)
    }
}
