#if Etcd && canImport(Glibc)
import AsyncHTTPClient
import EtcdTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import Preferences
import PreferencesEtcd

/// An experiment with a program that starts again: with and without a cache, after changes by another one, and while etcd is down.
enum Restart {
    /// The reads of single keys that a start from the cache needs to compare the history.
    private static let limit = 2.0
    private static let patience = Duration.seconds(60)

    private struct Start {
        var firstRead = 0.0
        var upToDate = 0.0
        var ranges = 0.0
        var bytes = 0.0
    }

    static func run(_ names: Int) async throws -> Int32 {
        let cluster = try EtcdCluster.start()
        let node = cluster.nodes[0]
        let folder = FileManager.default.temporaryDirectory.appending(path: "restart-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch { print("\(folder.path) could not be removed") }
        }
        try Fleet.fill(names, cluster.endpoints)
        var configuration = EtcdConfiguration(endpoints: cluster.endpoints)
        let uncached = configuration
        configuration.cacheFile = folder.appending(path: "cache.jsonl")
        let writer = try PreferenceStore.etcd("torture", uncached)
        try await writer.load()
        // The first start fills the cache.
        _ = try await start(configuration, after: 0, node)
        print("| | first read | up to date | reads by the server | bytes from the server |")
        print("|---|---|---|---|---|")
        var holds = true
        var moment = 0
        for count in [0, 10, 1_000] {
            for index in 0..<count {
                let digits = String(index % (names - 1) + 1_000_001).dropFirst()
                try await writer.write(.string("changed \(moment).\(index)"), for: "feature.group.\(digits)")
            }
            moment += 1
            try await writer.write(.integer(Int64(moment)), for: "flag")
            let cached = try await start(configuration, after: moment, node)
            show("cache, \(count + 1) changes since", cached)
            holds = holds && cached.ranges <= limit && cached.firstRead < 1
        }
        show("no cache", try await start(uncached, after: moment, node))
        node.kill()
        let (cached, value) = try await read(configuration)
        print("| cache, etcd is down | \(text(cached)) s | | | |")
        let (timeout, _) = try await read(uncached)
        print("| no cache, etcd is down | \(text(timeout)) s, the default | | | |")
        holds = holds && cached < 1 && value == moment
        print(holds ? "restart: holds" : "restart: FAILS, a start from the cache must be quick and read no suite")
        return holds ? 0 : 1
    }

    /// Starts a store, waits until it has the newest flag and a connection, and releases it.
    private static func start(_ configuration: EtcdConfiguration, after moment: Int, _ node: EtcdNode) async throws
        -> Start
    {
        let (rangesBefore, bytesBefore) = (try await node.handled("Range"), try await node.bytesSent)
        let monitor = EtcdMonitor()
        let begin = ContinuousClock.now
        let store = try PreferenceStore.etcd("torture", configuration, monitor: monitor)
        try await store.load()
        _ = store["flag"]
        var result = Start(firstRead: begin.duration(to: .now) / .seconds(1))
        while store["flag"] != .integer(Int64(moment)) || !monitor.status.isConnected {
            guard ContinuousClock.now < begin + patience else { throw EtcdObstacle("the store isn't up to date") }
            try await Task.sleep(for: .milliseconds(1))
        }
        result.upToDate = begin.duration(to: .now) / .seconds(1)
        // The comparison of the history, and the gateway's counters, come a little later.
        try await Task.sleep(for: .milliseconds(500))
        result.ranges = try await node.handled("Range") - rangesBefore
        result.bytes = try await node.bytesSent - bytesBefore
        return result
    }

    /// Returns the time until the first read of a store without a connection, and the flag.
    private static func read(_ configuration: EtcdConfiguration) async throws -> (Double, Int) {
        let begin = ContinuousClock.now
        let store = try PreferenceStore.etcd("torture", configuration)
        store.issueHandler = { _ in }
        do throws(PreferenceError) { try await store.load() } catch {}
        let flag = Preference("flag", default: -1, in: store).value
        return (begin.duration(to: .now) / .seconds(1), flag)
    }

    private static func show(_ name: String, _ start: Start) {
        let bytes = Int(start.bytes).formatted(.number.grouping(.never))
        print("| \(name) | \(text(start.firstRead)) s | \(text(start.upToDate)) s | \(Int(start.ranges)) | \(bytes) |")
    }

    private static func text(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(3)).grouping(.never))
    }
}

extension EtcdNode {
    /// The bytes that the server has sent to its gateway, before that makes JSON of them.
    var bytesSent: Double {
        get async throws {
            let response = try await HTTPClient.shared.execute(
                request: HTTPClient.Request(url: clientURL + "/metrics")
            ).get()
            let line = String(buffer: response.body ?? ByteBuffer()).split(separator: "\n").first {
                $0.hasPrefix("etcd_network_client_grpc_sent_bytes_total ")
            }
            return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
    }
}
#endif
