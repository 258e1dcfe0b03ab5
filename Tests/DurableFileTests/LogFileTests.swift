import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

struct LogFileTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ name: String = "log",
        _ fileSystem: any FileSystem = SystemFileSystem(),
        _ worker: WorkerQueue? = nil
    ) throws -> LogFile<TextContents> {
        return try .open(folder.path(name), fileSystem: fileSystem, worker: worker, record: record)
    }

    /// As when the watcher's thread waits in an observer, and a sync fails.
    @Test
    func reportsOfALogDontOverlap() async throws {
        let log = LogFile<TextContents>(path: folder.path("log"), watcher: Watcher())
        let gate = Condition(false)
        let isOpen = Lock(false)
        let (calls, called) = AsyncStream.makeStream(of: String.self)
        let observer = LogObserver(
            changed: {
                called.yield("changed")
                gate.wait { $0 ? .done(()) : .until(nil) }
            },
            damaged: { _ in },
            failed: { _ in
                #expect(isOpen.withLock { $0 }, "it overlaps the call that waits")
                called.yield("failed")
            }
        )
        try log.load(observer: observer)
        try folder.append("a=1.\n", to: "log")
        var order = calls.makeAsyncIterator()
        await same(order.next(), "changed")
        for _ in 1...3 { log.notifyInBackground(of: .busy(path: "log", waited: .zero)) }
        // Its turn is after those of jobs that were scheduled for the errors.
        let (jobs, ran) = AsyncStream.makeStream(of: Void.self)
        WorkerQueue().run { ran.yield() }
        _ = await jobs.first { true }
        isOpen.withLock { $0 = true }
        gate.signal { $0 = true }
        for _ in 1...3 { await same(order.next(), "failed") }
    }

    @Test
    func reportThatBeginsWhileOneIsMadeIsMadeAtItsEnd() {
        var background = LogBackground()
        background.observer = record.observer
        func mustSchedule() -> Bool {
            background.add { $0.errors.append(.busy(path: "log", waited: .zero)) }
            return background.beginSchedule()
        }
        func next() -> Int? { background.nextReport()?.0.errors.count }
        var answers = [mustSchedule(), mustSchedule()]
        same(answers, [true, false], "one job makes both")
        answers = [background.beginReporting(), mustSchedule(), background.beginReporting()]
        same(answers, [true, false, false])
        var counts = [next(), next()]
        same(counts, [3, nil])
        answers = [mustSchedule(), background.beginReporting()]
        same(answers, [true, true])
        counts = [next()]
        answers = [mustSchedule()]
        #expect(counts == [1] && answers == [false], "it is repeated")
        counts = [next(), next()]
        same(counts, [1, nil])
    }

    @Test
    func childOfAForkMakesTheReportOfItsParentsThread() async {
        let background = Lock(LogBackground())
        func mustSchedule() -> Bool {
            background.withLock { background in
                background.add { _ in }
                return background.beginSchedule()
            }
        }
        background.withLock { $0.observer = record.observer }
        #expect(mustSchedule() && !mustSchedule())
        background.withLock { $0.forgetThreads() }
        #expect(mustSchedule(), "the job was the parent's")
        // The thread that forks, in an observer, goes on in the child.
        #expect(background.withLock { $0.beginReporting() })
        background.withLock { $0.forgetThreads() }
        #expect(!mustSchedule())
        while background.withLock({ $0.nextReport() }) != nil {}
        let (begins, begun) = AsyncStream.makeStream(of: Void.self)
        let isStarted = WorkerQueue.startThread("test") {
            background.withLock { _ = $0.beginReporting() }
            begun.yield()
        }
        #expect(isStarted)
        _ = await begins.first { true }
        #expect(!mustSchedule())
        background.withLock { $0.forgetThreads() }
        #expect(mustSchedule(), "the thread is the parent's")
    }

    @Test
    func readingCreatesNoFile() throws {
        let log = try open("a/b/log")
        try log.catchUp()
        try log.append({ _ in nil }, commit: { _ in })
        try same(folder.names(), [])
    }

    /// So that the file system of a program that only reads can be mounted read-only.
    @Test
    func fileIsOpenForReadingUntilTheFirstWrite() throws {
        try folder.write("x=1.\n", to: "log")
        let log = try open()
        func mode() throws -> Int32 {
            try fcntl(#require(log.core.withLock { $0.current }).file.descriptor, F_GETFL) & O_ACCMODE
        }
        try same(mode(), O_RDONLY)
        try log.catchUp()
        try same(mode(), O_RDONLY)
        try log.set("x", "2")
        try same(mode(), O_RDWR)
        try same(folder.read("log"), "x=1.\nx=2.\n")
    }

    /// A file that took the place before the first write is read first, and the write goes to it.
    @Test(arguments: [false, true])
    func firstWriteGoesToTheFileAtThePath(isRemoved: Bool) throws {
        try folder.write("x=1.\n", to: "log")
        let log = try open()
        try SystemFileSystem().rename(folder.path("log"), to: folder.path("old"))
        if !isRemoved { try folder.write("y=1.\n", to: "log") }
        try log.set("x", "2")
        try same(folder.read("old"), "x=1.\n")
        try same(folder.read("log"), isRemoved ? "x=2.\n" : "y=1.\nx=2.\n")
    }

    @Test
    func firstLineMakesFoldersAndFileForTheUserAlone() throws {
        let log = try open("a/b/log")
        try log.set("x", "1")
        try same(folder.read("a/b/log"), "x=1.\n")
        try same(SystemFileSystem().status(at: folder.path("a")).mode, 0o700)
        try same(SystemFileSystem().status(at: folder.path("a/b")).mode, 0o700)
        try same(SystemFileSystem().status(at: folder.path("a/b/log")).mode, 0o600)
    }

    @Test
    func twoLogsOfOneFileCatchUpBeforeTheyWrite() throws {
        let (first, second) = (try open(), try open())
        try first.set("x", "1")
        try second.set("y", "2")
        same(second.values, ["x": "1", "y": "2"])
        try first.catchUp()
        same(first.values, second.values)
        try same(open().values, second.values)
    }

    @Test
    func equalValueIsComparedAfterCatchingUp() throws {
        let (first, second) = (try open(), try open())
        try first.set("x", "1")
        try second.set("x", "2")
        // `first` still has this value in memory, but it has to be written.
        try first.set("x", "1")
        try same(open().values, ["x": "1"])
        try first.set("x", "1")
        try same(folder.read("log"), "x=1.\nx=2.\nx=1.\n")
    }

    @Test
    func unfinishedLineCountsOnlyWhenComplete() throws {
        try folder.write("x=1.\ny=2", to: "log")
        let log = try open()
        same(log.values, ["x": "1"])
        try folder.append(".", to: "log")
        try log.catchUp()
        same(log.values, ["x": "1", "y": "2"])
        try folder.append("3.", to: "log")
        try log.catchUp()
        same(log.values, ["x": "1", "y": "2.3"])
        try folder.write("x=1.\n", to: "log")
        try log.catchUp()
        same(log.values, ["x": "1"])
    }

    @Test
    func unfinishedLineIsEndedAndNotCutOff() throws {
        try folder.write("x=1.\ny=2", to: "log")
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("z", "3")
        try same(folder.read("log"), "x=1.\ny=2\nz=3.\n")
        same(log.values, ["x": "1", "z": "3"])
        same(record.damage.map(\.line), [2])
    }

    @Test
    func lineThatArrivesWhileWaitingIsWhole() throws {
        try folder.write("y=", to: "log")
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        let calls = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "stat", calls.next() == 2 else { return }
            do { try folder.append("2.\n", to: "log") } catch { Issue.record(error) }
        }
        try log.set("z", "3")
        try same(folder.read("log"), "y=2.\nz=3.\n")
        same(log.values, ["y": "2", "z": "3"])
        #expect(record.damage.isEmpty)
    }

    @Test(arguments: ["y=2.\n", "y=2.\nz=3.\n", "\n"])
    func linesWrittenInBetweenAreReadBeforeTheOwnLine(_ lines: String) throws {
        try folder.write("x=0.\n", to: "log")
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "write" else { return }
            do { try folder.append(lines + "x=9.\n", to: "log") } catch { Issue.record(error) }
        }
        try log.set("x", "1")
        try same(folder.read("log"), "x=0.\n\(lines)x=9.\nx=1.\n")
        fileSystem.beforeEachCall(nil)
        try same(log.values, open().values)
        same(log.values["x"], "1")
    }

    @Test
    func lineThatLandedInAnotherIsWrittenAgain() throws {
        try folder.write("x=0.\n", to: "log")
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        let calls = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "write", calls.next() == 1 else { return }
            do { try folder.append("y=", to: "log") } catch { Issue.record(error) }
        }
        try log.set("x", "1")
        try same(folder.read("log"), "x=0.\ny=x=1.\nx=1.\n")
        same(record.damage.map(\.line), [2])
        same(log.values, ["x": "1"])
        try same(log.values, open().values)
    }

    @Test
    func fileRenamedToABackupIsLeftAlone() throws {
        let log = try open()
        try log.set("x", "1")
        try SystemFileSystem().rename(folder.path("log"), to: folder.path("log~"))
        try folder.write("y=2.\n", to: "log")
        try log.set("z", "3")
        same(log.values, ["y": "2", "z": "3"])
        try same(folder.read("log~"), "x=1.\n")
        try same(folder.read("log"), "y=2.\nz=3.\n")
    }

    @Test
    func removedFileRemovesAllAndTheNextSetCreatesItAgain() throws {
        let log = try open()
        try log.set("x", "1")
        try SystemFileSystem().remove(folder.path("log"))
        try log.catchUp()
        same(log.values, [:])
        try log.set("y", "2")
        try same(folder.read("log"), "y=2.\n")
        try SystemFileSystem().remove(folder.path("log"))
        try log.set("y", "3")
        try same(folder.read("log"), "y=3.\n")
    }

    @Test(arguments: ["", "x=7.\n", "x=1.\ny=3.\n", "x=1.\ny=2.\nz=3.\n", "a=1.\nb=2.\nc=3.\nd=4.\n"])
    func fileRewrittenInPlaceIsReloaded(_ text: String) throws {
        let log = try open()
        try log.set("x", "1")
        try log.set("y", "2")
        try folder.truncate("log", andWrite: text)
        try log.catchUp()
        try same(log.values, open().values)
        try log.set("w", "5")
        try same(log.values, open().values)
    }

    @Test
    func damagedLinesAreReportedOnceByNumber() throws {
        try folder.write("x=1.\n!a\n\n\r\ny=2.\nb!\n", to: "log")
        let log = try open()
        same(log.values, ["x": "1", "y": "2"])
        same(record.damage.map(\.line), [2, 6])
        try SystemFileSystem().rename(folder.path("log"), to: folder.path("log~"))
        try folder.write("!a\nx=1.\n!c\n", to: "log")
        try log.catchUp()
        same(record.damage.map(\.line), [2, 6, 3])
    }

    @Test
    func refusedFileIsNeverWritten() throws {
        let log = try open()
        try log.set("x", "1")
        try folder.append("y=2.\nrefuse\n", to: "log")
        for _ in 1...2 {
            #expect(throws: LogError.self) { try log.set("x", "2") }
            #expect(throws: LogError.self) { try log.catchUp() }
        }
        try same(folder.read("log"), "x=1.\ny=2.\nrefuse\n")
        #expect(throws: LogError.self) { try open() }
        try folder.write("x=5.\n", to: "log")
        try log.set("x", "2")
        try same(folder.read("log"), "x=5.\nx=2.\n")
    }

    @Test
    func waitForAStoppedLockHolderIsLimited() throws {
        let log = try open()
        try log.set("x", "1")
        let fileSystem = FaultyFileSystem()
        let other = try open("log", fileSystem)
        let holder = try SystemFileSystem().open(folder.path("log"), for: .appending)
        #expect(try SystemFileSystem().lock(holder))
        let error = #expect(throws: LogError.self) { try other.set("x", "2") }
        guard case .busy(_, .seconds(5)) = error else {
            Issue.record("not busy: \(String(describing: error))")
            return
        }
        #expect(fileSystem.now() >= .seconds(5))
        same(other.values, ["x": "1"])
        try SystemFileSystem().unlock(holder)
        try other.set("x", "2")
        try same(folder.read("log"), "x=1.\nx=2.\n")
    }

    /// While a thread waits for the lock that another process holds, the others use the log.
    @Test
    func otherThreadsDoNotWaitForALockHolder() throws {
        let fileSystem = FaultyFileSystem()
        let worker = StoppedWorker()
        let log = try open("log", fileSystem, worker.queue)
        try log.set("x", "1")
        let holder = try SystemFileSystem().open(folder.path("log"), for: .appending)
        #expect(try SystemFileSystem().lock(holder))
        let pauses = Counter()
        fileSystem.beforeEachSleep { [folder] in
            guard pauses.next() == 10 else { return }
            // Called on the waiting thread, so that a lock it holds would never be free.
            same(log.core.withLockIfAvailable { _ in true }, true)
            #expect(log.isWritable && log.values == ["x": "1"])
            do {
                try folder.append("y=2.\n", to: "log")
                try log.catchUp()
                try log.sync()
                try SystemFileSystem().unlock(holder)
            } catch { Issue.record(error) }
        }
        try log.set("x", "2")
        #expect(pauses.value == 10 && log.values == ["x": "2", "y": "2"])
    }

    @Test
    func longLineIsReadWhole() throws {
        let value = String(repeating: "v", count: rounds(3 << 20))
        let log = try open()
        try log.set("x", value)
        try log.set("y", "1")
        try same(open().values, ["x": value, "y": "1"])
    }
}
