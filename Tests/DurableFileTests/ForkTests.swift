#if os(Linux)
import FaultTestSupport
import FileTestSupport
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
            let log = try LogFile.open(process.folder.path("log"), lockTimeout: .milliseconds(20))
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

    /// Also if a program keeps the file open that the child replaces.
    @Test(arguments: [false, true])
    func childAndParentGoOnWithTheSameFile(isKeptOpen: Bool) async {
        await #expect(processExitsWith: .success) { [isKeptOpen] in
            let process = try ForkingProcess()
            let kept = isKeptOpen ? try SystemFileSystem().open(process.folder.path("log"), for: .appending) : nil
            let fileSystem = FaultyFileSystem()
            let isWaiting = Condition(false)
            fileSystem.beforeEachCall { call, _ in if call == "poll" { isWaiting.signal { $0 = true } } }
            let log = try LogFile.open(process.folder.path("log"), watcher: Watcher(fileSystem: fileSystem))
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
            let log = try LogFile.open(folder.path("log"), watcher: .shared, worker: worker)
            try log.set("a", "1")
            try log.set("a", "2")
            let kept = try SystemFileSystem().open(folder.path("log"), for: .appending)
            try log.compact()
            try same(folder.read("log"), "a=2.\n")
            withExtendedLifetime(kept) {}
        }
    }
}

/// A process that forks, with a folder that has a file.
private struct ForkingProcess {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a=1.\n", to: "log")
        // The child does nothing for the first time.
        let log = try LogFile.open(folder.path("another"), lockTimeout: .milliseconds(20))
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
