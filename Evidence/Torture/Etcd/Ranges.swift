#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesEtcd

/// An experiment with the names of many hosts, of which a client reads all, or those of its own host and of the fleet.
enum Ranges {
    private static let namesOfAHost = 10
    private static let patience = Duration.seconds(60)
    /// The largest part of the bytes of a client of all names that a client of one host may receive for the changes of the others.
    private static let limit = 0.05
    /// The most requests of a client of one host for its one change, which needs one; further ones leave room for a watch that reopens.
    private static let requestLimit = 5.0

    private struct Cost {
        var load = 0.0
        var changes = 0.0
        var requests = 0.0
    }

    static func run(_ hosts: Int) async throws -> Int32 {
        let cluster = try EtcdCluster.start()
        let node = cluster.nodes[0]
        var configuration = EtcdConfiguration(endpoints: cluster.endpoints)
        // Probes are requests, too.
        configuration.probeInterval = .seconds(3_600)
        let writer = try PreferenceStore.etcd("torture", configuration)
        try await fill(hosts, writer)
        var own = configuration
        own.scopes = ["host": ["web-1"]]
        // Without a client, the bytes are those of the writer, which reads all.
        let base = try await cost(nil, of: hosts, by: writer, node)
        let all = try await cost(configuration, of: hosts, by: writer, node)
        let scoped = try await cost(own, of: hosts, by: writer, node)
        print("\(hosts) hosts with \(namesOfAHost) names each, and as many of the fleet")
        print("| a client of | load: bytes | \(hosts) changes of other hosts and one of the fleet: bytes | requests |")
        print("|---|---|---|---|")
        show("all names", all, base)
        show("one host and the fleet", scoped, base)
        let holds = scoped.changes - base.changes <= limit * (all.changes - base.changes)
        let isQuiet = scoped.requests - base.requests <= requestLimit
        if !holds { print("ranges: FAILS, a client must not receive what other hosts are sent") }
        if !isQuiet { print("ranges: FAILS, a client must send no request for what other hosts are sent") }
        if holds, isQuiet { print("ranges: holds") }
        return holds && isQuiet ? 0 : 1
    }

    private static func fill(_ hosts: Int, _ writer: PreferenceStore) async throws {
        for host in 0...hosts {
            try await writer.transaction { transaction in
                for number in 0..<namesOfAHost {
                    let name = "feature.\(number)"
                    let scope = PreferenceStore.scopePrefix("host", id: "web-\(host)")
                    transaction[host == 0 ? name : scope + name] = .string("the text of \(number)")
                }
            }
        }
    }

    /// Returns the bytes and requests of the server while a client, if there is one, loads and then receives changes.
    private static func cost(
        _ configuration: EtcdConfiguration?,
        of hosts: Int,
        by writer: PreferenceStore,
        _ node: EtcdNode
    ) async throws -> Cost {
        var cost = Cost()
        let monitor = EtcdMonitor()
        var bytes = try await node.bytesSent
        let client = try configuration.map { try PreferenceStore.etcd("torture", $0, monitor: monitor) }
        try await client?.load()
        try await waitUntil { configuration == nil || monitor.status.isConnected }
        cost.load = try await node.bytesSent - bytes
        bytes = try await node.bytesSent
        let requests = try await node.requests
        let value = PropertyListValue.string(UUID().uuidString)
        for host in 2...hosts + 1 {
            try await writer.write(value, for: PreferenceStore.scopePrefix("host", id: "web-\(host)") + "feature.0")
        }
        try await writer.write(value, for: "feature.0")
        try await waitUntil { client.map { $0["feature.0"] == value } ?? true }
        // The gateway's counters come a little later.
        try await Task.sleep(for: .milliseconds(500))
        cost.changes = try await node.bytesSent - bytes
        cost.requests = try await node.requests - requests
        return cost
    }

    private static func waitUntil(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + patience
        while !condition() {
            guard ContinuousClock.now < end else { throw EtcdObstacle("the client isn't up to date") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private static func show(_ name: String, _ cost: Cost, _ base: Cost) {
        let numbers = [cost.load - base.load, cost.changes - base.changes, cost.requests - base.requests].map {
            Int($0).formatted(.number.locale(Locale(identifier: "en_US")))
        }
        print("| \(name) | \(numbers.joined(separator: " | ")) |")
    }
}
#endif
