#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesEtcd

/// An experiment in which four processes count by `update` on three nodes, while the leader is killed five times and a follower is stopped.
enum Increments {
    private static let workers = 4
    private static let kills = 5

    static func run(_ wanted: Int) async throws -> Int32 {
        let count = max(1, wanted / workers) * workers
        let cluster = try EtcdCluster.start(3)
        let store = try PreferenceStore.etcd("torture", EtcdConfiguration(endpoints: cluster.endpoints))
        let counter = Preference("counter", default: 0, in: store)
        try await counter.write(0)

        let watcher = try WorkerProcess("watch", "0", cluster.endpoints)
        guard watcher.words() == ["ready", "0"] else { throw EtcdObstacle("the watcher did not start") }
        watcher.send("\(count)")
        let start = ContinuousClock.now
        let children = try (0..<workers).map { _ in
            try WorkerProcess("increment", "\(count / workers)", cluster.endpoints)
        }

        var stillest = Duration.zero
        for kill in 1...kills {
            try await wait(for: counter, past: count * kill / (kills + 2), children)
            guard let leader = try await leader(of: cluster) else { throw EtcdObstacle("there is no leader to kill") }
            let before = counter.value
            let moment = ContinuousClock.now
            leader.kill()
            try await wait(for: counter, past: before + workers, children)
            stillest = max(stillest, .now - moment)
            try leader.start()
            print(
                "leader \(leader.name) killed at \(before), on again \((ContinuousClock.now - moment) / .seconds(1)) s later"
            )
        }
        try await wait(for: counter, past: count * (kills + 1) / (kills + 2), children)
        let leader = try await leader(of: cluster)
        guard let follower = cluster.nodes.first(where: { $0 !== leader }) else { throw EtcdObstacle("no follower") }
        follower.pause()
        let paused = counter.value
        try await wait(for: counter, past: min(paused + workers, count - 1), children)
        try await Task.sleep(for: .seconds(3))
        follower.resume()
        print("follower \(follower.name) stopped at \(paused)")

        let reruns = children.map { $0.words() }
        let time = (ContinuousClock.now - start) / .seconds(1)
        let stored = try cluster.control("get", "--print-value-only", "preferences/torture/counter")
        let seen = watcher.words()
        print(
            "\(workers) processes, \(count) increments, \(Int(time)) s, longest pause after a kill \(stillest / .seconds(1)) s"
        )
        print("stored: \(stored.trimmingCharacters(in: .newlines)); updates begun again after 64 conflicts: \(reruns)")
        print(
            "the watcher saw, of them not one more, not more, last, reads in the end: \(seen.dropFirst().joined(separator: ", "))"
        )
        let isRight =
            stored == "\(count)\n" && seen == ["saw", "\(count)", "0", "0", "\(count)", "\(count)"]
            && reruns.allSatisfy { $0.first == "done" }
        print(isRight ? "increments: holds" : "increments: FAILS")
        return isRight ? 0 : 1
    }

    private static func wait(for counter: Preference<Int>, past value: Int, _ children: [WorkerProcess]) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while counter.value < value {
            guard ContinuousClock.now < end else {
                throw EtcdObstacle("nothing has moved for minutes at \(counter.value)")
            }
            guard children.allSatisfy(\.isRunning) else { throw EtcdObstacle("a worker has ended") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private static func leader(of cluster: EtcdCluster) async throws -> EtcdNode? {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            if let leader = cluster.leader { return leader }
            try await Task.sleep(for: .milliseconds(100))
        }
        return nil
    }
}
#endif
