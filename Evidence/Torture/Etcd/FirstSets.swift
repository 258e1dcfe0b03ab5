#if Etcd && canImport(Glibc)
import AsyncHTTPClient
import EtcdTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import Preferences
import PreferencesEtcd

/// An experiment with many stores that each set a new name of their own at the same time, and with as many raw puts, into the same
/// suite, so that the stores receive them as well, and into no suite.
enum FirstSets {
    private static let rounds = 3
    /// The requests to the server for a set, of which a conflict needs a second one.
    private static let limit = 2.0

    static func run(_ count: Int) async throws -> Int32 {
        let cluster = try EtcdCluster.start()
        let node = cluster.nodes[0]
        var configuration = EtcdConfiguration(endpoints: cluster.endpoints)
        // So that the load of all stores at once doesn't time out, and no store probes.
        configuration.timeout = .seconds(60)
        configuration.attemptTimeout = .seconds(30)
        configuration.probeInterval = .seconds(3_600)
        let stores = try (0..<count).map { _ in try PreferenceStore.etcd("first", configuration) }
        for store in stores { try await store.load() }
        var client = HTTPClient.Configuration()
        client.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = count
        let raw = HTTPClient(eventLoopGroupProvider: .singleton, configuration: client)
        // The puts of the first round open the connections.
        _ = try await put(count, "warm up", over: raw, to: node)
        var (sets, puts, unwatched) = ([Double](), [Double](), [Double]())
        var (failed, requests) = (0, 0.0)
        for round in 0..<rounds {
            let before = try await node.requests
            let start = ContinuousClock.now
            failed += await set(stores, in: round)
            sets.append(start.duration(to: .now) / .seconds(1))
            requests += try await node.requests - before
            try await settle(stores, count * (round * 2 + 1))
            puts.append(try await put(count, "preferences/first/raw.\(round)", over: raw, to: node))
            try await settle(stores, count * (round * 2 + 2))
            unwatched.append(try await put(count, "raw.\(round)", over: raw, to: node))
        }
        let stored = try cluster.control("get", "--prefix", "--keys-only", "preferences/first/name.")
            .split(separator: "\n").count
        try await raw.shutdown()
        // Other load on the machine makes some rounds slow.
        let (set, put) = (sets.min() ?? 0, puts.min() ?? 0)
        func text(_ number: Double) -> String {
            number.formatted(.number.precision(.fractionLength(2)).grouping(.never))
        }
        let share = requests / Double(count * rounds)
        print(
            "\(count) stores, each sets a new name: \(text(set)) s, \(failed) failed in \(rounds) rounds, "
                + "\(text(share)) requests a set"
        )
        print("\(count) raw puts that the stores receive too: \(text(put)) s, ratio \(text(set / put))")
        print("\(count) raw puts that no store receives: \(text(unwatched.min() ?? 0)) s")
        // The times depend on the build and on other load, the requests don't.
        let holds = failed == 0 && stored == count * rounds && share <= limit
        print(
            holds
                ? "first sets: holds"
                : "first sets: FAILS, \(stored) names are stored; up to \(limit) requests a set hold"
        )
        return holds ? 0 : 1
    }

    /// Waits until all stores have received all names, as their work would slow the next measurement down.
    private static func settle(_ stores: [PreferenceStore], _ names: Int) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while stores.contains(where: { $0.names.count != names }) {
            guard ContinuousClock.now < end else { throw EtcdObstacle("the stores did not receive \(names) names") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Returns the number of writes that failed.
    private static func set(_ stores: [PreferenceStore], in round: Int) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    do {
                        try await store.write(.integer(Int64(index)), for: "name.\(round).\(index)")
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 0 : 1) }
        }
    }

    /// Puts keys of their own over as many connections; returns the time in seconds.
    private static func put(_ count: Int, _ name: String, over client: HTTPClient, to node: EtcdNode) async throws
        -> Double
    {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask {
                    let key = Data("\(name).\(index)".utf8).base64EncodedString()
                    let body = #"{"key":"\#(key)","value":"\#(Data("1".utf8).base64EncodedString())"}"#
                    let request = try HTTPClient.Request(
                        url: node.clientURL + "/v3/kv/put",
                        method: .POST,
                        body: .string(body)
                    )
                    let response = try await client.execute(request: request).get()
                    guard response.status == .ok else { throw EtcdObstacle("a raw put failed: \(response.status)") }
                }
            }
            try await group.waitForAll()
        }
        return start.duration(to: .now) / .seconds(1)
    }
}

extension EtcdNode {
    /// The number of the reads and transactions that the server has answered.
    var requests: Double { get async throws { try await handled("Txn") + handled("Range") } }

    /// The number of the requests of a kind that the server has answered, whether or not the client still waited.
    func handled(_ method: String) async throws -> Double {
        let response = try await HTTPClient.shared.execute(request: HTTPClient.Request(url: clientURL + "/metrics"))
            .get()
        let lines = String(buffer: response.body ?? ByteBuffer()).split(separator: "\n").filter { line in
            line.hasPrefix("grpc_server_handled_total") && line.contains("etcdserverpb.KV")
                && line.contains("grpc_method=\"\(method)\"")
        }
        return lines.reduce(0) { $0 + ($1.split(separator: " ").last.flatMap { Double($0) } ?? 0) }
    }
}
#endif
