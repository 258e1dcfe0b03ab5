#if canImport(Glibc)
import DurableFile
import FoundationEssentials
import Glibc
import Preferences
import PreferencesValidation
import Synchronization

/// Processes that are forked while the library and other processes are busy: none hangs or dies, each reads the values of its parent's
/// stores and can't change them, and each can use stores of its own.
///
/// Each scenario runs in a process of its own, whose only thread is the main one, but for those of the library.
enum Fork {
    private enum Scenario: String, CaseIterable {
        /// A process sets, then forks four children.
        case set
        /// A process that observes a file which another process writes each 0.3 ms forks a child that reads.
        case observe
        /// Twenty children of a process that has read a file update it without a pause, each by a store of its own.
        case workers
        /// A process forks while a thread of its own sets, and so notifies an observer, and another one reads.
        case threads
        /// A process that observes forks from the observer, on a thread of the library.
        case observer
        /// A process forks while an observer, on a thread of the library, has a lock of the program.
        case job
        /// A process forks while a thread of its own changes something under a lock of the library.
        case locks
        /// A process forks while an observer doesn't return.
        case stuck
    }

    /// The numbers of the children, by how they ended.
    private struct Outcome {
        var children = 0
        var hung = 0
        var dead = 0
        var stale = 0
        var failed = 0

        var fields: [Int] { [children, hung, dead, stale, failed] }

        mutating func add(_ status: Int32) {
            children += 1
            switch status {
            case 0: break
            case -SIGALRM: hung += 1
            case ..<0: dead += 1
            case Exit.stale.rawValue: stale += 1
            default: failed += 1
            }
        }
    }

    private enum Exit: Int32 { case done, stale, failed }

    static func run(_ count: Int, _ report: inout Report) async throws {
        for scenario in Scenario.allCases {
            let place = try Place()
            // Each child of a round counts; a stuck observer delays each fork by a second.
            let rounds = scenario == .stuck ? max(1, count / 500) : count
            let child = try Child.worker("fork", place.file, scenario.rawValue, "\(rounds)")
            let words = (child.readLine() ?? "").split(separator: " ")
            let fields = words.compactMap { Int($0) }
            let status = child.wait()
            guard fields.count == 5 else {
                report.expect(false, "\(scenario): ended with \(status): \(words.joined(separator: " "))")
                continue
            }
            let names = ["hung", "dead", "stale", "failed"]
            let text = zip(fields.dropFirst(), names).map { "\($0) \($1)" }.joined(separator: ", ")
            report.note("\(scenario): \(fields[0]) children, \(text)")
            report.expect(
                fields.dropFirst().allSatisfy { $0 == 0 } && status == 0,
                "\(scenario): \(text), status \(status)"
            )
        }
    }

    // MARK: The forking process

    static func work(_ path: String, _ role: String, _ count: Int) throws {
        if role == "writer" { return try write(path) }
        guard let scenario = Scenario(rawValue: role) else { throw Obstacle("no such scenario") }
        let store = try PreferenceStore.file(at: URL(filePath: path))
        store.issueHandler = { writeLine("fork \(role): \($0)", to: 2) }
        let outcome =
            switch scenario {
            case .set: try set(store, count)
            case .observe: try observe(store, path, count)
            case .workers: try workers(store, path, count)
            case .threads: try threads(store, count)
            case .observer: try observer(store, count)
            case .job: try job(store, count)
            case .locks: try locks(count)
            case .stuck: try stuck(store, count)
            }
        writeLine(outcome.fields.map { "\($0)" }.joined(separator: " "), to: 1)
    }

    /// Runs `body` in a child, which is killed after 20 seconds; returns its process.
    private static func fork(_ body: () throws -> Exit) throws -> pid_t {
        // Swift doesn't export it by name.
        guard let symbol = dlsym(nil, "fork") else { throw Obstacle("no fork") }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        guard child == 0 else { return child }
        // Not inherited by children of threads that handle no signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        alarm(20)
        let result: Exit
        do { result = try body() } catch {
            writeLine("fork: \(error)", to: 2)
            result = .failed
        }
        _exit(result.rawValue)
    }

    private static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return Exit.failed.rawValue }
        }
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }

    /// Returns how a child ends that reads a value of its parent's store, and fails to change it twice.
    private static func use(_ number: Preference<Int>, _ isExpected: (Int) -> Bool) throws -> Exit {
        guard isExpected(number.value) else { return .stale }
        for change in [{ try number.write(-1) }, { try number.update { $0 += 1 } }] {
            do {
                try change()
                return .failed
            } catch let error as PreferenceError where error.code == .misuse {}
        }
        return isExpected(number.value) ? .done : .stale
    }

    private static func set(_ store: PreferenceStore, _ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let number = Preference("number", default: 0, in: store)
        for round in 0..<max(1, count / 4) {
            try number.write(round)
            let children = try (0..<4).map { _ in try fork { try use(number) { $0 == round } } }
            for child in children { outcome.add(wait(for: child)) }
            if number.value != round { outcome.stale += 1 }
        }
        return outcome
    }

    /// Sets a counter each 0.3 ms, until the process that has started this one ends it.
    private static func write(_ path: String) throws {
        let ticks = Preference("ticks", default: 0, in: try PreferenceStore.file(at: URL(filePath: path)))
        while getppid() != 1 {
            try ticks.write(ticks.value + 1)
            pause(microseconds: 300)
        }
    }

    private static func observe(_ store: PreferenceStore, _ path: String, _ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let ticks = Preference("ticks", default: 0, in: store)
        let seen = Lock(0)
        let observation = ticks.observe { change in seen.withLock { $0 = change.new } }
        let writer = try Child.worker("fork", path, "writer", "0")
        defer { observation.cancel() }
        for _ in 0..<count {
            let last = ticks.value
            let child = try fork { try use(ticks) { $0 >= last } }
            outcome.add(wait(for: child))
        }
        writer.kill()
        if seen.withLock({ $0 }) == 0 { outcome.stale += 1 }
        return outcome
    }

    private static func workers(_ store: PreferenceStore, _ path: String, _ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let number = Preference("number", default: 0, in: store)
        try number.write(0)
        let children = try (0..<20).map { _ in
            try fork {
                alarm(300)
                let own = Preference("number", default: 0, in: try PreferenceStore.file(at: URL(filePath: path)))
                for _ in 0..<max(1, count / 5) { try own.update { $0 += 1 } }
                return .done
            }
        }
        for child in children { outcome.add(wait(for: child)) }
        try store.load()
        if number.value != 20 * max(1, count / 5) { outcome.stale += 1 }
        return outcome
    }

    private static let seen = Atomic(0)

    private static func threads(_ store: PreferenceStore, _ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let number = Preference("number", default: 0, in: store)
        let text = Preference("text", default: "", in: store)
        // An atomic, as the program's threads might have a lock of its own.
        let observation = number.observe { change in
            pause(microseconds: 20)
            seen.max(change.new, ordering: .relaxed)
        }
        defer { observation.cancel() }
        let isEnded = Lock(false)
        let running = Lock(2)
        for work in [
            { @Sendable in
                number.value += 1
                // The observer is slower.
                while number.value > seen.load(ordering: .relaxed) + 100 { pause(microseconds: 100) }
            },
            { @Sendable in
                text.value = text.value.isEmpty ? "some text" : ""
                // Usually the other thread then notifies the observer of its changes, and not one of the library.
                pause(microseconds: 300)
            },
        ] {
            let isStarted = WorkerQueue.startThread("own") {
                while !isEnded.withLock({ $0 }) { work() }
                running.withLock { $0 -= 1 }
            }
            guard isStarted else { throw Obstacle("no thread") }
        }
        // Until the threads have used what they use for the first time, for which Swift's runtime has locks.
        while number.value < 100 { pause(microseconds: 1000) }
        for _ in 0..<max(1, count) {
            let before = number.value
            let child = try fork {
                _ = text.value
                return try use(number) { $0 >= before }
            }
            outcome.add(wait(for: child))
        }
        isEnded.withLock { $0 = true }
        while running.withLock({ $0 }) > 0 { pause(microseconds: 1000) }
        return outcome
    }

    private static func observer(_ store: PreferenceStore, _ count: Int) throws -> Outcome {
        let ticks = Preference("ticks", default: 0, in: store)
        let outcome = Lock(Outcome())
        let observation = ticks.observe { change in
            guard outcome.withLock({ $0.children }) < count else { return }
            do {
                let child = try fork { try use(ticks) { $0 >= change.new } }
                let status = wait(for: child)
                outcome.withLock { $0.add(status) }
            } catch { outcome.withLock { $0.failed += 1 } }
        }
        defer { observation.cancel() }
        let path = store.location?.path ?? ""
        let writer = try Child.worker("fork", path, "writer", "0")
        for _ in 0..<max(20_000, count * 100) where outcome.withLock({ $0.children }) < count {
            pause(microseconds: 1000)
        }
        writer.kill()
        if outcome.withLock({ $0.children }) < count { outcome.withLock { $0.hung += 1 } }
        return outcome.withLock { $0 }
    }

    private static func job(_ store: PreferenceStore, _ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let ticks = Preference("ticks", default: 0, in: store)
        let isWorking = Condition(false)
        let own = Lock(0)
        let observation = ticks.observe { _ in
            own.withLock { value in
                value += 1
                isWorking.signal { $0 = true }
                pause(microseconds: 2000)
            }
        }
        defer { observation.cancel() }
        let writer = try Child.worker("fork", store.location?.path ?? "", "writer", "0")
        for _ in 0..<count {
            isWorking.signal { $0 = false }
            isWorking.wait { $0 ? .done(()) : .until(nil) }
            let child = try fork { own.take() ? .done : .stale }
            outcome.add(wait(for: child))
        }
        writer.kill()
        return outcome
    }

    /// Two values that are equal outside of the lock.
    private final class Pair: ForkParticipant {
        let values = Lock((0, 0))
        private let isChanging = Condition(false)
        let forkRanks = [ForkRank.leaves]

        func take(_ rank: ForkRank) -> Bool { values.take() }

        func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
            values.release(inChild: inChild)
            return nil
        }

        func change() {
            values.withLock { values in
                values.0 += 1
                isChanging.signal { $0 = true }
                pause(microseconds: 500)
                values.1 += 1
            }
            pause(microseconds: 100)
        }

        func waitForChange() {
            isChanging.signal { $0 = false }
            isChanging.wait { $0 ? .done(()) : .until(nil) }
        }
    }

    private static func locks(_ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let pair = Pair()
        let place = ForkGate.add(pair)
        let isEnded = Lock(false)
        let running = Lock(true)
        let isStarted = WorkerQueue.startThread("own") {
            while !isEnded.withLock({ $0 }) { pair.change() }
            running.withLock { $0 = false }
        }
        guard isStarted else { throw Obstacle("no thread") }
        for _ in 0..<count {
            pair.waitForChange()
            let child = try fork { pair.values.withLock { $0.0 == $0.1 } ? .done : .stale }
            outcome.add(wait(for: child))
        }
        isEnded.withLock { $0 = true }
        while running.withLock({ $0 }) { pause(microseconds: 1000) }
        ForkGate.remove(place)
        return outcome
    }

    private static func stuck(_ store: PreferenceStore, _ count: Int) throws -> Outcome {
        var outcome = Outcome()
        let ticks = Preference("ticks", default: 0, in: store)
        let isStuck = Condition(false)
        let isEnded = Condition(false)
        let parent = getpid()
        let observation = ticks.observe { _ in
            guard getpid() == parent else { return }
            isStuck.signal { $0 = true }
            isEnded.wait { $0 ? .done(()) : .until(nil) }
        }
        defer { observation.cancel() }
        let writer = try Child.worker("fork", store.location?.path ?? "", "writer", "0")
        isStuck.wait { $0 ? .done(()) : .until(nil) }
        for _ in 0..<max(1, count) {
            let last = ticks.value
            let child = try fork { try use(ticks) { $0 >= last } }
            outcome.add(wait(for: child))
        }
        writer.kill()
        isEnded.signal { $0 = true }
        return outcome
    }
}
#endif
