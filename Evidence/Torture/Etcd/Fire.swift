#if Etcd && canImport(Glibc)
import EtcdTestSupport
import Foundation

/// An experiment in which four processes update a counter and set and remove names of their own and a fifth observes,
/// while the three members have all faults, on a schedule from a seed.
///
/// The values stored in the end are read by `etcdctl` and compared with each process's record of its writes.
enum Fire {
    private static let workers = 4
    /// The number of updates of all workers in one round of all faults.
    private static let updatesPerRound = 1_000
    /// The approximate time of a round in seconds, over which the updates are spread.
    private static let roundTime = 45.0
    /// The time without progress after which a process counts as hanging.
    private static let patience = Duration.seconds(90)

    private struct Outcome {
        var reports: [FireWorker.Report] = []
        var observer: [String] = []
        var stored: [String: String] = [:]
        var failures: [String] = []
    }

    /// Runs the experiment and returns the exit code: 0 if it passes.
    ///
    /// - Parameters:
    ///   - wanted: The number of updates, which is rounded down to a multiple of the number of workers.
    ///   - seed: The seed of an earlier run, for the same schedule; `nil` chooses one.
    static func run(_ wanted: Int, seed: UInt64?) async throws -> Int32 {
        let seed = seed ?? UInt64.random(in: 1...999_999)
        let share = max(1, wanted / workers)
        let count = share * workers
        say("\(EtcdProgram.server.version ?? "etcd"), \(count) updates by \(workers) processes, seed \(seed)")
        let cluster = try FaultyCluster()
        let start = ContinuousClock.now
        let rounds = (count + updatesPerRound - 1) / updatesPerRound
        let interval = Int(Double(rounds) * roundTime / Double(share) * 1e6)

        let observer = try WorkerProcess("watch", "0", cluster.endpoints, user: FaultyCluster.user)
        guard observer.line(within: patience) == "ready 0" else { throw EtcdObstacle("the observer did not start") }
        observer.send("\(count)")
        var children: [WorkerProcess] = []
        // The first two have such short timeouts that they get unknown outcomes.
        for index in 0..<workers {
            let orders = FireWorker.Orders(
                index: index,
                count: share,
                interval: interval,
                seed: seed &+ UInt64(index),
                timeout: index < 2 ? 1_500 : 8_000,
                attemptTimeout: index < 2 ? 400 : 1_000
            )
            let parameter = String(decoding: try JSONEncoder().encode(orders), as: UTF8.self)
            children.append(try WorkerProcess("fire", parameter, cluster.endpoints, user: FaultyCluster.user))
        }
        defer { for child in children + [observer] { child.end() } }

        var random = SeededRandom(seed)
        for _ in 0..<rounds {
            for fault in FaultyCluster.Fault.allCases.shuffled(using: &random) {
                let moment = ContinuousClock.now
                try await cluster.suffer(fault, &random)
                say("\(seconds(moment - start)) s: \(fault.rawValue), for \(seconds(.now - moment)) s")
                try await Task.sleep(for: .milliseconds(300 + Int(random.next(below: 500))))
            }
        }

        var outcome = Outcome()
        for (index, child) in children.enumerated() {
            do throws(Silence) { outcome.reports.append(try report(of: child)) } catch {
                outcome.failures.append("process \(index) \(error.description)")
                outcome.reports.append(FireWorker.Report())
            }
        }
        outcome.observer = (observer.line(within: patience) ?? "").split(separator: " ").map(String.init)
        outcome.stored = try cluster.contents()
        judge(&outcome, count: count)
        show(outcome)
        say("\(cluster.expiredTokens) tokens expired; \(seconds(.now - start)) s")
        for failure in outcome.failures.prefix(40) { say("FAILURE: \(failure)") }
        say(outcome.failures.isEmpty ? "fire: holds" : "fire: FAILS (seed \(seed))")
        return outcome.failures.isEmpty ? 0 : 1
    }

    private enum Silence: Error {
        case ended, hangs(String)

        var description: String {
            switch self {
            case .ended: "has ended without a report"
            case .hangs(let last): "hangs, its last line was \"\(last)\""
            }
        }
    }

    /// Waits for the report of a process while it makes progress.
    private static func report(of child: WorkerProcess) throws(Silence) -> FireWorker.Report {
        var (last, since) = ("", ContinuousClock.now)
        while true {
            guard let line = child.line(within: patience) else {
                throw child.isRunning ? .hangs(last) : .ended
            }
            if let text = line.split(separator: " ", maxSplits: 1).last, line.hasPrefix("report ") {
                do {
                    return try JSONDecoder().decode(FireWorker.Report.self, from: Data(text.utf8))
                } catch {
                    throw .ended
                }
            }
            if line != last { (last, since) = (line, .now) }
            guard since + patience > .now else { throw .hangs(last) }
        }
    }

    // MARK: Checks

    private static func judge(_ outcome: inout Outcome, count: Int) {
        let stored = outcome.stored
        var failures = outcome.failures
        // Those that were acknowledged, and those in doubt that were stored.
        let updates = outcome.reports.reduce(0) { $0 + $1.stored }
        if stored["counter"] != "\(updates)" {
            failures.append("counter is \(stored["counter"] ?? "absent"), not \(updates)")
        }
        if updates != count { failures.append("\(updates) updates are counted, not \(count)") }
        for (index, report) in outcome.reports.enumerated() {
            failures += report.denied.map { "process \(index), stored though it threw: \($0)" }
            failures += report.lost.map { "process \(index), lost: \($0)" }
            for (name, fate) in report.names.sorted(by: { $0.key < $1.key }) {
                let value = stored[name].map { Int($0) ?? -2 } ?? -1
                if value == fate.acknowledged || fate.doubtful.contains(value) { continue }
                let kind = fate.refused.contains(value) ? "stored though it threw" : "lost"
                failures.append("process \(index), \(kind): \(name) is \(value), not \(fate.acknowledged)")
            }
        }
        let seen = outcome.observer
        if seen.count != 6 || seen[3] != "0" || seen[4] != "\(count)" || seen[5] != "\(count)" {
            failures.append("the observer: \(seen.isEmpty ? "hangs" : seen.joined(separator: " "))")
        }
        outcome.failures = failures
    }

    // MARK: Figures

    private static func show(_ outcome: Outcome) {
        let reports = outcome.reports
        func sum(_ value: (FireWorker.Report) -> Int) -> Int { reports.reduce(0) { $0 + value($1) } }
        say("counter: \(outcome.stored["counter"] ?? "absent")")
        say(
            "updates: \(sum(\.acknowledged)) acknowledged, \(sum(\.doubtfulStored)) of unknown outcome and stored, "
                + "\(sum(\.doubtfulNotStored)) of unknown outcome and not stored"
        )
        say(
            "names of their own: \(sum(\.sets)) sets and \(sum(\.removals)) removals acknowledged, \(sum(\.setsDoubtfulStored)) of "
                + "unknown outcome and stored, \(sum(\.setsDoubtfulNotStored)) not stored"
        )
        let all = reports.reduce(into: (lost: 0, denied: 0)) {
            $0 = ($0.lost + $1.lost.count, $0.denied + $1.denied.count)
        }
        say(
            "acknowledged and lost: \(all.lost); stored though another error than outcomeUnknown was thrown: \(all.denied)"
        )
        for (title, errors) in [("thrown", reports.map(\.thrown)), ("reported", reports.map(\.reported))] {
            let merged = errors.reduce(into: [String: FireWorker.Failed]()) { all, some in
                all.merge(some) { FireWorker.Failed(count: $0.count + $1.count, message: $0.message) }
            }
            say("\(title):" + (merged.isEmpty ? " nothing" : ""))
            for (code, failed) in merged.sorted(by: { $0.key < $1.key }) {
                say("  \(failed.count) × \(code), such as: \(failed.message)")
            }
        }
        let observer = outcome.observer
        if observer.count == 6 {
            say(
                "observer: \(observer[1]) changes, \(observer[3]) not growing, last \(observer[4]), reads \(observer[5])"
            )
        }
        say("longest call: \(reports.map(\.longestCall).max() ?? 0) s")
    }

    /// Prints a line without buffering, also into a file.
    private static func say(_ line: String) { Worker.say(line) }

    private static func seconds(_ duration: Duration) -> String {
        (duration / .seconds(1)).formatted(.number.precision(.fractionLength(1)).grouping(.never))
    }
}
#endif
