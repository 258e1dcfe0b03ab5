#if Etcd && canImport(Glibc)
import AsyncHTTPClient
import EtcdTestSupport
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Preferences
import PreferencesEtcd

/// A measurement of the server's processor time for a set and for a probe, in a suite of one name and in one of 5,000.
enum SuiteCost {
    private static let rounds = 8
    private static let sets = 150
    private static let limit = 1.2

    private struct Suite {
        let name: String
        /// A store that doesn't probe during the measurement.
        let writer: PreferenceStore
        var set = 0.0
        var probe = 0.0
        var probes = 0.0
    }

    static func run() async throws -> Int32 {
        let cluster = try EtcdCluster.start()
        let node = cluster.nodes[0]
        var configuration = EtcdConfiguration(endpoints: cluster.endpoints)
        var suites: [Suite] = []
        for count in [1, 5_000] {
            configuration.probeInterval = .seconds(3_600)
            let name = "names.\(count)"
            let suite = Suite(name: name, writer: try PreferenceStore.etcd(name, configuration))
            for start in stride(from: 0, to: count, by: 100) {
                try await suite.writer.transaction { transaction in
                    for index in start..<min(count, start + 100) { transaction["name.\(index)"] = .string("value") }
                }
            }
            suites.append(suite)
        }
        configuration.probeInterval = .milliseconds(1)
        // The suites alternate, so that other load on the machine affects both alike.
        for round in 0...rounds {
            for index in suites.indices {
                let set = try measureSets(in: suites[index].writer, of: node)
                let (probe, probes) = try await measureProbes(of: suites[index].name, configuration, node)
                // The first round warms up connections and caches.
                guard round > 0 else { continue }
                suites[index].set += set
                suites[index].probe += probe
                suites[index].probes += probes
            }
        }
        var isFlat = true
        let setCosts = suites.map { $0.set / Double(rounds * sets) }
        isFlat = print("set", setCosts) && isFlat
        isFlat = print("probe", suites.map { $0.probe / $0.probes }) && isFlat
        Swift.print(isFlat ? "cost: holds" : "cost: FAILS, a ratio is above \(limit)")
        return isFlat ? 0 : 1
    }

    private static func print(_ operation: String, _ costs: [Double]) -> Bool {
        let (few, many) = (costs[0], costs[1])
        let times = [few, many].map { ($0 * 1e6).formatted(.number.precision(.fractionLength(0)).grouping(.never)) }
        let ratio = (many / few).formatted(.number.precision(.fractionLength(2)))
        Swift.print(
            "a \(operation): \(times[0]) µs of the server's processor with 1 name, \(times[1]) µs with 5,000: ratio \(ratio)"
        )
        return many / few <= limit
    }

    private static func measureSets(in store: PreferenceStore, of node: EtcdNode) throws -> Double {
        let preference = Preference("name.0", default: "", in: store)
        let start = try processorTime(of: node)
        for number in 0..<sets { try preference.write("value \(number)") }
        return try processorTime(of: node) - start
    }

    /// Returns the processor time of probes, and their number.
    private static func measureProbes(
        of suite: String,
        _ configuration: EtcdConfiguration,
        _ node: EtcdNode
    ) async throws -> (Double, Double) {
        let monitor = EtcdMonitor()
        let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
        _ = store.names
        for await status in monitor.statuses where status.isConnected { break }
        // The server may still collect the garbage of the reads.
        try await Task.sleep(for: .milliseconds(100))
        let first = try await ranges(of: node)
        let start = try processorTime(of: node)
        try await Task.sleep(for: .milliseconds(500))
        let time = try processorTime(of: node) - start
        let last = try await ranges(of: node)
        withExtendedLifetime(store) {}
        // One of thirty probes reads two ranges.
        return (time, (last - first) * 30 / 31)
    }

    private static func ranges(of node: EtcdNode) async throws -> Double {
        let request = try HTTPClient.Request(url: node.clientURL + "/metrics")
        let response = try await HTTPClient.shared.execute(request: request).get()
        let metrics = String(buffer: response.body ?? ByteBuffer())
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("etcd_debugging_mvcc_range_total ") }
        guard let count = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw EtcdObstacle("the server does not count ranges")
        }
        return count
    }

    /// Returns the processor time of the server in seconds, by the kernel's clock, as the server's own metric is too coarse.
    private static func processorTime(of node: EtcdNode) throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard let process = node.process, clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0
        else {
            throw EtcdObstacle("the server's processor time can't be read")
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
#endif
