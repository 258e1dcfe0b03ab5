#if canImport(Glibc) && DEBUG
import Glibc

/// Another process, with pipes to its input and from its output.
final class Child {
    let process: pid_t
    private var input: Int32
    private let output: Int32
    private var received: [UInt8] = []
    private var status: Int32?

    /// Starts this program in one of its roles.
    static func worker(_ arguments: String...) throws -> Child {
        try Child("/proc/self/exe", ["torture", "worker"] + arguments)
    }

    static func shell(_ script: String) throws -> Child {
        try Child("/bin/sh", ["sh", "-c", script])
    }

    init(_ program: String, _ arguments: [String]) throws {
        var (toChild, fromChild): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Obstacle("no pipe can be made") }
        // Otherwise a process that is started later would hold it open.
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // As large as a user can make it, so that a worker needn't wait for an experiment that reads only after the
        // worker's death.
        _ = fcntl(fromChild[1], 1031 /* F_SETPIPE_SZ */, 1 << 20)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var process = pid_t()
        var texts = arguments.map { strdup($0) } + [nil]
        let error = posix_spawn(&process, program, &actions, nil, &texts, environ)
        posix_spawn_file_actions_destroy(&actions)
        for text in texts { free(text) }
        close(toChild[0])
        close(fromChild[1])
        (self.process, input, output) = (process, toChild[1], fromChild[0])
        guard error == 0 else { throw Obstacle("\(program) can't be started: \(String(cString: strerror(error)))") }
    }

    deinit {
        kill()
        wait()
        endInput()
        close(output)
    }

    func send(_ line: String) { writeLine(line, to: input) }

    func endInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Returns the next line; nil at the end.
    func readLine() -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    /// Returns all lines up to the end.
    func readLines() -> [String] {
        while fill() {}
        defer { received = [] }
        // A last line without a newline wasn't completely written.
        return received.split(separator: 10, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = read(output, &buffer, buffer.count)
        if count > 0 { received += buffer[..<count] }
        return count > 0
    }

    func kill() { if status == nil { _ = Glibc.kill(process, SIGKILL) } }

    /// Waits for the end; returns the exit code, or the negative number of the signal that ended the process.
    @discardableResult
    func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(process, &raw, 0) < 0, errno == EINTR {}
        let result = raw & 0x7f == 0 ? (raw >> 8) & 0xff : -(raw & 0x7f)
        status = result
        return result
    }

    /// Whether the process has ended.
    var hasEnded: Bool {
        var information = siginfo_t()
        // Not reaped, so that `wait` finds it.
        return status != nil
            || waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
                && information._sifields._sigchld.si_pid == process
    }

    /// Runs a shell command; if it fails, throws what it printed.
    static func command(_ script: String) throws {
        let child = try shell("exec 2>&1; " + script)
        let output = child.readLines()
        guard child.wait() == 0 else { throw Obstacle("\(script): \(output.joined(separator: "; "))") }
    }
}

/// Writes a line in one call, so that all of it or nothing is there when the process is killed.
func writeLine(_ line: String, to descriptor: Int32) {
    let bytes = Array(line.utf8) + [10]
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}
#endif
