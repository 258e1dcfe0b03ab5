#if canImport(Glibc)
import DurableFile
import Preferences

/// Every state that a loss of power may leave at every moment of some short lives of a file.
///
/// Everything happens on one thread in an order that the life says, so each run is the same.
enum Crash {
    private static let path = "/home/user/config/preferences.jsonl"

    /// A step of one of two processes.
    private enum Step {
        case set(Int, String)
        /// Two names in one line.
        case pair(Int)
        case flush(Int)
        case compact(Int)
        /// A shell is ended in the middle of a line.
        case fragment
        /// The store is released.
        case release(Int)
        /// Time passes, and each process does all that it does in the background.
        case rest
    }

    /// An event that a life doesn't know of.
    private struct Disturbance: CustomStringConvertible {
        /// The number of the sync that fails.
        var failingSync: Int?
        /// The number of the call before which a third process sets a name of its own, unless the file is locked.
        var foreignSet: Int?

        var description: String {
            let parts = [failingSync.map { "sync \($0) fails" }, foreignSet.map { "foreign set before call \($0)" }]
            return parts.compactMap(\.self).joined(separator: ", ")
        }
    }

    private static let lives: [[Step]] = [
        [.set(0, "a"), .flush(0), .pair(0), .set(0, "a"), .flush(0), .pair(0)],
        [.pair(1), .set(1, "a"), .set(0, "b"), .flush(0)],
        [.set(0, "a"), .compact(0), .set(0, "b"), .flush(0)],
        [.set(0, "a"), .compact(0), .release(0), .set(1, "b"), .flush(1)],
        [.set(0, "a"), .flush(0), .fragment, .set(0, "a"), .flush(0), .compact(0), .pair(0), .flush(0)],
        [.pair(0), .set(0, "a"), .set(0, "a"), .flush(0), .pair(0), .compact(0), .set(0, "b"), .flush(0)],
        [.pair(0), .set(1, "a"), .flush(1), .compact(0), .pair(1), .flush(1), .compact(1), .set(0, "b"), .flush(0)],
    ]

    /// The chosen lives with every disturbance and with a rest after each step, or a twentieth of these runs if `count` is below
    /// 100; and `count` random lives.
    static func run(_ count: Int, _ report: inout Report) async throws {
        var total = Total()
        var generator = Generator(state: 1)
        var number = 0
        for life in lives {
            for rest in (0...life.count).reversed() {
                // The number of steps stands for no rest.
                let steps = rest == life.count ? life : Array(life[...rest]) + [.rest] + life[(rest + 1)...]
                let undisturbed = try play(steps, Disturbance())
                var disturbances = [Disturbance()] + (0..<undisturbed.syncs).map { Disturbance(failingSync: $0) }
                if rest == life.count { disturbances += (0..<undisturbed.calls).map { Disturbance(foreignSet: $0) } }
                for (index, disturbance) in disturbances.enumerated() where report.failures.isEmpty {
                    let isPlain = rest == life.count && index == 0
                    if count >= 100 || isPlain || number.isMultiple(of: 20) {
                        try check(try play(steps, disturbance), steps, disturbance, &total, &report)
                    }
                    number += 1
                }
            }
        }
        for _ in 0..<count where report.failures.isEmpty {
            let steps = randomLife(&generator)
            let (syncs, calls) = (Int.random(in: 0..<40, using: &generator), Int.random(in: 0..<200, using: &generator))
            let disturbance = Disturbance(failingSync: syncs < 20 ? syncs : nil, foreignSet: calls)
            try check(try play(steps, disturbance), steps, disturbance, &total, &report)
        }
        report.note(
            "\(total.runs) runs of \(lives.count) chosen lives of a file, each sync failing in turn, a rest after each step and "
                + "another process's set before each call that finds it unlocked, and of \(count) random ones; "
                + "\(total.foreignSets) such sets, \(total.operations) changing calls"
        )
        report.expect(total.foreignSets > 0 || count < 10, "no other process set anything")
        report.note(
            "\(total.checker.states) states after a loss of power at \(total.checker.moments) moments, "
                + "\(total.checker.distinct) of them distinct: what was flushed is there in all, what wasn't is old or new, and "
                + "the next set works"
        )
    }

    private struct Total {
        var checker = Checker(path: path)
        var (runs, foreignSets, operations) = (0, 0, 0)
    }

    private static func check(
        _ run: Run,
        _ steps: [Step],
        _ disturbance: Disturbance,
        _ total: inout Total,
        _ report: inout Report
    ) throws {
        do {
            try total.checker.check(run.operations)
        } catch {
            report.expect(
                false,
                "\(error); in the life \(steps.map { "\($0)" }.joined(separator: ", ")); \(disturbance)"
            )
        }
        total.runs += 1
        total.foreignSets += run.hasForeignSet ? 1 : 0
        total.operations += run.operations.count
    }

    private struct Run {
        let operations: [Operation]
        let syncs: Int
        let calls: Int
        let hasForeignSet: Bool
    }

    /// Does the steps on a new file system and returns what happened to it.
    private static func play(_ steps: [Step], _ disturbance: Disturbance) throws -> Run {
        let life = Life(disturbance)
        for step in steps { try life.perform(step) }
        if let failure = life.failure { throw Obstacle("the foreign set failed: \(failure)") }
        let fileSystem = life.fileSystem
        return Run(
            operations: fileSystem.operations,
            syncs: fileSystem.syncs,
            calls: fileSystem.calls,
            hasForeignSet: life.hasForeignSet
        )
    }

    /// The processes that use one file; all are used from one thread.
    private final class Life: @unchecked Sendable {
        let fileSystem: ModelFileSystem
        private let disturbance: Disturbance
        private let workers: [WorkerThread]
        private var backends: [FileBackend?] = [nil, nil, nil]
        /// The number of sets that each process knows.
        private var known = [0, 0, 0]
        private var (issued, number) = (0, 0)
        private var fragments: [(text: String, issued: Int)] = []
        /// The error of the third process's set.
        private(set) var failure: String?
        var hasForeignSet: Bool { known[2] > 0 }

        init(_ disturbance: Disturbance) {
            let fileSystem = ModelFileSystem(.folder(["home": .folder([:])]), failingSync: disturbance.failingSync)
            self.fileSystem = fileSystem
            self.disturbance = disturbance
            workers = backends.map { _ in WorkerThread(name: "life", fileSystem: fileSystem, isManual: true) }
            guard let call = disturbance.foreignSet else { return }
            fileSystem.before(call: call) { [weak self] in
                // A process that finds the file locked waits for a later call, which is another run.
                guard let self, !fileSystem.isLocked else { return }
                do { try set(2, ["foreign"]) } catch { failure = "\(error)" }
            }
        }

        func perform(_ step: Step) throws {
            switch step {
            case .set(let process, let name): try set(process, [name])
            case .pair(let process): try set(process, ["left", "right"])
            case .flush(let process):
                try unlessSyncFails {
                    try backend(process).sync()
                    fileSystem.mark(.flushed(known[process]))
                    // A set that came after it has ended the line.
                    for fragment in fragments where fragment.issued < known[process] {
                        fileSystem.mark(.kept(fragment.text))
                    }
                }
            case .compact(let process): try unlessSyncFails { try backend(process).compact() }
            case .fragment:
                number += 1
                let fragment = "{\"cut\":\"\(number)"
                do { try fileSystem.append(fragment, to: path) } catch { return }
                fragments.append((fragment, issued))
            case .release(let process): backends[process] = nil
            case .rest: for worker in workers { while worker.runNextJob() {} }
            }
        }

        private func set(_ process: Int, _ names: [String]) throws {
            number += 1
            let values = Dictionary(uniqueKeysWithValues: names.map { ($0, number) })
            fileSystem.mark(.issued(values))
            issued += 1
            try unlessSyncFails {
                _ = try backend(process).apply(values.mapValues { .integer(Int64($0)) }, if: .none)
                known[process] = issued
            }
        }

        private func unlessSyncFails(_ body: () throws -> Void) throws {
            do { try body() } catch {
                if disturbance.failingSync == nil { throw error }
            }
        }

        private func backend(_ process: Int) throws -> FileBackend {
            if let backend = backends[process] { return backend }
            let backend = FileBackend(path: path, fileSystem: fileSystem, watcher: nil, worker: workers[process])
            _ = try backend.load(host: PreferenceBackendHost(changed: {}, report: { _ in }))
            backends[process] = backend
            return backend
        }
    }

    private static func randomLife(_ generator: inout Generator) -> [Step] {
        (0..<Int.random(in: 4...10, using: &generator)).map { _ in
            let process = Int.random(in: 0...1, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<3: return .set(process, Bool.random(using: &generator) ? "a" : "b")
            case 3..<5: return .pair(process)
            case 5..<8: return .flush(process)
            case 8: return .compact(process)
            default: return [.fragment, .release(process), .rest].randomElement(using: &generator) ?? .rest
            }
        }
    }

    /// The same numbers in every run (SplitMix64).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
#endif
