import Foundation

/// A program in a terminal, which tmux provides.
final class TerminalSession {
    private let program: String
    private let tool: Tool
    private let server = "prefs-test-\(UUID().uuidString)"

    /// Creates a session that runs a line of `sh`; the screen stays when it has ended. `nil`, with a printed note, without tmux.
    init?(_ tool: Tool, _ line: String) throws {
        guard let program = Needed.path(of: "tmux") else { return nil }
        self.program = program
        self.tool = tool
        try tool.write("set -g default-terminal screen-256color\n", to: ".tmux")
        // `cat` keeps the screen; tmux would scroll the screen of a program that has ended.
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

    /// Returns the text on the screen, with the escape sequences of colours if `colours` is true.
    func screen(colours: Bool = false) throws -> String {
        try tmux(["capture-pane", "-p", "-J"] + (colours ? ["-e"] : [])).output
    }

    /// Waits until the screen shows a text, and returns the screen; throws if that takes minutes.
    func screen(showing text: String) throws -> String {
        let end = ContinuousClock.now + .seconds(180)
        while ContinuousClock.now < end {
            let screen = try screen()
            if screen.contains(text) { return screen }
            usleep(20_000)
        }
        throw NeverShown(text: text, screen: try screen())
    }

    /// The expected text and the screen that didn't show it.
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
