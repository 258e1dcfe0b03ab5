#if canImport(Glibc) && DEBUG
import Glibc
import Preferences

// Swift marks it as unavailable.
@_silgen_name("fork") private func forkProcess() -> pid_t

/// A process forks while its own threads, those of the library and another process are busy: no child hangs or dies, each reads the values
/// of its parent's store and can't change them, and can change a file that it requests itself.
enum Fork {
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
        let ticks = Preference("ticks", default: 0, in: try PreferenceStore.file(at: path))
        while getppid() != 1 {
            try ticks.write(ticks.value + 1)
            pause(microseconds: 300)
        }
    }

    /// Forks at random moments; returns how often children ended how.
    private static func forkAll(_ path: String, _ count: Int) throws -> [String: Int] {
        let store = try PreferenceStore.file(at: path)
        store.issueHandler = { writeLine("fork: \($0)", to: 2) }
        let ticks = Preference("ticks", default: 0, in: store)
        let number = Preference("number", default: 0, in: store)
        let observation = ticks.observe { _ in _ = number.value }
        defer { observation.cancel() }
        // Swift's runtime has locks for what is used for the first time, so all that the children do is done before.
        try increment(path)
        try store.transaction { _ in _ = try use(number, least: 0) }
        let writer = try Child.worker("fork", path, "writer", "0")
        let isRunning = Lock(true)
        let isStarted = Pool.startThread {
            while isRunning.withLock({ $0 }) {
                number.value += 1
                pause(microseconds: 300)
            }
        }
        guard isStarted else { throw Obstacle("no thread") }
        defer { isRunning.withLock { $0 = false } }
        while min(number.value, ticks.value) < 100 { pause(microseconds: 1000) }

        var ends: [String: Int] = [:]
        for _ in 0..<count {
            pause(microseconds: .random(in: 0..<2000))
            let least = number.value
            let end = end {
                let exit = try use(number, least: least)
                if exit == .done { try increment(path) }
                return exit
            }
            ends[end, default: 0] += 1
        }
        writer.kill()
        try store.load()
        if Preference("own", default: 0, in: store).value != 1 + ends["done", default: 0] { ends["lost"] = 1 }
        return ends
    }

    /// Returns how a child that runs `body` ends; it is killed after 20 seconds.
    private static func end(_ body: () throws -> Exit) -> String {
        let child = forkProcess()
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

    /// Reads a value of the parent's store and fails to change it.
    private static func use(_ number: Preference<Int>, least: Int) throws -> Exit {
        guard number.value >= least else { return .stale }
        for change in [{ try number.write(-1) }, { try number.update { $0 += 1 } }] {
            do {
                try change()
                return .failed
            } catch let error as PreferenceError where error.code == .misuse {}
        }
        return number.value >= least ? .done : .stale
    }

    private static func increment(_ path: String) throws {
        try Preference("own", default: 0, in: try PreferenceStore.file(at: path)).update { $0 += 1 }
    }
}
#endif
