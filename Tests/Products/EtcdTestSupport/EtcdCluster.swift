#if canImport(Glibc)
package import FileTestSupport
internal import Foundation
internal import Glibc

/// A cluster of real servers, with temporary folders and free ports of the loopback address.
package final class EtcdCluster: Sendable {
    package let nodes: [EtcdNode]
    package let folder: TemporaryFolder
    private let flags: [String]
    private let token: String

    package var endpoints: [String] { nodes.map(\.clientURL) }

    /// Whether etcd and etcdctl are installed, or named by the environment.
    package static var isInstalled: Bool { EtcdProgram.allCases.allSatisfy { $0.isNamed || $0.isExecutable } }

    /// Starts servers and waits until each answers.
    ///
    /// - Parameters:
    ///   - count: The number of servers.
    ///   - scheme: The scheme of the URLs for clients.
    ///   - arguments: Returns further options of the servers, with files in the folder.
    ///   - flags: Returns the options that `etcdctl` needs to reach the servers.
    package static func start(
        _ count: Int = 1,
        scheme: String = "http",
        arguments: (TemporaryFolder) throws -> [String] = { _ in [] },
        flags: (TemporaryFolder) -> [String] = { _ in [] }
    ) throws -> EtcdCluster {
        for program in EtcdProgram.allCases where !program.isExecutable {
            throw EtcdObstacle(
                "\(program.path) can't be run; install it, or correct the variable \(program.rawValue) of the environment"
            )
        }
        // Another process may take a port between its choice and its use.
        for _ in 0..<10 {
            let folder = try TemporaryFolder()
            let cluster = EtcdCluster(
                try ports(2 * count),
                scheme: scheme,
                folder: folder,
                arguments: try arguments(folder),
                flags: flags(folder)
            )
            for node in cluster.nodes { try node.start() }
            if try cluster.waitUntilHealthy() { return cluster }
        }
        throw EtcdObstacle("no etcd could be started on ten choices of free ports")
    }

    private init(_ ports: [Int], scheme: String, folder: TemporaryFolder, arguments: [String], flags: [String]) {
        let count = ports.count / 2
        let peers = (0..<count).map { "n\($0)=http://127.0.0.1:\(ports[count + $0])" }.joined(separator: ",")
        token = UUID().uuidString
        let token = token
        nodes = (0..<count).map { index in
            EtcdNode(
                name: "n\(index)",
                clientURL: "\(scheme)://127.0.0.1:\(ports[index])",
                peerURL: "http://127.0.0.1:\(ports[count + index])",
                folder: folder,
                arguments: ["--initial-cluster", peers, "--initial-cluster-token", token] + arguments
            )
        }
        self.folder = folder
        self.flags = flags
    }

    /// Waits until all servers are healthy; returns false if one of them has ended.
    package func waitUntilHealthy() throws -> Bool {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            if !nodes.allSatisfy(\.isRunning) { return false }
            if run("endpoint", "health", isQuiet: true) != nil { return true }
            usleep(50_000)
        }
        throw EtcdObstacle("etcd did not become healthy:\n" + nodes.map(\.log).joined(separator: "\n").suffix(4000))
    }

    /// Runs `etcdctl` and returns its output; throws if it fails.
    @discardableResult
    package func control(_ arguments: String...) throws -> String { try control(arguments) }

    /// Runs `etcdctl` and returns its output; throws if it fails.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - input: The text of its standard input; empty by default.
    ///   - isQuiet: Whether its error output is discarded.
    @discardableResult
    package func control(_ arguments: [String], input: String? = nil, isQuiet: Bool = false) throws -> String {
        guard let output = run(arguments, endpoints: nil, input: input, isQuiet: isQuiet) else {
            throw EtcdObstacle("etcdctl \(arguments.joined(separator: " ")) failed")
        }
        return output
    }

    /// Compacts the history up to the newest revision.
    package func compact() throws {
        let status = try control("get", "-w", "json", "nothing")
        let revision = status.firstMatch(of: #/"revision":(\d+)/#).map { String($0.1) } ?? ""
        try control("compact", revision)
    }

    /// Kills the only server, and starts it from a snapshot, with which its data are replaced, or without any data.
    ///
    /// - Parameter snapshot: The name of the snapshot's file in the folder; `nil` for a cluster without data.
    package func replace(with snapshot: String?) throws {
        let node = nodes[0]
        node.kill()
        let data = folder.path(node.name)
        try FileManager.default.removeItem(atPath: data)
        if let snapshot {
            let peers = "\(node.name)=\(node.peerURL)"
            try control(
                ["snapshot", "restore", folder.path(snapshot), "--name", node.name, "--data-dir", data]
                    + ["--initial-cluster", peers, "--initial-cluster-token", token]
                    + ["--initial-advertise-peer-urls", node.peerURL],
                isQuiet: true
            )
        }
        try node.start()
        guard try waitUntilHealthy() else { throw EtcdObstacle("the server has ended: \(node.log.suffix(2000))") }
    }

    /// The leading member, or `nil` during an election.
    package var leader: EtcdNode? {
        for node in nodes {
            guard let text = run(["endpoint", "status", "-w", "json"], endpoints: [node.clientURL], isQuiet: true),
                let list = try? JSONDecoder().decode([Status].self, from: Data(text.utf8)), let first = list.first
            else { continue }
            if first.Status.leader == first.Status.header.member_id { return node }
        }
        return nil
    }

    private struct Status: Decodable {
        struct Details: Decodable {
            struct Header: Decodable { let member_id: UInt64 }
            let header: Header
            let leader: UInt64?
        }

        let Status: Details
    }

    private func run(_ arguments: String..., isQuiet: Bool) -> String? {
        run(arguments, endpoints: nil, isQuiet: isQuiet)
    }

    private func run(_ arguments: [String], endpoints: [String]?, input: String? = nil, isQuiet: Bool) -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [EtcdProgram.client.path, "--endpoints", (endpoints ?? self.endpoints).joined(separator: ",")] + flags
            + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["ETCDCTL_API": "3"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        let inputPipe = input.map { _ in Pipe() }
        process.standardInput = inputPipe ?? FileHandle.nullDevice
        if isQuiet { process.standardError = FileHandle.nullDevice }
        do { try process.run() } catch { return nil }
        if let inputPipe, let input {
            // The process may have ended before it has read everything.
            try? inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? inputPipe.fileHandleForWriting.close()
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : nil
    }

    /// Returns ports that are free at the moment.
    package static func ports(_ count: Int) throws -> [Int] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return try (0..<count).map { _ in
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
            guard isBound else { throw EtcdObstacle("no port is free") }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
#endif
