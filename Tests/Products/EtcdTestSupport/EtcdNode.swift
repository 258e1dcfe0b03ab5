#if canImport(Glibc)
internal import FileTestSupport
internal import Foundation
internal import Glibc
internal import Synchronization

/// A real etcd server on the loopback address, in its own folder; it ends with the last reference and with the process.
package final class EtcdNode: Sendable {
    package let name: String
    package let clientURL: String
    package let peerURL: String
    private let folder: TemporaryFolder
    private let arguments: [String]
    private let running = Mutex<Running?>(nil)

    private struct Running {
        let shell: Process
        let input: Pipe
        let server: pid_t
    }

    init(name: String, clientURL: String, peerURL: String, folder: TemporaryFolder, arguments: [String]) {
        self.name = name
        self.clientURL = clientURL
        self.peerURL = peerURL
        self.folder = folder
        self.arguments = arguments
    }

    deinit { kill() }

    /// Starts the server, or restarts it with the same data and ports.
    package func start() throws {
        // The shell ends the server when its input ends, so also if this process is killed.
        let script = #""$SERVER" "$@" >>"$LOG" 2>&1 </dev/null & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null"#
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments =
            ["-c", script, "etcd"] + [
                "--name", name, "--data-dir", folder.path(name),
                "--listen-client-urls", clientURL, "--advertise-client-urls", clientURL,
                "--listen-peer-urls", peerURL, "--initial-advertise-peer-urls", peerURL, "--logger", "zap",
            ] + arguments
        let variables = ["LOG": folder.path("\(name).log"), "SERVER": EtcdProgram.server.path]
        shell.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let (input, output) = (Pipe(), Pipe())
        shell.standardInput = input
        shell.standardOutput = output
        try shell.run()
        let line = output.fileHandleForReading.availableData
        guard let server = pid_t(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw EtcdObstacle("etcd can't be started") }
        running.withLock { $0 = Running(shell: shell, input: input, server: server) }
    }

    /// Kills the server with `SIGKILL`.
    package func kill() {
        guard let ended = running.withLock({ exchange(&$0, with: nil) }) else { return }
        Glibc.kill(ended.server, SIGKILL)
        try? ended.input.fileHandleForWriting.close()
        ended.shell.waitUntilExit()
    }

    /// Stops the server without closing its connections.
    package func pause() { signal(SIGSTOP) }

    package func resume() { signal(SIGCONT) }

    /// Whether the server's process exists.
    package var isRunning: Bool { signal(0) }

    @discardableResult
    private func signal(_ signal: Int32) -> Bool {
        running.withLock { $0.map { Glibc.kill($0.server, signal) == 0 } ?? false }
    }

    /// The identifier of the server's process, or `nil` if it isn't running.
    package var process: Int32? { running.withLock { $0?.server } }

    /// The log.
    package var log: String {
        (try? String(contentsOf: URL(filePath: folder.path("\(name).log")), encoding: .utf8)) ?? ""
    }
}

/// The programs of etcd, from `PATH` or the environment variables `ETCD` and `ETCDCTL`.
package enum EtcdProgram: String, CaseIterable, Sendable {
    case server = "ETCD"
    case client = "ETCDCTL"

    /// Whether an environment variable names the program.
    var isNamed: Bool { ProcessInfo.processInfo.environment[rawValue] != nil }

    /// The path, or the name to search for in `PATH`.
    package var path: String { ProcessInfo.processInfo.environment[rawValue] ?? rawValue.lowercased() }

    /// Whether the program can be run.
    package var isExecutable: Bool {
        guard !path.contains("/") else { return access(path, X_OK) == 0 }
        return (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            access("\($0)/\(path)", X_OK) == 0
        }
    }

    /// The first line of the program's version, such as `etcd Version: 3.5.16`, or `nil` if it can't be run.
    package var version: String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [path, self == .server ? "--version" : "version"]
        let output = Pipe()
        process.standardOutput = output
        do { try process.run() } catch { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").first.map(String.init)
    }
}

/// The reason why a test can't be run.
package struct EtcdObstacle: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
#endif
