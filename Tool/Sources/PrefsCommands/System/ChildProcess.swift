/// Programs that the tool runs and waits for.
enum ChildProcess {
    enum Status: Equatable {
        case exited(Int32)
        case killed
    }

    /// Runs a program in the foreground of the terminal: Ctrl-C interrupts that program, not the tool.
    static func run(_ path: String, _ arguments: [String]) throws -> Status {
        let before = signals.map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, action) in before { signal(number, action) } }
        return try wait(for: try start(path, arguments) { _ in })
    }

    /// The signals that a terminal sends to all of its foreground processes.
    private static let signals = [SIGINT, SIGQUIT]

    /// Runs a program with `input` as standard input, and returns its standard output; its standard error is discarded.
    static func output(of path: String, input: Int32) throws -> (Status, [UInt8]) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("run", path, errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let child: pid_t
        do {
            defer { close(ends[1]) }
            child = try start(path, []) { [ends] actions in
                posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
                posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
            }
        }
        let output = try InputFile.bytes(from: ends[0], path)
        return (try wait(for: child), output)
    }

    /// Returns the path of a program that is installed in the same folder as this one.
    static func sibling(_ name: String) throws -> String {
        guard let own = pathOfThisProgram() else { throw Failure("find", "the program prefs", errno: errno) }
        let path = own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
        guard access(path, X_OK) == 0 else {
            throw Failure(.failed, "this command needs \(path), which is missing; install it next to prefs")
        }
        return path
    }

    /// Replaces this process with a program that gets the same arguments.
    static func replaceThisProcess(by path: String) throws -> Never {
        execv(path, CommandLine.unsafeArgv)
        throw Failure("run", path, errno: errno)
    }

    private static func start(
        _ path: String,
        _ arguments: [String],
        _ prepare: (inout SpawnActions) -> Void
    ) throws -> pid_t {
        var (actions, attributes) = uninitializedSpawn()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        prepare(&actions)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in signals { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let status = posix_spawn(&child, path, &actions, &attributes, &words, environmentOfChildren)
        guard status == 0 else { throw Failure("run", path, errno: status) }
        return child
    }

    private static func wait(for child: pid_t) throws -> Status {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure("wait for", "process \(child)", errno: errno) }
        }
        // As WIFEXITED and WEXITSTATUS, which are macros.
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed
    }
}
