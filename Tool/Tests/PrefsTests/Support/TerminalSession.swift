import Foundation

/// A terminal in which a program runs, by tmux.
final class TerminalSession {
    private let program: String
    private let tool: Tool
    private let server = "prefs-test-\(UUID().uuidString)"

    /// Starts a line of `sh`; the screen stays when it has ended. Nil, said aloud, where there is no tmux.
    init?(_ tool: Tool, _ line: String) throws {
        guard let program = Needed.path(of: "tmux") else { return nil }
        self.program = program
        self.tool = tool
        try tool.write("set -g default-terminal screen-256color\n", to: ".tmux")
        // A program that waits keeps the screen; what tmux keeps of one that has ended is scrolled.
        let run = try tmux([
            "-f", "\(tool.folder)/.tmux", "new-session", "-d", "-x", "100", "-y", "30", line + "; exec cat",
        ])
        guard run.status == 0 else {
            throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: run.error])
        }
    }

    deinit {
        do { _ = try tmux(["kill-server"]) } catch { print("tmux stays: \(error)") }
    }

    /// What stands on the screen, with the escape sequences of its colours if asked for.
    func screen(colours: Bool = false) throws -> String {
        try tmux(["capture-pane", "-p", "-J"] + (colours ? ["-e"] : [])).output
    }

    /// Waits until the screen shows a text, and returns what it shows then; a failure where that takes minutes.
    func screen(showing text: String) throws -> String {
        let end = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < end {
            let screen = try screen()
            if screen.contains(text) { return screen }
            usleep(20_000)
        }
        throw NeverShown(text: text, screen: try screen())
    }

    /// What was waited for, and what the screen showed instead.
    struct NeverShown: Error {
        let text: String
        let screen: String
    }

    /// Presses keys, as tmux names them.
    func press(_ keys: String...) throws {
        _ = try tmux(["send-keys"] + keys)
    }

    /// Types a line, and Enter.
    func type(_ line: String) throws {
        _ = try tmux(["send-keys", "-l", line])
        try press("Enter")
    }

    private func tmux(_ arguments: [String]) throws -> Tool.Run {
        try tool.run(program, ["-L", server] + arguments)
    }
}
