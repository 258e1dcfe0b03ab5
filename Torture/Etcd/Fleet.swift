#if Etcd && canImport(Glibc)
import AsyncHTTPClient
import EtcdTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import Preferences
import PreferencesEtcd

/// What a change and an idle client cost one node, by how many clients watch it.
enum Fleet {
    private static let probeInterval = Duration.seconds(2)

    static func run(_ changes: Int) async throws -> Int32 {
        print("\(changes) changes of one integer, each a set of its own, on one node")
        for count in [1, 10, 100] { try await run(count, changes) }
        return 0
    }

    private static func run(_ count: Int, _ changes: Int) async throws {
        let cluster = try EtcdCluster.start()
        let node = cluster.nodes[0]
        let empty = try await Cost(node)
        var configuration = EtcdConfiguration(endpoints: cluster.endpoints)
        configuration.probeInterval = probeInterval
        var clients: [Preference<Int>] = []
        for _ in 0..<count {
            let store = try PreferenceStore.etcd("torture", configuration)
            clients.append(Preference("flag", default: 0, in: store))
        }
        // The first read connects.
        for client in clients { _ = client.value }
        let writer = try WorkerProcess("set", "\(changes)", cluster.endpoints)
        _ = writer.words()
        try await until { try await Cost(node).watchers >= Double(count) }

        let before = try await Cost(node)
        writer.send("go")
        _ = writer.words()
        try await until { clients.allSatisfy { $0.value == changes } }
        let after = try await Cost(node)
        let share = Double(changes * count)
        print("\(count) clients: \(Int(after.watchers)) watchers (the writer has one)")
        print(
            "  a change, for each client: \(text((after.received - before.received) / share)) bytes received,"
                + " \(text((after.sent - before.sent) / share)) sent, \(text((after.seconds - before.seconds) / share * 1e6)) µs of the"
                + " server's processor, the write included"
        )
        print("  a client: \(text((after.memory - empty.memory) / Double(count) / 1024)) KB of the server's memory")

        // As long as several probes take.
        let quiet = try await Cost(node)
        try await Task.sleep(for: probeInterval * 5)
        let end = try await Cost(node)
        // Those of the writer's are few, and not among the bytes.
        let probes = end.ranges - quiet.ranges
        print(
            "  idle, \(text(probes)) probes: \(text((end.received - quiet.received) / probes)) bytes received,"
                + " \(text((end.sent - quiet.sent) / probes)) sent, \(text((end.seconds - quiet.seconds) / probes * 1e6)) µs of the"
                + " server's processor each"
        )
    }

    private static func text(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(0)).grouping(.never))
    }

    private static func until(_ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while try await !condition() {
            guard ContinuousClock.now < end else { throw EtcdObstacle("what is measured does not come about") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

/// What the server counts, and what the kernel counts on this process's connections to it.
private struct Cost {
    /// Bytes of this process's clients, with the headers of HTTP and without those of TCP.
    var (received, sent) = (0.0, 0.0)
    let watchers: Double
    let ranges: Double
    let seconds: Double
    let memory: Double

    init(_ node: EtcdNode) async throws {
        // Closed, so that its bytes are not among those of the clients.
        let request = try HTTPClient.Request(url: node.clientURL + "/metrics", headers: ["Connection": "close"])
        let response = try await HTTPClient.shared.execute(request: request).get()
        let metrics = String(buffer: response.body ?? ByteBuffer())
        func metric(_ name: String) -> Double {
            let line = metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        watchers = metric("etcd_debugging_mvcc_watcher_total")
        ranges = metric("etcd_debugging_mvcc_range_total")
        seconds = metric("process_cpu_seconds_total")
        memory = metric("process_resident_memory_bytes")
        let port = node.clientURL.split(separator: ":").last ?? ""
        for counters in try Self.sockets(to: String(port)) {
            for word in counters.split(separator: " ") {
                let parts = word.split(separator: ":")
                if parts.first == "bytes_received" { received += Double(parts[1]) ?? 0 }
                if parts.first == "bytes_sent" { sent += Double(parts[1]) ?? 0 }
            }
        }
    }

    /// The kernel's counters of each connection of this process.
    private static func sockets(to port: String) throws -> [Substring] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["ss", "-tinpH", "dst", "127.0.0.1:\(port)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n")
        let own = "pid=\(ProcessInfo.processInfo.processIdentifier),"
        return zip(lines, lines.dropFirst()).filter { $0.0.contains(own) }.map(\.1)
    }
}
#endif
