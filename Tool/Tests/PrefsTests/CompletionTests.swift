import Foundation
import Testing

/// The completion scripts in their shells, at a terminal.
struct CompletionTests {
    private static let shells: [(name: String, start: String)] = [
        ("bash", "bash --rcfile setup -i"),
        ("zsh", "env ZDOTDIR=$PWD/zsh zsh -i"),
        ("fish", "env fish --no-config -C 'source completions; source prompt'"),
    ]

    @Test(arguments: shells)
    func shellCompletesCommandsSuitesNamesAndOptions(_ shell: String, _ start: String) throws {
        guard Needed.path(of: shell) != nil else { return }
        let tool = try Tool()
        try tool.run("write com.example.app volume 5")
        try tool.write(
            // The length forbids the last choice, which isn't offered.
            #"{"properties":{"volume":{},"theme":{"enum":["system","dark","dawnlight"],"maxLength":6,"type":"string"}}}"#,
            to: "config/com.example.app/preferences.schema.json"
        )
        guard let session = try session(of: shell, start, tool) else { return }
        for (typed, completed) in [
            ("prefs wr", "prefs write"), (" com", "prefs write com.example.app"),
            (" vol", "prefs write com.example.app volume"),
        ] {
            try session.press("-l", typed)
            _ = try session.screen(showing: typed)
            try session.press("Tab")
            let screen = try session.screen(showing: completed)
            #expect(screen.contains(completed), "\(shell): \(screen)")
            // Some shells insert a space after a complete word.
            try session.press("C-u")
            try session.press("-l", completed)
            _ = try session.screen(showing: completed)
        }
        for (typed, completed) in [
            ("prefs set com.example.app vol", "prefs set com.example.app volume"),
            ("prefs write com.example.app theme da", "prefs write com.example.app theme dark"),
        ] {
            try session.press("C-u")
            try session.press("-l", typed)
            _ = try session.screen(showing: typed)
            try session.press("Tab")
            let screen = try session.screen(showing: completed)
            #expect(screen.contains(completed), "\(shell): \(screen)")
        }
        try session.press("C-u")
        try session.press("-l", "prefs export --form")
        try session.press("Tab")
        #expect(try session.screen(showing: "--format").contains("prefs export --format"))
    }

    /// Names may be hostile: completion must not run the name of a suite or preference, whether it is stored or declared.
    @Test(arguments: shells)
    func shellRunsNoName(_ shell: String, _ start: String) throws {
        guard Needed.path(of: shell) != nil else { return }
        let tool = try Tool()
        let hostile = [
            "$(touch ran)", "`touch ran`", "x$(touch ran)", "x;touch ran", "x\"$(touch ran)\"", "x'$(touch ran)'",
            "${x:-$(touch ran)}", "<(touch ran)",
        ]
        for name in hostile {
            try tool.run(["write", "com.example.app", name, "1"])
            let folder = tool.folder + "/config/" + name
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("{}\n".utf8).write(to: URL(filePath: folder + "/preferences.jsonl"))
        }
        let properties = try hostile.map { "\(try json("schema " + $0)):{}" }.joined(separator: ",")
        try tool.write("{\"properties\":{\(properties)}}", to: "config/com.example.app/preferences.schema.json")
        guard let session = try session(of: shell, start, tool) else { return }
        for typed in [
            "prefs read com.example.app ", "prefs read com.example.app x", "prefs read com.example.app schema",
            "prefs read ", "prefs read --file config/com.example.app/preferences.jsonl ",
        ] {
            try session.press("-l", typed)
            for _ in 1...3 { try session.press("Tab") }
            // Printed only after the completion has ended.
            try session.press("C-u")
            try session.press("-l", "echo done-\(typed.count) | tr a-z A-Z")
            try session.press("Enter")
            #expect(try session.screen(showing: "DONE-\(typed.count)").contains("DONE"))
            try session.press("C-l")
        }
        #expect(!FileManager.default.fileExists(atPath: tool.folder + "/ran"), "\(shell) ran a name")
    }

    private func json(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    private func session(of shell: String, _ start: String, _ tool: Tool) throws -> TerminalSession? {
        try tool.shell("prefs --generate-completion-script \(shell) > completions; mkdir zsh functions")
        try tool.shell("cp completions functions/_prefs")
        try tool.write("function fish_prompt; echo 'READY> '; end\n", to: "prompt")
        try tool.write("PS1='READY> '; source completions\n", to: "setup")
        try tool.write(
            "PS1='READY> '; fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D\n",
            to: "zsh/.zshrc"
        )
        guard let session = try TerminalSession(tool, start) else { return nil }
        _ = try session.screen(showing: "READY>")
        return session
    }

    /// Without a terminal, as bash calls it: after the suite, only names of the suite are offered.
    @Test
    func namesFollowTheSuite() throws {
        let tool = try Tool()
        // bash expands the words that it inserts, without quoting them.
        try tool.run(["write", "app", "a name", "1"])
        try tool.run(["write", "app", "ä.ö", "1"])
        try tool.run(["write", "app", "b:c", "1"])
        try tool.run(["write", "app", "two\nlines", "1"])
        try tool.shell("prefs --generate-completion-script bash > completions")
        func offered(_ words: String...) throws -> String {
            let quoted = words.map { "'\($0)'" }.joined(separator: " ")
            let line = """
                source completions; COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1); COMP_LINE="${COMP_WORDS[*]}"
                COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; _prefs prefs '' ''; printf '%s\\n' "${COMPREPLY[@]}"
                """
            return try tool.run("/bin/bash", ["-c", line]).output
        }
        #expect(try offered("prefs", "read", "") == "app\n")
        #expect(try offered("prefs", "read", "app", "") == "b:c\nä.ö\n")
        #expect(try offered("prefs", "read", "--json", "app", "") == "b:c\nä.ö\n")
        #expect(try offered("prefs", "read", "--file", "config/app/preferences.jsonl", "") == "b:c\nä.ö\n")
        #expect(try offered("prefs", "read", "nope", "") == "\n")
        // Only present names.
        try tool.write(
            #"{"properties":{"new":{"x-formerly":["b:c","older"]}}}"#,
            to: "config/app/preferences.schema.json"
        )
        #expect(try offered("prefs", "read", "app", "") == "new\nä.ö\n")
    }
}
