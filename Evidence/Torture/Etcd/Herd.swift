#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesEtcd
import Synchronization

/// An experiment with many clients that load a suite from one node at the same time, with the default timeouts, while another one sets.
enum Herd {
    private static let patience = Duration.seconds(600)
    /// The whole reads of a client.
    private static let limit = 2.0

    static func run(_ count: Int, names: Int) async throws -> Int32 {
        let cluster = try EtcdCluster.start()
        let node = cluster.nodes[0]
        try Fleet.fill(names, cluster.endpoints)
        let bystander = try PreferenceStore.etcd("bystander", EtcdConfiguration(endpoints: cluster.endpoints))
        try await bystander.write(0, for: "value")
        let herd = try WorkerProcess("herd", "\(count)", cluster.endpoints)
        guard herd.line(within: .seconds(60)) == "ready" else { throw EtcdObstacle("the clients did not start") }
        // A read has a page for each 1,000 names, of which the first has the mark, too; after several, the mark is read again.
        let pages = (names + 1_000) / 1_000
        let requests = pages == 1 ? 1 : pages + 1
        let before = try await node.ranges
        let task = Task { () -> (longest: Duration, failed: Int) in
            var (longest, failed) = (Duration.zero, 0)
            while !Task.isCancelled {
                let start = ContinuousClock.now
                do { try await bystander.write(.integer(Int64.random(in: 0...Int64.max)), for: "value") } catch {
                    failed += 1
                }
                longest = max(longest, start.duration(to: .now))
                do { try await Task.sleep(for: .milliseconds(100)) } catch { break }
            }
            return (longest, failed)
        }
        herd.send("\(names)")
        let line = herd.line(within: patience)
        task.cancel()
        let words = (line ?? "").split(separator: " ").map(String.init)
        guard words.count == 3, let loaded = Int(words[0]) else { throw EtcdObstacle("the clients did not answer") }
        let reads = (try await node.ranges - before) / Double(count * requests)
        let share = reads.formatted(.number.precision(.fractionLength(2)))
        let sets = await task.value
        print(
            "\(loaded) of \(count) clients have loaded \(names) names after \(words[1]) s, the first after \(words[2]) s"
        )
        print("whole reads by each client: \(share), each of \(requests) requests")
        print("longest write of another store during the reads: \(sets.longest), failed: \(sets.failed)")
        let holds = loaded == count && reads <= limit
        print(holds ? "herd: holds" : "herd: FAILS, all must load, with at most \(limit) reads each")
        return holds ? 0 : 1
    }

    /// Loads the stores of all clients when the input says how many names to expect, and prints how many have them, and when.
    static func runClients(_ count: Int, _ configuration: EtcdConfiguration) throws {
        let stores = try (0..<count).map { _ in try PreferenceStore.etcd("torture", configuration) }
        // Loads that fail at their timeout are continued in the background.
        for store in stores { store.issueHandler = { _ in } }
        Worker.say("ready")
        guard let names = readLine().flatMap({ Int($0) }) else { return }
        let start = ContinuousClock.now
        let times = Mutex([Double]())
        for store in stores {
            Thread.detachNewThread {
                // A read before the store is open waits for the timeout.
                while store.names.count != names { Thread.sleep(forTimeInterval: 0.1) }
                times.withLock { $0.append(start.duration(to: .now) / .seconds(1)) }
            }
        }
        let end = start + patience - .seconds(10)
        while times.withLock({ $0.count }) < count, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
        let loaded = times.withLock { $0 }
        func text(_ time: Double?) -> String {
            time?.formatted(.number.precision(.fractionLength(1)).grouping(.never)) ?? "-"
        }
        Worker.say("\(loaded.count) \(text(loaded.max())) \(text(loaded.min()))")
    }
}

extension EtcdNode {
    /// The number of the reads that the server has answered, whether or not the client still waited.
    fileprivate var ranges: Double { get async throws { try await handled("Range") } }
}
#endif
