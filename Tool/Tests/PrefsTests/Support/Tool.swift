import Foundation

/// The built program with a separate configuration folder for each test.
final class Tool: Sendable {
    /// The output and the exit status of a run.
    struct Run: Equatable, CustomStringConvertible {
        var output: String
        var error: String
        var status: Int32

        var description: String { "output:\n\(output)error:\n\(error)status: \(status)" }
    }

    /// The folder of all files; output shows it as `~`.
    let folder: String
    let program: String
    let variables: [String: String]

    init(_ variables: [String: String] = [:]) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "prefs-test-\(UUID().uuidString)")
        folder = url.resolvingSymlinksInPath().path
        try FileManager.default.createDirectory(atPath: folder + "/config", withIntermediateDirectories: true)
        // SwiftPM puts the programs that a test depends on next to the test bundle.
        program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "prefs").path
        var all = ProcessInfo.processInfo.environment.filter { ["PATH", "LD_LIBRARY_PATH"].contains($0.key) }
        all["XDG_CONFIG_HOME"] = folder + "/config"
        all["XDG_CONFIG_DIRS"] = folder + "/system"
        all["HOME"] = folder
        all["TMPDIR"] = folder
        all["TZ"] = "UTC"
        all["COLUMNS"] = "80"
        all["PATH"] = "\(URL(filePath: program).deletingLastPathComponent().path):\(all["PATH"] ?? "/usr/bin:/bin")"
        self.variables = all.merging(variables) { $1 }
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch { print("\(folder) stays: \(error)") }
    }

    /// Runs the program and waits for its end.
    @discardableResult
    func run(_ arguments: [String], input: String = "") throws -> Run {
        try run(program, arguments, input: input)
    }

    /// Runs the program with the words of a line, which are separated by spaces; quotes aren't supported.
    @discardableResult
    func run(_ line: String, input: String = "") throws -> Run {
        try run(line.split(separator: " ").map(String.init), input: input)
    }

    /// Runs a line of `sh`, in which `prefs` is the program.
    @discardableResult
    func shell(_ line: String, input: String = "") throws -> Run {
        try run("/bin/sh", ["-c", line], input: input)
    }

    /// Runs any program in the test's folder and environment.
    func run(_ program: String, _ arguments: [String], input: String = "") throws -> Run {
        // Files hold any amount of output; a pipe without a reader would fill up.
        let names = ["in", "out", "err"].map { "\(folder)/.\($0)-\(UUID().uuidString)" }
        for name in names { try Data().write(to: URL(filePath: name)) }
        defer { for name in names { unlink(name) } }
        try Data(input.utf8).write(to: URL(filePath: names[0]))
        let status = try spawn(program, arguments, files: names)
        let texts = try names.map { name in
            String(decoding: try Data(contentsOf: URL(filePath: name)), as: UTF8.self).replacing(folder, with: "~")
        }
        return Run(output: texts[1], error: texts[2], status: status)
    }

    /// Starts a program. Foundation's `Process` would also wait for children that outlive it, such as the server of tmux.
    private func spawn(_ program: String, _ arguments: [String], files: [String]) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, file) in files.enumerated() {
            posix_spawn_file_actions_addopen(&actions, Int32(descriptor), file, O_RDWR, 0)
        }
        // A thread of the tests may block signals, which a child would inherit; then a server of tmux couldn't be ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // The process that runs the tests may ignore it, which a child would inherit, too.
        var defaults = none
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        // `env`, as glibc's call for the child's folder is hidden from Swift.
        var words = (["env", "-C", folder, program] + arguments).map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + environment { free(word) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, "/usr/bin/env", &actions, &attributes, &words, &environment)
        guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
        // As WIFEXITED and WEXITSTATUS, which are macros; a signal shows as its negative number.
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }

    func write(_ text: String, to name: String) throws {
        let url = URL(filePath: folder).appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: folder).appending(path: name)), as: UTF8.self)
    }

    /// Returns the contents of all files by path, to check that nothing changed.
    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where !name.hasPrefix(".") {
            var isFolder = false as ObjCBool
            _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
            files[name] = isFolder.boolValue ? Data() : try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
        }
        return files
    }
}
