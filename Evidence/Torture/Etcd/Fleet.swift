#if Etcd && canImport(Glibc)
import AsyncHTTPClient
import EtcdTestSupport
import FileTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Preferences
import PreferencesEtcd

/// A measurement of the costs of a load, a change and an idle client, for different numbers of names and of clients.
///
/// It prints tables in Markdown; the last one multiplies the measurements, and shows the arithmetic.
enum Fleet {
    private static let probeInterval = 5
    private static let stores = [1, 20, 200]
    /// The size of the fleet of the last table, and the number of members.
    private static let (machines, members) = (10_000, 3)
    /// The share of one processor of a member that changes may use.
    private static let share = 0.1

    /// The costs for one combination of names and clients; times in seconds, sizes in bytes.
    private struct Row {
        let names: Int
        let clients: Int
        var loadTime = 0.0
        /// The cost of a load, for all clients together.
        var load = Cost.zero
        /// The cost of one change, with the write itself.
        var change = Cost.zero
        var median = 0.0
        var nearlyAll = 0.0
        /// The cost of `probeInterval` without changes, for all clients together.
        var idle = Cost.zero
        /// The memory that the server uses for the clients, after a garbage collection.
        var serverMemory = 0.0
        var clientMemory = 0.0
    }

    static func run(_ arguments: [String]) async throws -> Int32 {
        var (changes, names, isEncrypted) = (100, [Int](), false)
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--names", let number = rest.popFirst().flatMap({ Int($0) }), number > 0 {
                names.append(number)
            } else if argument == "--tls" {
                isEncrypted = true
            } else if let number = Int(argument), number > 0 {
                changes = number
            } else {
                throw EtcdObstacle("usage: etcd-torture fleet [changes] [--names N]… [--tls]")
            }
        }
        if names.isEmpty { names = [1_000, 5_000] }
        print(
            "\(EtcdProgram.server.version ?? "etcd"), one node\(isEncrypted ? ", over TLS" : ""); \(changes) changes of one integer, "
                + "each seen by all before the next\n"
        )
        var rows: [Row] = []
        for names in names {
            for clients in stores { rows.append(try await measure(names, clients, changes, isEncrypted)) }
        }
        show(rows)
        for names in names { extrapolate(rows.filter { $0.names == names }) }
        return 0
    }

    // MARK: Measuring

    private static func measure(
        _ names: Int,
        _ clients: Int,
        _ changes: Int,
        _ isEncrypted: Bool
    ) async throws -> Row {
        var row = Row(names: names, clients: clients)
        let cluster = try isEncrypted ? startEncrypted() : EtcdCluster.start(arguments: { _ in ["--enable-pprof"] })
        let authority = isEncrypted ? cluster.folder.path("authority.pem") : nil
        let node = cluster.nodes[0]
        try fill(names, cluster.endpoints, authority)
        let writer = try WorkerProcess("stamp", "0", cluster.endpoints, authority: authority)
        guard writer.line(within: .seconds(60)) == "ready" else { throw EtcdObstacle("the writer did not start") }
        let fleet = try WorkerProcess("clients", "\(clients),\(probeInterval)", cluster.endpoints, authority: authority)
        let meter = Meter(node, fleet)

        // The server's use without clients.
        let quiet = try await meter.read()
        try await Task.sleep(for: .seconds(5))
        let still = try await meter.read()
        let base = (still.server - quiet.server) / (still.time - quiet.time)

        let before = try await meter.read(collecting: true)
        fleet.send("load")
        let loaded = (fleet.line(within: .seconds(600)) ?? "").split(separator: " ")
        guard loaded.count == 3, let time = Double(loaded[1]), Int(loaded[2]) == names else {
            throw EtcdObstacle("the clients read \(loaded.last ?? "nothing") and not \(names) names")
        }
        let after = try await meter.read()
        row.loadTime = time
        row.load = after.since(before, base: base)
        try await until { try await meter.read().watchers >= Double(clients + 1) }

        // The first changes warm up the server and the clients.
        for _ in 0..<5 { try change(writer, fleet) }
        _ = try delays(of: fleet)
        let first = try await meter.read()
        for _ in 0..<changes { try change(writer, fleet) }
        let last = try await meter.read()
        row.change = last.since(first, base: base) / Double(changes)
        (row.median, row.nearlyAll) = try delays(of: fleet)

        writer.end()
        try await Task.sleep(for: .seconds(probeInterval))
        let idle = try await meter.read()
        try await Task.sleep(for: .seconds(probeInterval * 4))
        let end = try await meter.read()
        row.idle = end.since(idle, base: base) / ((end.time - idle.time) / Double(probeInterval))

        let collected = try await meter.read(collecting: true)
        row.serverMemory = collected.serverMemory - before.serverMemory
        row.clientMemory = collected.clientMemory - before.clientMemory
        return row
    }

    private static func startEncrypted() throws -> EtcdCluster {
        try EtcdCluster.start(scheme: "https") { folder in
            try EtcdCertificates.run("authority authority; sign server authority", in: folder)
            return [
                "--enable-pprof", "--cert-file", folder.path("server.pem"), "--key-file", folder.path("server.key"),
            ]
        } flags: {
            ["--cacert", $0.path("authority.pem")]
        }
    }

    /// Sets the given number of names, of 20 characters and with a text of 20, in several transactions.
    static func fill(_ names: Int, _ endpoints: [String], _ authority: String? = nil) throws {
        var configuration = EtcdConfiguration(endpoints: endpoints)
        configuration.tls = authority.map { EtcdTLS(authority: $0) }
        let store = try PreferenceStore.etcd("torture", configuration)
        try store.transaction { $0["flag"] = 0 }
        for start in stride(from: 1, to: names, by: 1_000) {
            try store.transaction { transaction in
                for number in start..<min(start + 1_000, names) {
                    let digits = String(number + 1_000_000).dropFirst()
                    transaction["feature.group.\(digits)"] = .string("the text of \(digits)..")
                }
            }
        }
    }

    private static func change(_ writer: WorkerProcess, _ fleet: WorkerProcess) throws {
        writer.send("set")
        guard fleet.line(within: .seconds(120)) == "seen" else { throw EtcdObstacle("a change was not seen by all") }
        guard writer.line(within: .seconds(120)) == "set" else { throw EtcdObstacle("a change was not stored") }
    }

    private static func delays(of fleet: WorkerProcess) throws -> (Double, Double) {
        fleet.send("delays")
        let words = (fleet.line(within: .seconds(60)) ?? "").split(separator: " ")
        guard words.count == 3, let median = Double(words[1]), let nearlyAll = Double(words[2]) else {
            throw EtcdObstacle("no delays were measured")
        }
        return (median, nearlyAll)
    }

    private static func until(_ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while try await !condition() {
            guard ContinuousClock.now < end else { throw EtcdObstacle("the expected state was not reached") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: Tables

    private static func show(_ rows: [Row]) {
        print("| names | clients | load of all | each: received | server | client |")
        print("|---|---|---|---|---|---|")
        for row in rows {
            let each = row.load / Double(row.clients)
            print(
                "| \(row.names) | \(row.clients) | \(text(row.loadTime, 2)) s | \(text(each.received / 1e3)) KB | "
                    + "\(text(each.server * 1e3, 1)) ms | \(text(each.client * 1e3, 1)) ms |"
            )
        }
        print(
            "\n| names | clients | a change, each: received | sent | server | client | seen after: median | 99th percentile |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for row in rows {
            let each = row.change / Double(row.clients)
            print(
                "| \(row.names) | \(row.clients) | \(text(each.received)) bytes | \(text(each.sent)) | \(text(each.server * 1e6)) µs | "
                    + "\(text(each.client * 1e6)) µs | \(text(row.median, 1)) ms | \(text(row.nearlyAll, 1)) ms |"
            )
        }
        print("\n| names | clients | a probe: received | sent | server | client | memory a client: server | client |")
        print("|---|---|---|---|---|---|---|---|")
        for row in rows {
            let each = row.idle / Double(row.clients)
            print(
                "| \(row.names) | \(row.clients) | \(text(each.received)) bytes | \(text(each.sent)) bytes | "
                    + "\(text(each.server * 1e6)) µs | \(text(each.client * 1e6)) µs | "
                    + "\(text(row.serverMemory / Double(row.clients) / 1e3)) KB | "
                    + "\(text(row.clientMemory / Double(row.clients) / 1e3)) KB |"
            )
        }
    }

    /// Extrapolates the cost of one more client, from the rows with the fewest and the most clients from 20 on.
    private static func extrapolate(_ rows: [Row]) {
        guard let few = rows.dropFirst().first, let many = rows.last else { return }
        let more = Double(many.clients - few.clients)
        let each = machines / members
        func slope(_ name: String, _ value: (Row) -> Double, _ scale: Double, _ unit: String) -> Double {
            let slope = (value(many) - value(few)) / more
            print(
                "| \(name) | (\(text(value(many) * scale, 1)) − \(text(value(few) * scale, 1))) ÷ \(Int(more)) = "
                    + "\(text(slope * scale, 2)) \(unit) |",
                terminator: ""
            )
            return slope
        }
        print(
            "\n\(many.names) names:\n\n| | a client more, by the rows of \(few.clients) and \(many.clients) | \(machines) machines |"
        )
        print("|---|---|---|")
        let memory = slope("memory of a member", \.serverMemory, 1 / 1e3, "KB")
        print(" × \(each) = \(text(memory * Double(each) / 1e9, 2)) GB |")
        let received = slope("a change, bytes", \.change.received, 1, "bytes")
        print(" × \(machines) = \(text(received * Double(machines) / 1e6, 1)) MB from all members |")
        let change = slope("a change, processor of a member", \.change.server, 1e3, "ms") * Double(each)
        print(" × \(each) = \(text(change, 2)) s |")
        print(
            "| changes in a minute that keep a processor of each member \(Int(share * 100)) % busy | | 60 s × \(share) ÷ "
                + "\(text(change, 2)) s = \(text(60 * share / change)) |"
        )
        let idle = slope("a probe, processor of a member", \.idle.server, 1e3, "ms")
        for interval in [10, 300] {
            let busy = idle * Double(each) / Double(interval)
            let end =
                "× \(each) ÷ \(interval) s = \(text(busy * 100, 1)) % of a processor, \(text(Double(machines) / Double(interval))) "
                + "probes a second from all |"
            print(interval == 10 ? " \(end)" : "| a probe every 5 minutes | | \(text(idle * 1e3, 2)) ms \(end)")
        }
        let bytes = slope("all start at once, bytes", \.load.received, 1 / 1e3, "KB")
        print(" × \(machines) = \(text(bytes * Double(machines) / 1e9, 2)) GB from all members |")
        let load = slope("all start at once, processor of a member", \.load.server, 1e3, "ms")
        print(" × \(each) = \(text(load * Double(each), 1)) s |")
    }

    private static func text(_ number: Double, _ digits: Int = 0) -> String {
        number.formatted(.number.precision(.fractionLength(digits)).grouping(.never))
    }
}

/// A cost: bytes on the clients' connections, and seconds of processor time.
private struct Cost {
    static let zero = Cost(received: 0, sent: 0, server: 0, client: 0)

    var received: Double
    var sent: Double
    var server: Double
    var client: Double

    static func / (cost: Cost, number: Double) -> Cost {
        Cost(
            received: cost.received / number,
            sent: cost.sent / number,
            server: cost.server / number,
            client: cost.client / number
        )
    }
}

/// A reader of the server's metrics, the kernel's counters of the clients' connections to it, and the clients' own measurements.
private struct Meter {
    struct Reading {
        let time: Double
        /// The bytes received, with the headers of HTTP and without those of TCP.
        var received = 0.0
        var sent = 0.0
        let server: Double
        let client: Double
        let watchers: Double
        let serverMemory: Double
        let clientMemory: Double

        /// Returns the cost since an earlier reading, less the server's own use per second.
        func since(_ earlier: Reading, base: Double) -> Cost {
            Cost(
                received: received - earlier.received,
                sent: sent - earlier.sent,
                server: max(0, server - earlier.server - base * (time - earlier.time)),
                client: client - earlier.client
            )
        }
    }

    private let node: EtcdNode
    private let fleet: WorkerProcess
    /// A client that trusts the server, as its certificate is the experiment's own.
    private static let client = HTTPClient(configuration: HTTPClient.Configuration(certificateVerification: .none))

    init(_ node: EtcdNode, _ fleet: WorkerProcess) {
        self.node = node
        self.fleet = fleet
    }

    /// Reads all values; with `collecting` the server collects its garbage first.
    func read(collecting: Bool = false) async throws -> Reading {
        if collecting { _ = try await get("/debug/pprof/heap?gc=1") }
        fleet.send("cost")
        let words = (fleet.line(within: .seconds(120)) ?? "").split(separator: " ").dropFirst().compactMap {
            Double($0)
        }
        guard words.count == 2 else { throw EtcdObstacle("the clients have ended") }
        let metrics = String(buffer: try await get("/metrics"))
        func metric(_ name: String) -> Double {
            let line = metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        var reading = Reading(
            time: Double(FleetClients.now) / 1e9,
            server: metric("process_cpu_seconds_total"),
            client: words[0],
            watchers: metric("etcd_debugging_mvcc_watcher_total"),
            serverMemory: metric("go_memstats_heap_alloc_bytes") + metric("go_memstats_stack_inuse_bytes"),
            clientMemory: words[1]
        )
        for counters in try sockets() {
            for word in counters.split(separator: " ") {
                let parts = word.split(separator: ":")
                if parts.first == "bytes_received" { reading.received += Double(parts[1]) ?? 0 }
                if parts.first == "bytes_sent" { reading.sent += Double(parts[1]) ?? 0 }
            }
        }
        return reading
    }

    private func get(_ path: String) async throws -> ByteBuffer {
        let request = try HTTPClient.Request(url: node.clientURL + path, headers: ["Connection": "close"])
        return try await Self.client.execute(request: request).get().body ?? ByteBuffer()
    }

    /// Returns the kernel's counters of each connection of the clients.
    private func sockets() throws -> [Substring] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let port = node.clientURL.split(separator: ":").last ?? ""
        process.arguments = ["ss", "-tinpH", "dst", "127.0.0.1:\(port)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n")
        let own = "pid=\(fleet.identifier),"
        return zip(lines, lines.dropFirst()).filter { $0.0.contains(own) }.map(\.1)
    }
}
#endif
