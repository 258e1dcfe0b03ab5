#if Etcd
import Foundation
import Glibc
import Testing

/// Enables tests if etcd is installed, and always in CI, which installs it.
let needsEtcd = ConditionTrait.enabled(
    if: Needed.path(of: "etcd") != nil && Needed.path(of: "etcdctl") != nil
        || ProcessInfo.processInfo.environment["CI"] == "true",
    "SKIPPED: etcd and etcdctl are not installed (Debian: etcd-server, etcd-client)"
)

/// A real etcd on free ports of the loopback address, in a temporary folder; it ends with the last reference and with the process.
final class EtcdServer {
    let url: String
    private let peerURL: String
    private let folder: URL
    private let options: [String]
    private var running: (shell: Process, input: Pipe, server: pid_t)?

    /// Starts a server and waits until it answers.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of its URLs.
    ///   - options: Further options of the server.
    ///   - flags: The options that `etcdctl` needs to connect.
    static func start(_ scheme: String = "http", options: [String] = [], flags: [String] = []) throws -> EtcdServer {
        // Another process may use a port between its choice and its use here.
        for _ in 0..<10 {
            let server = try EtcdServer(scheme, options)
            try server.start()
            if try server.isHealthy(flags) { return server }
        }
        throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: "etcd can't be started"])
    }

    private init(_ scheme: String, _ options: [String]) throws {
        let ports = try Self.freePorts()
        url = "\(scheme)://127.0.0.1:\(ports[0])"
        peerURL = "http://127.0.0.1:\(ports[1])"
        folder = FileManager.default.temporaryDirectory.appending(path: "prefs-etcd-\(UUID().uuidString)")
        self.options = options
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        kill()
        do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) stays: \(error)") }
    }

    /// Starts the server, or restarts it with the same data and ports.
    func start() throws {
        // The shell ends the server when its input is closed, so also when this process dies for any reason.
        let script = #"etcd "$@" >>"$LOG" 2>&1 </dev/null & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null"#
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments =
            ["-c", script, "etcd"] + [
                "--name", "n0", "--data-dir", folder.appending(path: "data").path, "--logger", "zap",
                "--listen-client-urls", url, "--advertise-client-urls", url,
                "--listen-peer-urls", peerURL, "--initial-advertise-peer-urls", peerURL,
                "--initial-cluster", "n0=\(peerURL)",
            ] + options
        shell.environment = ProcessInfo.processInfo.environment
            .merging(["LOG": folder.appending(path: "log").path]) { $1 }
        let (input, output) = (Pipe(), Pipe())
        // A program that another test starts at the same time must not inherit it.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        shell.standardInput = input
        shell.standardOutput = output
        try shell.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        running = (shell, input, try #require(pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines))))
    }

    /// Ends the server without a shutdown, as a power failure would.
    func kill() {
        guard let (shell, input, server) = running else { return }
        running = nil
        Glibc.kill(server, SIGKILL)
        do { try input.fileHandleForWriting.close() } catch { print("the shell of etcd stays: \(error)") }
        Glibc.kill(shell.processIdentifier, SIGKILL)
        shell.waitUntilExit()
    }

    /// Waits until the server answers; returns false if it ended instead.
    private func isHealthy(_ flags: [String]) throws -> Bool {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end, let server = running?.server, Glibc.kill(server, 0) == 0 {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["etcdctl", "--endpoints", url] + flags + ["endpoint", "health"]
            process.environment = ProcessInfo.processInfo.environment.merging(["ETCDCTL_API": "3"]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            if process.terminationStatus == 0 { return true }
            usleep(50_000)
        }
        return false
    }

    /// Returns two ports that are free now.
    private static func freePorts() throws -> [Int] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return try (0..<2).map { _ in
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(socket)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
                }
            }
            guard isBound else { throw POSIXError(.EADDRINUSE) }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
#endif
