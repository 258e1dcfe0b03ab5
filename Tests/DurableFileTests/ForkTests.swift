#if os(Linux)
import FaultTestSupport
import FileTestSupport
import Synchronization
import TestSupport
import Testing

@testable import DurableFile

/// A child of `fork` has only the thread that called it, and another thread might hold a lock of the runtime at that moment. So each test
/// is a process of its own, without the threads of other tests. `ForkedProcessTests` runs processes that are busy.
struct ForkTests {
    @Test
    func childDoesNotShareTheLockThatItsParentHolds() async {
        await #expect(processExitsWith: .success) {
            let process = try ForkingProcess()
            let log = LogFile<TextContents>(
                path: process.folder.path("log"),
                lockTimeout: .milliseconds(20),
                watcher: nil
            )
            try log.load(observer: ObserverRecord().observer)
            let handle = try #require(log.core.withLock { $0.current })
            #expect(try SystemFileSystem().lock(handle.file))
            let result = try process.fork {
                do throws(LogError) {
                    try log.set("a", "2")
                    return 1
                } catch {
                    if case .busy = error { return 0 }
                    return 2
                }
            }
            same(result, 0)
            try SystemFileSystem().unlock(handle.file)
            try same(process.folder.read("log"), "a=1.\n")
        }
    }

    @Test
    func jobOfTheParentIsDoneInTheChildToo() async {
        await #expect(processExitsWith: .success) {
            let process = try ForkingProcess()
            let isDone = Condition(false)
            let queue = WorkerQueue()
            queue.run(after: .milliseconds(300)) { isDone.signal { $0 = true } }
            let result = try process.fork {
                queue.resume()
                // A job of the library might have run for longer than a `fork` waits.
                guard ForkGate.mayStartThreads else { return 0 }
                var waits = 0
                return isDone.wait { isDone -> Condition<Bool>.Wait<Int32> in
                    waits += 1
                    return isDone ? .done(0) : waits > 20 ? .done(1) : .until(.milliseconds(500))
                }
            }
            same(result, 0)
        }
    }

    /// The lock of a `once` has the kernel's identifier of its thread, which differs in the child, and another thread can't unlock it.
    @Test
    func childEndsAFirstUseForWhichAnotherThreadWaits() async {
        await #expect(processExitsWith: .success) {
            let process = try ForkingProcess()
            try same(process.fork { FirstUse.result }, 0)
        }
    }

    /// Also if a program keeps the file open that the child replaces.
    @Test(arguments: [false, true])
    func childAndParentGoOnWithTheSameFile(isKeptOpen: Bool) async {
        await #expect(processExitsWith: .success) { [isKeptOpen] in
            let process = try ForkingProcess()
            let kept = isKeptOpen ? try SystemFileSystem().open(process.folder.path("log"), for: .appending) : nil
            let fileSystem = FaultyFileSystem()
            let isWaiting = Condition(false)
            fileSystem.beforeEachCall { call, _ in if call == "poll" { isWaiting.signal { $0 = true } } }
            let log = LogFile<TextContents>(path: process.folder.path("log"), watcher: Watcher(fileSystem: fileSystem))
            try log.load(observer: ObserverRecord().observer)
            isWaiting.wait { $0 ? .done(()) : .until(.seconds(10)) }
            let result = try process.fork {
                do throws(LogError) {
                    let file = try log.core.withLock { core throws(LogError) in try core.statusAtPath()?.identity }
                    try log.set("b", "1")
                    try log.set("b", "2")
                    // It isn't tidied by each set because no thread can do that later.
                    guard try log.core.withLock({ core throws(LogError) in try core.statusAtPath()?.identity }) == file
                    else {
                        return -3
                    }
                    try log.sync()
                    try log.compact()
                } catch { return -1 }
                return 0
            }
            same(result, 0)
            try log.set("c", "3")
            same(log.values, ["a": "1", "b": "2", "c": "3"])
            withExtendedLifetime(kept) {}
        }
    }

    /// A child whose parent's threads didn't stop in time has none.
    @Test
    func compactionWithoutAThreadEndsWhileAProgramHasTheFileOpen() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let worker = WorkerQueue(WorkerPool { _ in false })
            let log = LogFile<TextContents>(path: folder.path("log"), watcher: .shared, worker: worker)
            try log.load(observer: ObserverRecord().observer)
            try log.set("a", "1")
            try log.set("a", "2")
            let kept = try SystemFileSystem().open(folder.path("log"), for: .appending)
            try log.compact()
            try same(folder.read("log"), "a=2.\n")
            withExtendedLifetime(kept) {}
        }
    }
}

/// A variable whose first use ends when another thread waits for it.
private enum FirstUse {
    private static let isWanted = Atomic(false)

    static let result: Int32 = {
        let isStarted = WorkerQueue.startThread("waits") {
            isWanted.store(true, ordering: .relaxed)
            _ = FirstUse.result
        }
        // A job of the library might have run for longer than a `fork` waits; then the child has no other thread.
        guard isStarted else { return 0 }
        while !isWanted.load(ordering: .relaxed) || !allOthersSleep { sched_yield() }
        return 0
    }()

    /// Whether each other thread of the process waits in the kernel.
    private static var allOthersSleep: Bool {
        do throws(FileSystemError) {
            let own = "\(getpid())"
            return try SystemFileSystem().names(inFolder: "/proc/self/task").allSatisfy { $0 == own || isSleeping($0) }
        } catch { return false }
    }

    private static func isSleeping(_ thread: String) -> Bool {
        guard let file = fopen("/proc/self/task/\(thread)/stat", "r") else { return false }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        // The state follows the name, which is in parentheses.
        guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
        return bytes[end + 2] == UInt8(ascii: "S")
    }
}

/// A process that forks, with a folder that has a file.
private struct ForkingProcess {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a=1.\n", to: "log")
        // The child does nothing for the first time.
        let log = LogFile<TextContents>(path: folder.path("another"), lockTimeout: .milliseconds(20), watcher: nil)
        try log.load(observer: ObserverRecord().observer)
        try log.set("b", "2")
        try log.sync()
        try log.compact()
    }

    /// Runs `body` in a child of `fork`, which Swift doesn't export by name; returns the child's exit status.
    func fork(_ body: () -> Int32) throws -> Int32 {
        let symbol = try #require(dlsym(nil, "fork"))
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGALRM)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            alarm(300)
            _exit(body())
        }
        try #require(child > 0)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 { try #require(errno == EINTR) }
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
}
#endif
