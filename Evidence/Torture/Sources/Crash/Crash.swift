#if canImport(Glibc)
import Preferences

/// Every state that a loss of power might leave at every moment of some short lives of a file.
///
/// Everything happens on one thread, in an order that the life defines, so each run is the same.
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
        /// A slow shell opens the file, and writes half of a line if `isWriting`.
        case begin(isWriting: Bool)
        /// The slow shell writes the rest of its line to the file that it opened, which might have been replaced.
        case end
        /// The store is released.
        case release(Int)
        /// Time passes, and each process does all its work in the background.
        case rest
    }

    /// An event in addition to a life's steps.
    private struct Disturbance: CustomStringConvertible {
        /// The number of the sync that fails.
        var failingSync: Int?
        /// The number of the call before which a third process sets another name, unless the file is locked.
        var externalSet: Int?
        /// The number of the call before which a shell is ended in the middle of a line; no lock prevents it from
        /// writing.
        var fragment: Int?
        /// Whether the file is mounted by itself, so that it is rewritten in place.
        var isMounted = false

        var description: String {
            let parts = [
                failingSync.map { "sync \($0) fails" }, externalSet.map { "external set before call \($0)" },
                fragment.map { "fragment before call \($0)" }, isMounted ? "mounted" : nil,
            ]
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

    /// The lives in which a shell begins or ends a line around a compaction, also if the store is released right after
    /// it.
    private static let slowLives: [[Step]] = [
        [.set(0, "a"), .begin(isWriting: true), .compact(0), .release(0), .end, .rest, .set(1, "b"), .flush(1)],
        [.set(0, "a"), .begin(isWriting: false), .compact(0), .release(0), .end, .rest, .set(1, "b"), .flush(1)],
        [
            .set(0, "a"), .set(0, "b"), .begin(isWriting: true), .compact(0), .end, .set(0, "b"), .rest, .pair(0),
            .flush(0),
        ],
    ]

    /// The lives of a file that is mounted by itself, with enough sets that a compaction makes it shorter.
    private static let mountedLives: [[Step]] = [
        Array(repeating: .set(0, "a"), count: 9) + [.flush(0), .compact(0), .set(0, "b"), .flush(0)],
        Array(repeating: .pair(0), count: 4) + [.set(1, "b"), .compact(0), .set(1, "a"), .flush(1)],
        Array(repeating: .pair(0), count: 4) + [
            .flush(0), .fragment, .set(0, "a"), .compact(0), .pair(0), .compact(0), .flush(0),
        ],
    ]

    /// Runs the chosen lives with every disturbance and with a rest after each step, or a fiftieth of these runs if
    /// `count` is below 100; and `count` random lives. A fragment before each call of a compaction is also combined
    /// with the failure of each sync.
    static func run(_ count: Int, _ report: inout Report) async throws {
        var total = Total()
        var generator = Generator(state: 1)
        var number = 0
        for life in lives + slowLives {
            for rest in (0...life.count).reversed() {
                // The number of steps stands for no rest.
                let steps = rest == life.count ? life : Array(life[...rest]) + [.rest] + life[(rest + 1)...]
                let undisturbed = try play(steps, Disturbance())
                var disturbances = [Disturbance()] + (0..<undisturbed.syncs).map { Disturbance(failingSync: $0) }
                if rest == life.count {
                    disturbances += (0..<undisturbed.calls).map { Disturbance(externalSet: $0) }
                    disturbances += (0..<undisturbed.calls).map { Disturbance(fragment: $0) }
                    for sync in 0..<undisturbed.syncs {
                        disturbances += undisturbed.compactions.map { Disturbance(failingSync: sync, fragment: $0) }
                    }
                }
                for (index, disturbance) in disturbances.enumerated() where report.failures.isEmpty {
                    let isPlain = rest == life.count && index == 0
                    if count >= 100 || isPlain || number.isMultiple(of: 50) {
                        try check(try play(steps, disturbance), steps, disturbance, &total, &report)
                    }
                    number += 1
                }
            }
        }
        for life in mountedLives {
            let undisturbed = try play(life, Disturbance(isMounted: true))
            // Half of a line that a shell writes in the moment before the file is cut off isn't promised.
            let disturbances =
                [Disturbance(isMounted: true)]
                + (0..<undisturbed.syncs).map { Disturbance(failingSync: $0, isMounted: true) }
                + (0..<undisturbed.calls).map { Disturbance(externalSet: $0, isMounted: true) }
            for (index, disturbance) in disturbances.enumerated() where report.failures.isEmpty {
                guard count >= 100 || index == 0 || index.isMultiple(of: 50) else { continue }
                try check(try play(life, disturbance), life, disturbance, &total, &report)
            }
        }
        for _ in 0..<count where report.failures.isEmpty {
            let steps = randomLife(&generator)
            let (syncs, calls) = (Int.random(in: 0..<40, using: &generator), Int.random(in: 0..<200, using: &generator))
            var disturbance = Disturbance(failingSync: syncs < 20 ? syncs : nil)
            if Bool.random(using: &generator) { disturbance.externalSet = calls } else { disturbance.fragment = calls }
            try check(try play(steps, disturbance), steps, disturbance, &total, &report)
        }
        report.note(
            "\(total.runs) runs of \(lives.count + slowLives.count + mountedLives.count) chosen lives of a file, each sync failing in turn, a rest after "
                + "each step, another process's set before each call that finds it unlocked and half of a shell's line before each "
                + "call, and of \(count) random ones; \(total.externalSets) such sets, \(total.fragments) such halves, "
                + "\(total.operations) changing calls"
        )
        report.expect(total.externalSets > 0 || count < 10, "no other process set anything")
        report.expect(total.fragments > 0 || count < 10, "no shell wrote anything")
        report.note(
            "\(total.checker.states) states after a loss of power at \(total.checker.moments) moments, "
                + "\(total.checker.distinct) of them distinct: what was flushed is there in all, what wasn't is old or new, and "
                + "the next set works"
        )
    }

    private struct Total {
        var checker = Checker(path: path)
        var (runs, externalSets, fragments, operations) = (0, 0, 0, 0)
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
        total.externalSets += run.hasForeignSet ? 1 : 0
        total.fragments += run.hasFragment && disturbance.fragment != nil ? 1 : 0
        total.operations += run.operations.count
    }

    private struct Run {
        let operations: [Operation]
        let syncs: Int
        let calls: Int
        /// The numbers of the calls that compactions made.
        let compactions: [Int]
        let hasForeignSet: Bool
        let hasFragment: Bool
    }

    /// Performs the steps on a new file system and returns its history.
    private static func play(_ steps: [Step], _ disturbance: Disturbance) throws -> Run {
        let life = Life(disturbance)
        let fileSystem = life.fileSystem
        var compactions: [Int] = []
        for step in steps {
            let first = fileSystem.calls
            try life.perform(step)
            if case .compact = step { compactions += first..<fileSystem.calls }
        }
        if let failure = life.failure { throw Obstacle("the external set failed: \(failure)") }
        return Run(
            operations: fileSystem.operations,
            syncs: fileSystem.syncs,
            calls: fileSystem.calls,
            compactions: compactions,
            hasForeignSet: life.hasForeignSet,
            hasFragment: life.hasFragment
        )
    }

    private struct SlowShell {
        let file: OpenFile
        let parts: [String]
        /// How often other processes had written when it began.
        let writes: Int
        /// Whether more time has passed than a compaction waits for such a shell.
        var isTooLate = false
    }

    /// The processes that use one file; all run on one thread.
    private final class Life: @unchecked Sendable {
        let fileSystem: ModelFileSystem
        private let disturbance: Disturbance
        private let workers: [WorkerQueue]
        private var backends: [FileBackend?] = [nil, nil, nil]
        /// The number of sets that each process knows.
        private var known = [0, 0, 0]
        private var (issued, number) = (0, 0)
        /// The lines of shells, which must be found once a set that was issued later is flushed.
        private var fragments: [(text: String, issued: Int)] = []
        private var slowShell: SlowShell?
        /// The lines that the slow shell has ended; they are in the file after some time.
        private var lateLines: [String] = []
        /// The error of the third process's set.
        private(set) var failure: String?
        var hasForeignSet: Bool { known[2] > 0 }
        var hasFragment: Bool { !fragments.isEmpty }
        private var writes: Int { issued + fragments.count }

        init(_ disturbance: Disturbance) {
            let fileSystem = ModelFileSystem(
                .folder(["home": .folder([:])]),
                failingSync: disturbance.failingSync,
                isMounted: disturbance.isMounted
            )
            self.fileSystem = fileSystem
            self.disturbance = disturbance
            workers = backends.map { _ in WorkerQueue(fileSystem: fileSystem, isManual: true) }
            if let call = disturbance.fragment {
                fileSystem.before(call: call) { [weak self] in self?.writeFragment() }
            }
            guard let call = disturbance.externalSet else { return }
            fileSystem.before(call: call) { [weak self] in
                // If the file is locked, the process would wait for a later call, which is another run.
                guard let self, !fileSystem.isLocked else { return }
                do { try set(2, ["external"]) } catch { failure = "\(error)" }
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
                    // A later set has ended the line.
                    for fragment in fragments where fragment.issued < known[process] {
                        fileSystem.mark(.kept(fragment.text))
                    }
                }
            case .compact(let process): try unlessSyncFails { try backend(process).compact() }
            case .fragment: writeFragment()
            case .begin(let isWriting):
                let line = "{\"late\":\"}"
                let half = line.prefix(isWriting ? line.count / 2 : 0)
                slowShell = SlowShell(
                    file: try fileSystem.open(path, for: .appending),
                    parts: [String(half), String(line.dropFirst(half.count))],
                    writes: writes
                )
                try write(String(half))
            case .end:
                guard let shell = slowShell else { return }
                try write(shell.parts[1] + "\n")
                slowShell = nil
                // A process that has set something in between has ended the first half.
                if !shell.isTooLate { lateLines += writes == shell.writes ? [shell.parts.joined()] : shell.parts }
            case .release(let process): backends[process] = nil
            case .rest:
                slowShell?.isTooLate = true
                for worker in workers { while worker.runNextJob() {} }
                fragments += lateLines.map { ($0, issued) }
                lateLines = []
            }
        }

        private func write(_ text: String) throws {
            guard let file = slowShell?.file, !text.isEmpty else { return }
            try Array(text.utf8).withUnsafeBytes { _ = try fileSystem.append($0, to: file) }
        }

        private func writeFragment() {
            let fragment = "{\"cut\":\"\(fragments.count)"
            do { try fileSystem.append(fragment, to: path) } catch { return }
            fragments.append((fragment, issued))
        }

        private func set(_ process: Int, _ names: [String]) throws {
            // An event in addition to the steps changes none of the life's values, so that runs have most states in
            // common.
            if process < 2 { number += 1 }
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
            _ = try backend.load(host: PreferenceBackendHost(changed: { _ in }, report: { _ in }))
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

    /// A generator of the same numbers in every run (SplitMix64).
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
