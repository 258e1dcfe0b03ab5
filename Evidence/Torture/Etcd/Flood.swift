#if Etcd && canImport(Glibc)
import AsyncHTTPClient
import EtcdTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import Preferences
import PreferencesEtcd
import Synchronization

/// An experiment with a suite that gets as many changes as the cluster takes, while a store of another suite writes.
///
/// The store with the changes is in the process of the writes, or in a process of its own, which loads the machine and the server alike.
/// So a ratio of the two shows what the stores of one process share.
enum Flood {
    private static let suite = "flood"
    private static let names = 100
    /// The puts that are under way at the same time.
    private static let parallelPuts = 16
    private static let patience = Duration.seconds(60)
    /// The highest ratio of the 99th percentiles; few writes decide it.
    private static let limit = 3.0

    private enum Place: CaseIterable { case none, otherProcess, sameProcess }

    private struct Measurement {
        var times: [Double] = []
        /// The changes that the flooded store has received.
        var changes = 0
        var seconds = 0.0

        func percentile(_ percent: Int) -> Double {
            let sorted = times.sorted()
            return sorted.isEmpty ? .infinity : sorted[sorted.count * percent / 100]
        }
    }

    /// Measures in rounds of a second for each place, in turn, so that other load on the machine affects all alike.
    static func run(_ rounds: Int) async throws -> Int32 {
        let cluster = try EtcdCluster.start()
        let configuration = EtcdConfiguration(endpoints: cluster.endpoints)
        let bystander = try PreferenceStore.etcd("bystander", configuration)
        try await bystander.write(0, for: "value")
        let source = try WorkerProcess("flood", "\(parallelPuts)", cluster.endpoints)
        guard source.line(within: patience) == "ready" else { throw EtcdObstacle("the flood did not start") }
        var measurements: [Place: Measurement] = [:]
        for round in 0...rounds {
            for place in Place.allCases {
                let measurement = try await measure(bystander, place, source, configuration)
                // The first round warms up connections and caches.
                guard round > 0 else { continue }
                measurements[place, default: Measurement()].times += measurement.times
                measurements[place, default: Measurement()].changes += measurement.changes
                measurements[place, default: Measurement()].seconds += measurement.seconds
            }
        }
        print("| another suite's changes | received a second | writes | median | 99th percentile |")
        print("|---|---|---|---|---|")
        for (place, text) in [
            (Place.none, "none"), (.otherProcess, "in another process"), (.sameProcess, "in the process"),
        ] {
            let result = measurements[place] ?? Measurement()
            let rate = Int(Double(result.changes) / max(result.seconds, 1))
            print(
                "| \(text) | \(rate) | \(result.times.count) | \(milliseconds(result.percentile(50)))"
                    + " | \(milliseconds(result.percentile(99))) |"
            )
        }
        func ratio(to place: Place) -> Double {
            (measurements[.sameProcess]?.percentile(99) ?? .infinity) / (measurements[place]?.percentile(99) ?? 0)
        }
        print("99th percentile in the process: \(text(ratio(to: .none))) times that without changes, ", terminator: "")
        print("\(text(ratio(to: .otherProcess))) times that with the changes in another process")
        let holds = ratio(to: .otherProcess) <= limit
        print(holds ? "flood: holds" : "flood: FAILS, up to \(limit) times that with another process hold")
        return holds ? 0 : 1
    }

    /// Returns the times of writes within a second, in milliseconds.
    private static func measure(
        _ bystander: PreferenceStore,
        _ place: Place,
        _ source: WorkerProcess,
        _ configuration: EtcdConfiguration
    ) async throws -> Measurement {
        var measurement = Measurement()
        let follower: Follower? = place == .sameProcess ? try await Follower(configuration) : nil
        let process: WorkerProcess? =
            place == .otherProcess ? try WorkerProcess("follow", "-", configuration.endpoints) : nil
        if let process, process.line(within: patience) != "ready" { throw EtcdObstacle("the other store did not load") }
        if place != .none {
            source.send("start")
            // The changes have begun when the first are seen.
            try await Task.sleep(for: .milliseconds(200))
        }
        let start = ContinuousClock.now
        let before = try follower?.changes ?? process.map(changes(of:)) ?? 0
        let value = Preference("value", default: 0, in: bystander)
        var number = 0
        while ContinuousClock.now < start + .seconds(1) {
            number += 1
            let begin = ContinuousClock.now
            try await value.write(number)
            measurement.times.append(begin.duration(to: .now) / .milliseconds(1))
        }
        measurement.seconds = start.duration(to: .now) / .seconds(1)
        measurement.changes = try (follower?.changes ?? process.map(changes(of:)) ?? 0) - before
        if place != .none {
            source.send("stop")
            guard source.line(within: patience) == "stopped" else { throw EtcdObstacle("the flood did not end") }
        }
        process?.end()
        return measurement
    }

    // MARK: The flooded store

    private static func changes(of process: WorkerProcess) throws -> Int {
        process.send("count")
        guard let count = process.line(within: patience).flatMap({ Int($0) }) else {
            throw EtcdObstacle("the other store did not answer")
        }
        return count
    }

    /// A store that receives the changes, with an observer of one name.
    private struct Follower {
        private let value: Preference<Int>
        private let observation: PreferenceObservation

        init(_ configuration: EtcdConfiguration) async throws {
            let store = try PreferenceStore.etcd(Flood.suite, configuration)
            try await store.load()
            value = Preference("name.0", default: 0, in: store)
            observation = value.observe { _ in }
        }

        /// The number of the last known change.
        var changes: Int { value.value }
    }

    /// Opens the flooded store in a process of its own, and prints the number of its changes when the input asks.
    static func follow(_ configuration: EtcdConfiguration) async throws {
        let follower = try await Follower(configuration)
        Worker.say("ready")
        while readLine() != nil { Worker.say("\(follower.changes)") }
    }

    // MARK: The changes

    /// Puts values into the flooded suite over as many connections, between the lines `start` and `stop` of the input.
    static func put(_ parallel: Int, _ endpoints: [String]) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = parallel
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let numbers = Numbers()
        Worker.say("ready")
        while readLine() == "start" {
            numbers.isStopped.store(false, ordering: .relaxed)
            let puts = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<parallel {
                        group.addTask {
                            while !numbers.isStopped.load(ordering: .relaxed) {
                                let number = numbers.last.wrappingAdd(1, ordering: .relaxed).newValue
                                try await put(number, over: client, to: endpoints[0])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            _ = readLine()
            numbers.isStopped.store(true, ordering: .relaxed)
            try await puts.value
            Worker.say("stopped")
        }
        try await client.shutdown()
    }

    private final class Numbers: Sendable {
        let last = Atomic(0)
        let isStopped = Atomic(false)
    }

    private static func put(_ number: Int, over client: HTTPClient, to endpoint: String) async throws {
        let key = Data("preferences/\(suite)/name.\(number % names)".utf8).base64EncodedString()
        let value = Data("\(number)".utf8).base64EncodedString()
        let request = try HTTPClient.Request(
            url: endpoint + "/v3/kv/put",
            method: .POST,
            body: .string(#"{"key":"\#(key)","value":"\#(value)"}"#)
        )
        let response = try await client.execute(request: request).get()
        guard response.status == .ok else { throw EtcdObstacle("a put failed: \(response.status)") }
    }

    private static func text(_ number: Double) -> String {
        number.formatted(.number.precision(.fractionLength(2)).grouping(.never))
    }

    private static func milliseconds(_ number: Double) -> String { "\(text(number)) ms" }
}
#endif
