#if Etcd
import EtcdTestSupport
@testable import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests with members that end, hang or are missing.
@Suite(needsEtcd)
struct FailoverTests {
    private let suite = freshSuite()

    @Test
    func deadFirstEndpointIsSkipped() async throws {
        let dead = "http://127.0.0.1:\(try EtcdCluster.ports(1)[0])"
        let monitor = EtcdMonitor()
        let node = try SharedNode.get().endpoints[0]
        var configuration = EtcdConfiguration.testing([dead, node])
        // This number keeps the order of the list.
        configuration.random = { 0 }
        let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
        store["a"] = 1
        same(store.contents, ["a": 1])
        try await eventually("the watch is elsewhere") { monitor.status.endpoint == node }
    }

    @Test
    func restartedNodeIsFoundAgainWithoutMissedOrRepeatedChanges() async throws {
        let cluster = try EtcdCluster.start()
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        // If events are late, two probes would cause a read of the suite, which merges several steps into one change.
        configuration.probeInterval = .seconds(10)
        let store = try PreferenceStore.etcd(suite, configuration)
        let counter = Preference("counter", default: 0, in: store)
        let seen = Lock<[Int]>([])
        let observation = counter.observe { change in seen.withLock { $0.append(change.new) } }
        var expected: [Int] = []
        for round in 1...3 {
            for step in 1...5 {
                expected.append(round * 10 + step)
                try cluster.control("put", "tests/\(suite)/counter", "\(round * 10 + step)")
            }
            cluster.nodes[0].kill()
            try cluster.nodes[0].start()
            try #require(try cluster.waitUntilHealthy())
        }
        try await eventually("what it saw is \(seen.withLock { $0 })") { seen.withLock { $0 } == expected }
        observation.cancel()
    }

    @Test
    func lostQuorumStopsWritesAndNotReadsUntilItIsBack() async throws {
        let cluster = try EtcdCluster.start(3)
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        let monitor = EtcdMonitor()
        configuration.timeout = .seconds(10)
        configuration.attemptTimeout = .seconds(2)
        let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
        let value = Preference("value", default: 0, in: store)
        func isStored(_ number: Int) -> Bool {
            do throws(PreferenceError) { try value.write(number) } catch { return false }
            return true
        }
        try await eventually("no write is stored") { isStored(1) }
        for node in cluster.nodes.dropFirst() { node.kill() }
        let error = #expect(throws: PreferenceError.self) { try value.write(2) }
        #expect([.outcomeUnknown, .unavailable].contains(error?.code))
        same(value.value, 1)
        try await eventually("the state does not show it") {
            !monitor.status.isConnected && monitor.status.error != nil
        }
        for node in cluster.nodes.dropFirst() { try node.start() }
        try await eventually("it was not noticed that the cluster is back") { monitor.status.isConnected }
        try await eventually("no write is stored any more") { isStored(3) }
        same(value.value, 3)
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/value"), "3\n")
    }

    @Test
    func stoppedMemberIsLeftByTheWatchAndByWrites() async throws {
        let cluster = try EtcdCluster.start(3)
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.attemptTimeout = .seconds(1)
        let monitor = EtcdMonitor()
        let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
        store["a"] = 1
        try await eventually("the watch is nowhere") { monitor.status.endpoint != nil }
        let member = try #require(cluster.nodes.first { $0.clientURL == monitor.status.endpoint })
        member.pause()
        defer { member.resume() }
        let others = cluster.endpoints.filter { $0 != member.clientURL }
        let other = try PreferenceStore.etcd(suite, .testing(others))
        try await eventually("no other process can write") {
            do { try other.transaction { $0["b"] = 2 } } catch is PreferenceError { return false }
            return true
        }
        try await eventually("the watch still waits for a member that is stopped") { store["b"] == 2 }
        #expect(monitor.status.endpoint != member.clientURL)
        try await store.transaction { $0["c"] = 3 }
        same(store.contents, ["a": 1, "b": 2, "c": 3])
    }

    @Test
    func watchesSpreadAgainAfterAMemberWasAway() async throws {
        let cluster = try EtcdCluster.start(3)
        var configuration = EtcdConfiguration.testing(cluster.endpoints)
        configuration.rebalanceInterval = .milliseconds(300)
        // If events are late, two probes would cause a read of the suite, which merges several steps into one change.
        configuration.probeInterval = .seconds(10)
        let monitors = (0..<12).map { _ in EtcdMonitor() }
        let seen = Lock<[[Int]]>(Array(repeating: [], count: monitors.count))
        var observations: [PreferenceObservation] = []
        for (index, monitor) in monitors.enumerated() {
            let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
            let counter = Preference("counter", default: 0, in: store)
            observations.append(counter.observe { change in seen.withLock { $0[index].append(change.new) } })
        }
        func watchers(of node: EtcdNode) -> Int { monitors.count { $0.status.endpoint == node.clientURL } }
        let away = cluster.nodes[0]
        away.kill()
        try await eventually("a watch is still at the member that ended, or nowhere") {
            monitors.allSatisfy { $0.status.isConnected && $0.status.endpoint != away.clientURL }
        }
        let tasks = monitors.map { monitor in Task { await monitor.statuses.first { !$0.isConnected } } }
        try away.start()
        let writer = try PreferenceStore.etcd(suite, .testing(cluster.endpoints))
        var count = 0
        try await eventually("no watch came back to the member") {
            // Watches move while these changes are delivered.
            for _ in 0..<5 {
                count += 1
                try writer.transaction { $0["counter"] = .integer(Int64(count)) }
            }
            return watchers(of: away) >= 2
        }
        let expected = Array(1...count)
        try await eventually("of \(count) it saw \(seen.withLock { $0 })") {
            seen.withLock { $0.allSatisfy { $0 == expected } }
        }
        for task in tasks {
            task.cancel()
            #expect(await task.value == nil, "a watch that moved was disconnected")
        }
        for observation in observations { observation.cancel() }
    }

    @Test
    func watchStaysIfTheOtherMemberIsUnavailable() async throws {
        let node = try SharedNode.get().endpoints[0]
        let dead = "http://127.0.0.1:\(try EtcdCluster.ports(1)[0])"
        var configuration = EtcdConfiguration.testing([node, dead])
        configuration.rebalanceInterval = .milliseconds(20)
        let chosen = Lock(0)
        // The first number keeps the order of the list, and the later ones choose the second endpoint.
        configuration.random = {
            chosen.withLock {
                $0 += 1; return $0 <= 1 ? 0 : 0.9
            }
        }
        let monitor = EtcdMonitor()
        let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
        let reports = Reports(of: store)
        try await store.transaction { $0["a"] = 1 }
        try await eventually("the watch is nowhere") { monitor.status.endpoint == node }
        let task = Task { await monitor.statuses.first { $0.endpoint != node } }
        let before = chosen.withLock { $0 }
        try await eventually("it was never tried") { chosen.withLock { $0 } > before + 50 }
        same(monitor.status.endpoint, node)
        try SharedNode.get().control("put", "tests/\(suite)/a", "2")
        try await eventually("the watch delivers nothing") { store["a"] == 2 }
        #expect(reports.codes.isEmpty)
        task.cancel()
        #expect(await task.value == nil, "it was disconnected")
    }

    @Test
    func suiteIsReadAgainAfterACompactionWhileDisconnected() async throws {
        let cluster = try EtcdCluster.start()
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, .testing(cluster.endpoints), over: transport)
        try await store.transaction { transaction in
            transaction["kept"] = 1
            transaction["changed"] = 1
            transaction["removed"] = 1
        }
        let changed = Preference("changed", default: 0, in: store)
        let seen = Lock<[Int]>([])
        let observation = changed.observe { change in seen.withLock { $0.append(change.new) } }
        transport.cut()
        for step in 2...20 { try cluster.control("put", "tests/\(suite)/changed", "\(step)") }
        try cluster.control("del", "tests/\(suite)/removed")
        try cluster.control("put", "tests/\(suite)/new", "1")
        try cluster.compact()
        same(store.contents, ["kept": 1, "changed": 1, "removed": 1])
        transport.mend()
        let expected: [String: PropertyListValue] = ["kept": 1, "changed": 20, "new": 1]
        try await eventually("it shows \(store.contents)") { store.contents == expected }
        // Of the compacted changes, only the result is delivered.
        try await eventually("it saw \(seen.withLock { $0 })") { seen.withLock { $0 } == [20] }
        observation.cancel()
    }
}
#endif
