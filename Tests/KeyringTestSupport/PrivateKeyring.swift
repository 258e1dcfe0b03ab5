#if os(Linux)
import FoundationEssentials
package import Glibc

/// A session bus with gnome-keyring on it, separate from the user's, in a temporary folder; both end with it or with this process.
package final class PrivateKeyring {
    /// The required programs that are missing.
    package static var missing: [String] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["dbus-daemon", "gnome-keyring-daemon", "secret-tool", "gdbus"].filter { program in
            !folders.contains { access("\($0)/\(program)", X_OK) == 0 }
        }
    }

    private let folder: String
    private var bus: Server?
    private var daemon: Server?

    /// Starts the bus and, by default, the keyring.
    package init(startsDaemon: Bool = true) throws {
        var template = Array("/tmp/keyring-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw KeyringObstacle("no folder can be made in /tmp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for name in ["home", "data", "run"] { mkdir(folder + "/" + name, 0o700) }
        // Not the session's configuration: that starts a keyring when one is needed.
        let configuration = """
            <busconfig>
            <type>session</type><listen>unix:path=\(folder)/bus</listen>
            <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            </policy>
            </busconfig>
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder + "/bus.conf"))
        try startBus()
        if startsDaemon { try startDaemon() }
    }

    deinit {
        daemon = nil
        bus = nil
        do { try FileManager.default.removeItem(atPath: folder) } catch {
            print("the folder \(folder) can't be removed: \(error)")
        }
    }

    /// The environment in which a program finds the bus, and nothing of the user's.
    package var environment: [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder + "/home",
            "XDG_DATA_HOME": folder + "/data", "XDG_CONFIG_HOME": folder + "/home", "XDG_RUNTIME_DIR": folder + "/run",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/bus", "GIO_USE_VFS": "local",
        ]
    }

    package func startBus() throws {
        unlink(folder + "/bus")
        bus = try Server(
            "dbus-daemon --config-file=\(folder)/bus.conf --print-address=3 --nofork 3>&1 >/dev/null 2>&1 </dev/null",
            environment
        )
        // The bus prints its address when it listens.
        guard bus?.readLine() != nil else { throw KeyringObstacle("the bus doesn't start") }
    }

    /// Starts the keyring and returns once it is on the bus.
    ///
    /// - Parameter isUnlocked: Whether the collection for new items is unlocked; it is created the first time.
    package func startDaemon(isUnlocked: Bool = true) throws {
        let program = "gnome-keyring-daemon --components=secrets --foreground >/dev/null 2>&1"
        daemon = try Server(isUnlocked ? "printf password | \(program) --unlock" : "\(program) </dev/null", environment)
        let wait = try run(
            "/usr/bin/env",
            ["gdbus", "wait", "--session", "--timeout", "60", "org.freedesktop.secrets"]
        )
        guard wait.status == 0 else { throw KeyringObstacle("gnome-keyring doesn't come to the bus") }
    }

    /// The process identifier of the keyring.
    package var daemonProcess: pid_t { daemon?.process ?? -1 }
    /// Ends the keyring, as a crash does.
    package func killDaemon() { daemon?.signal(SIGKILL) }
    /// Stops the keyring (SIGSTOP): calls get no answer.
    package func stopDaemon() { daemon?.signal(SIGSTOP) }
    package func continueDaemon() { daemon?.signal(SIGCONT) }
    package func killBus() { bus?.signal(SIGKILL) }

    /// Runs a program on the bus and returns its exit status and output.
    package func run(
        _ program: String,
        _ arguments: [String],
        input: String = ""
    ) throws -> (status: Int32, output: String) {
        let process = try Dialogue(program, arguments, environment)
        try process.send(input)
        process.endInput()
        let output = process.readAll()
        return (process.wait(), output)
    }

    /// Runs secret-tool, as `secretTool("lookup", "application", "player", "name", "token")`.
    package func secretTool(_ arguments: String..., input: String = "") throws -> (status: Int32, output: String) {
        try run("secret-tool", arguments, input: input)
    }

    /// Starts a program on the bus that answers each line of its input with a line of output.
    package func start(_ program: String, _ arguments: [String] = []) throws -> Dialogue {
        try Dialogue(program, arguments, environment)
    }
}

/// A reason why a test can't run.
package struct KeyringObstacle: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// A program with which a test communicates by lines.
// Not Foundation's `Process`, which also waits for the end of all processes that the program has started.
package final class Dialogue {
    private let process: pid_t
    private var input: Int32
    private let output: Int32
    private var received: [UInt8] = []
    private var status: Int32?

    init(_ program: String, _ arguments: [String], _ environment: [String: String]) throws {
        var (toChild, fromChild): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw KeyringObstacle("no pipe can be made") }
        // Otherwise a program that is started later would keep them open.
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Makes a write to a program that has ended an error, instead of the end of this program.
        Glibc.signal(SIGPIPE, SIG_IGN)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        var process = pid_t()
        var texts = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        let error = posix_spawnp(&process, program, &actions, nil, &texts, &variables)
        posix_spawn_file_actions_destroy(&actions)
        for text in texts + variables { free(text) }
        close(toChild[0])
        close(fromChild[1])
        (self.process, input, output) = (process, toChild[1], fromChild[0])
        guard error == 0 else {
            status = -1
            throw KeyringObstacle("\(program) can't be started: \(String(cString: strerror(error)))")
        }
    }

    deinit {
        endInput()
        kill()
        wait()
        close(output)
    }

    /// Whether it is still running.
    package var isRunning: Bool {
        var information = siginfo_t()
        return status == nil && waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information._sifields._sigchld.si_pid != process
    }

    /// Sends a line and returns the next line of the output.
    package func ask(_ line: String) throws -> String {
        try send(line + "\n")
        guard let answer = readLine() else { throw KeyringObstacle("the program ended at \(line)") }
        return answer
    }

    package func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { throw KeyringObstacle("the program reads nothing") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Returns the next line of the output, or `nil` at its end.
    package func readLine() -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    /// Returns the rest of the output after the program has ended.
    package func readAll() -> String {
        while fill() {}
        return String(decoding: received, as: UTF8.self)
    }

    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &buffer, buffer.count)
        if count > 0 { received += buffer[..<count] }
        return count > 0
    }

    package func endInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    package func kill() { if status == nil { Glibc.kill(process, SIGKILL) } }

    /// Waits for the end and returns the exit code, or the negated number of the signal that ended it.
    @discardableResult
    package func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(process, &raw, 0) < 0, errno == EINTR {}
        let result = raw & 0x7f == 0 ? (raw >> 8) & 0xff : -(raw & 0x7f)
        status = result
        return result
    }
}

/// A program that ends with this process: the shell around it ends it when its own input ends.
private final class Server {
    private let shell: Dialogue
    let process: pid_t
    private var lines: [String] = []

    init(_ command: String, _ environment: [String: String]) throws {
        shell = try Dialogue(
            "sh",
            ["-c", "exec 4<&0; \(command) & echo $!; cat <&4 >/dev/null; kill -9 $! 2>/dev/null"],
            environment
        )
        // The program may write before the shell does.
        while true {
            guard let line = shell.readLine() else { throw KeyringObstacle("\(command) doesn't start") }
            if let number = pid_t(line) {
                process = number
                return
            }
            lines.append(line)
        }
    }

    func readLine() -> String? { lines.isEmpty ? shell.readLine() : lines.removeFirst() }

    func signal(_ number: Int32) { kill(process, number) }

    deinit {
        signal(SIGKILL)
        shell.endInput()
        shell.wait()
    }
}
#endif
