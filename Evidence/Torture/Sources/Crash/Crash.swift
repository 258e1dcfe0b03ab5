#if canImport(Glibc) && DEBUG
@testable import Preferences

/// Every state that a loss of power might leave at every moment of some short lives of a file.
///
/// Everything happens on one thread, in an order that the life defines, so each run is the same.
enum Crash {
    private static let path = "/home/user/config/preferences.jsonl"
    private static let deadline = PreferenceDeadline.period(.seconds(5))

    /// A step of one of two processes.
    private enum Step {
        case set(Int, String)
        /// Two names in one line.
        case pair(Int)
        case flush(Int)
        /// Another process compacts.
        case compact
        /// A process does what it does from time to time; after a failed sync it writes a new file.
        case tidy(Int)
        /// A shell is ended in the middle of a line.
        case fragment
        /// The store is released.
        case release(Int)
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

        var description: String {
            let parts = [
                failingSync.map { "sync \($0) fails" }, externalSet.map { "external set before call \($0)" },
                fragment.map { "fragment before call \($0)" },
            ]
            return parts.compactMap(\.self).joined(separator: ", ")
        }
    }

    private static let lives: [[Step]] = [
        [.set(0, "a"), .flush(0), .pair(0), .set(0, "a"), .flush(0), .pair(0)],
        [.pair(1), .set(1, "a"), .set(0, "b"), .flush(0)],
        [.set(0, "a"), .compact, .set(0, "b"), .flush(0)],
        [.set(0, "a"), .compact, .release(0), .set(1, "b"), .flush(1)],
        [.set(0, "a"), .flush(0), .fragment, .set(0, "a"), .flush(0), .compact, .pair(0), .flush(0)],
        [.pair(0), .set(0, "a"), .set(0, "a"), .flush(0), .pair(0), .compact, .set(0, "b"), .flush(0)],
        [.pair(0), .set(1, "a"), .flush(1), .compact, .pair(1), .flush(1), .compact, .set(0, "b"), .flush(0)],
        [.set(0, "a"), .pair(0), .flush(0), .tidy(0), .set(0, "b"), .flush(0)],
    ]

    /// Runs the chosen lives with every disturbance, or a twentieth of these runs if `count` is below 100; and `count` random lives.
    static func run(_ count: Int, _ report: inout Report) async throws {
        var total = Total()
        var generator = Generator(state: 1)
        var number = 0
        for life in lives {
            let undisturbed = try play(life, Disturbance())
            let disturbances =
                [Disturbance()] + (0..<undisturbed.syncs).map { Disturbance(failingSync: $0) }
                + (0..<undisturbed.calls).map { Disturbance(externalSet: $0) }
                + (0..<undisturbed.calls).map { Disturbance(fragment: $0) }
            for (index, disturbance) in disturbances.enumerated() where report.failures.isEmpty {
                if count >= 100 || index == 0 || number.isMultiple(of: 20) {
                    try check(try play(life, disturbance), life, disturbance, &total, &report)
                }
                number += 1
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
            "\(total.runs) runs of \(lives.count) chosen lives of a file, each sync failing in turn, another process's set before each "
                + "call that finds it unlocked and half of a shell's line before each call, and of \(count) random ones; "
                + "\(total.externalSets) such sets, \(total.fragments) such halves, \(total.operations) changing calls"
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
        let hasForeignSet: Bool
        let hasFragment: Bool
    }

    /// Performs the steps on a new file system and returns its history.
    private static func play(_ steps: [Step], _ disturbance: Disturbance) throws -> Run {
        let life = Life(disturbance)
        let fileSystem = life.fileSystem
        for step in steps { try life.perform(step) }
        if let failure = life.failure { throw Obstacle("the external set failed: \(failure)") }
        return Run(
            operations: fileSystem.operations,
            syncs: fileSystem.syncs,
            calls: fileSystem.calls,
            hasForeignSet: life.hasForeignSet,
            hasFragment: life.hasFragment
        )
    }

    /// The processes that use one file; all run on one thread.
    private final class Life: @unchecked Sendable {
        let fileSystem: ModelFileSystem
        private let disturbance: Disturbance
        private var backends: [FileBackend?] = [nil, nil, nil]
        /// The number of sets that each process knows.
        private var known = [0, 0, 0]
        private var (issued, number) = (0, 0)
        /// The lines of shells, which must be found once a set that was issued later is flushed.
        private var fragments: [(text: String, issued: Int)] = []
        /// The error of the third process's set.
        private(set) var failure: String?
        var hasForeignSet: Bool { known[2] > 0 }
        var hasFragment: Bool { !fragments.isEmpty }

        init(_ disturbance: Disturbance) {
            let fileSystem = ModelFileSystem(
                .folder(["home": .folder([:])]),
                failingSync: disturbance.failingSync
            )
            self.fileSystem = fileSystem
            self.disturbance = disturbance
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
                    try backend(process).sync(until: deadline)
                    fileSystem.mark(.flushed(known[process]))
                    // A later set has ended the line.
                    for fragment in fragments where fragment.issued < known[process] {
                        fileSystem.mark(.kept(fragment.text))
                    }
                }
            case .compact: try unlessSyncFails { try Log(path, fileSystem).compact(until: deadline) { _ in } }
            case .tidy(let process): try unlessSyncFails { _ = try backend(process).tidy(names: 1) { _ in } }
            case .fragment: writeFragment()
            case .release(let process):
                // The next store's flush promises nothing of what this one has set.
                (backends[process], known[process]) = (nil, 0)
            }
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
                try backend(process).change(until: deadline) { _ in
                    values.map { StoredChange($0.key, .integer(Int64($0.value))) }
                }
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
            let backend = FileBackend(path, fileSystem, Process.current)
            _ = try backend.load(host: PreferenceBackendHost(changed: {}, report: { _ in }), until: deadline)
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
            case 8: return Bool.random(using: &generator) ? .compact : .tidy(process)
            default: return Bool.random(using: &generator) ? .fragment : .release(process)
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
