#if canImport(Glibc)
import FoundationEssentials
import Glibc
import Preferences

/// A process forks while its own threads, those of the library and another process are busy: no child hangs or dies, each reads the values
/// of its parent's stores and can't change them, and can change a file that it requests itself.
enum Fork {
    /// What an observer of the other process's changes does, on a thread of the library.
    private enum Phase { case locks, forks, waits }

    private enum Exit: Int32 { case done, stale, failed }

    static func run(_ count: Int, _ report: inout Report) async throws {
        let place = try Place()
        let child = try Child.worker("fork", place.file, "forking", "\(count)")
        let text = child.readLines().joined(separator: "; ")
        report.note(text)
        report.expect(child.wait() == 0, "\(text), status \(child.wait())")
    }

    static func work(_ path: String, _ role: String, _ count: Int) throws {
        if role == "writer" { return try write(path) }
        let ends = try forkAll(path, count)
        writeLine("children by their end: \(ends.map { "\($0) \($1)" }.sorted().joined(separator: ", "))", to: 1)
        if Set(ends.keys) != ["done"] { throw Obstacle("not all children are done") }
    }

    /// Sets a counter each 0.3 ms, until the process that has started this one ends.
    private static func write(_ path: String) throws {
        let ticks = Preference("ticks", default: 0, in: try PreferenceStore.file(at: URL(filePath: path)))
        while getppid() != 1 {
            try ticks.write(ticks.value + 1)
            pause(microseconds: 300)
        }
    }

    /// Forks at random moments, then in an observer, then beside an observer that doesn't return; returns how often children ended how.
    private static func forkAll(_ path: String, _ count: Int) throws -> [String: Int] {
        let store = try PreferenceStore.file(at: URL(filePath: path))
        store.issueHandler = { writeLine("fork: \($0)", to: 2) }
        let ticks = Preference("ticks", default: 0, in: store)
        let number = Preference("number", default: 0, in: store)
        let ends = Lock<[String: Int]>([:])
        let add = { @Sendable (end: String) in ends.withLock { $0[end, default: 0] += 1 } }
        let total = { ends.withLock { $0.values.reduce(0, +) } }

        let phase = Lock(Phase.locks)
        let lock = Lock(0)
        let (isWaiting, isEnded) = (Condition(false), Condition(false))
        let parent = getpid()
        let observation = ticks.observe { change in
            // A child's own calls notify it, too.
            guard getpid() == parent else { return }
            switch phase.withLock({ $0 }) {
            case .locks: lock.withLock { _ in pause(microseconds: 1000) }
            case .forks: add(end { try use(ticks, path) { $0 >= change.new } })
            case .waits:
                isWaiting.signal { $0 = true }
                isEnded.wait { $0 ? .done(()) : .until(nil) }
            }
        }
        defer { observation.cancel() }
        let writer = try Child.worker("fork", path, "writer", "0")
        let pair = Pair()
        let place = ForkGate.add(pair)
        defer { ForkGate.remove(place) }
        let isRunning = Lock(true)
        let isStarted = WorkerQueue.startThread("own") {
            while isRunning.withLock({ $0 }) {
                pair.change()
                number.value += 1
            }
        }
        guard isStarted else { throw Obstacle("no thread") }
        // Swift's runtime has locks for what is used for the first time.
        try increment(path)
        while min(number.value, ticks.value) < 100 { pause(microseconds: 1000) }

        for _ in 0..<count {
            let least = number.value
            pair.waitForChange()
            add(
                end {
                    guard lock.take(), pair.isWhole else { return .stale }
                    return try use(number, path) { $0 >= least }
                }
            )
        }
        isRunning.withLock { $0 = false }
        phase.withLock { $0 = .forks }
        while total() < count + count / 10 { pause(microseconds: 1000) }
        phase.withLock { $0 = .waits }
        isWaiting.wait { $0 ? .done(()) : .until(nil) }
        let last = number.value
        add(end { try use(number, path) { $0 >= last } })
        isEnded.signal { $0 = true }
        writer.kill()
        try store.load()
        let increments = 1 + ends.withLock { $0["\(Exit.done)"] ?? 0 }
        if Preference("own", default: 0, in: store).value != increments { add("lost") }
        return ends.withLock { $0 }
    }

    /// Returns how a child that runs `body` ends; it is killed after 20 seconds.
    private static func end(_ body: () throws -> Exit) -> String {
        // Swift doesn't export it by name.
        guard let symbol = dlsym(nil, "fork") else { return "absent" }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        if child == 0 { endChild(body) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        switch status & 0x7f {
        case 0: return Exit(rawValue: status >> 8).map { "\($0)" } ?? "ended with \(status >> 8)"
        case SIGALRM: return "hung"
        case let signal: return "killed by \(signal)"
        }
    }

    private static func endChild(_ body: () throws -> Exit) -> Never {
        // Not inherited by children of threads that handle no signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        alarm(20)
        do { _exit(try body().rawValue) } catch {
            writeLine("fork: \(error)", to: 2)
            _exit(Exit.failed.rawValue)
        }
    }

    /// Reads a value of the parent's store, fails to change it, and changes one of the same file by a store of its own.
    private static func use(_ number: Preference<Int>, _ path: String, _ isExpected: (Int) -> Bool) throws -> Exit {
        guard isExpected(number.value) else { return .stale }
        for change in [{ try number.write(-1) }, { try number.update { $0 += 1 } }] {
            do {
                try change()
                return .failed
            } catch let error as PreferenceError where error.code == .misuse {}
        }
        guard isExpected(number.value) else { return .stale }
        try increment(path)
        return .done
    }

    private static func increment(_ path: String) throws {
        try Preference("own", default: 0, in: try PreferenceStore.file(at: URL(filePath: path))).update { $0 += 1 }
    }
}

/// Two numbers that are equal outside of a lock that a fork takes.
private final class Pair: ForkParticipant {
    private let values = Lock((0, 0))
    private let isChanging = Condition(false)
    let forkRanks = [ForkRank.leaves]

    var isWhole: Bool { values.withLock { $0.0 == $0.1 } }

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
    }

    func waitForChange() {
        isChanging.signal { $0 = false }
        isChanging.wait { $0 ? .done(()) : .until(nil) }
    }
}
#endif
