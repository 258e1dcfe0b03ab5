import Foundation
import Testing

/// `prefs undo` at a terminal, where it asks.
struct UndoTests {
    private func session(_ tool: Tool) throws -> TerminalSession? {
        try tool.run("write app volume 5")
        try tool.run("write app volume 6")
        guard let session = try TerminalSession(tool, "prefs undo app; echo status $?") else { return nil }
        let screen = try session.screen(showing: "Undo the newest change? [y/N]")
        #expect(screen.contains("line 2\n- volume        5\n+ volume        6\n"), "\(screen)")
        return session
    }

    @Test
    func yesUndoesTheNewestChange() throws {
        let tool = try Tool()
        guard let session = try session(tool) else { return }
        try session.type("y")
        #expect(try session.screen(showing: "status").contains("status 0"))
        #expect(try tool.run("read app volume").output == "5\n")
    }

    @Test(arguments: ["", "n", "x"])
    func anyOtherAnswerChangesNothing(_ answer: String) throws {
        let tool = try Tool()
        guard let session = try session(tool) else { return }
        let files = try tool.files()
        try session.type(answer)
        #expect(try session.screen(showing: "status").contains("status 0"))
        #expect(try tool.files() == files)
    }

    /// Also a change of another name: the change that was shown is no longer the newest.
    @Test(arguments: ["write app theme -string dark", "write app volume 7", "compact app"])
    func aChangeBeforeTheAnswerIsAnError(_ line: String) throws {
        let tool = try Tool()
        guard let session = try session(tool) else { return }
        try tool.run(line)
        let values = try tool.run("read app").output
        try session.type("y")
        let screen = try session.screen(showing: "status")
        #expect(screen.contains("another program has just changed the file; nothing was undone"), "\(screen)")
        #expect(screen.contains("status 5"), "\(screen)")
        #expect(try tool.run("read app").output == values)
    }

    @Test
    func concurrentUndosUndoOneChangeEach() throws {
        let tool = try Tool()
        for value in 0..<20 { try tool.run("write app n \(value)") }
        // Each either undoes the newest change that it read, or reports that this is no longer the newest.
        let line =
            "for i in 1 2 3 4 5 6 7 8; do prefs undo app --yes > out$i 2>&1 & done; wait; cat out* | grep -c '^+ n'"
        let count = try #require(Int(try tool.shell(line).output.split(separator: "\n").joined()))
        let lines = try tool.read("config/app/preferences.jsonl").split(separator: "\n")
        #expect(count >= 1 && lines.count == 20 + count)
        // The values alternate between the last two, as undoing an undo redoes it.
        #expect(
            lines.dropFirst(20).enumerated().allSatisfy { $1 == "{\"n\":\($0.isMultiple(of: 2) ? 18 : 19)}" },
            "\(lines)"
        )
    }
}
