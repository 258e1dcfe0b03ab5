import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

@Suite(.timeLimit(.minutes(60)))
struct DurabilityTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()
    private let fileSystem = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ name: String = "log", worker: WorkerQueue? = nil) throws -> LogFile<TextContents> {
        return try .open(folder.path(name), fileSystem: fileSystem, worker: worker, record: record)
    }

    /// The calls with a name, in order.
    private func calls(_ name: String) -> AsyncStream<String> {
        let (calls, called) = AsyncStream.makeStream(of: String.self)
        fileSystem.beforeEachCall { call, path in
            if call == name { called.yield(path) }
        }
        return calls
    }

    @Test
    func lineIsSyncedInTheBackground() throws {
        let worker = WorkerQueue(fileSystem: fileSystem, isManual: true)
        let log = try open(worker: worker)
        fileSystem.begin()
        try log.set("a", "1")
        _ = log.fetch()
        #expect(!fileSystem.calls.contains("fdatasync"))
        #expect(worker.runNextJob())
        #expect(fileSystem.calls.contains("fdatasync"))
        // There is nothing to tidy once the file is idle.
        #expect(!worker.runNextJob())
        withExtendedLifetime(log) {}
    }

    @Test
    func releasedLogIsSyncedOnceAgain() async throws {
        let syncs = calls("fdatasync")
        try open().set("a", "1")
        await same(syncs.first { _ in true }, folder.path("log"))
    }

    @Test
    func syncedBytesAreNotSyncedAgain() throws {
        let log = try open()
        try log.set("a", "1")
        try log.sync()
        fileSystem.begin()
        try log.sync()
        same(fileSystem.calls, [])
        try log.set("a", "2")
        fileSystem.begin()
        try log.sync()
        same(fileSystem.calls, ["fdatasync"])
    }

    /// Returns all folders on the path, from the file's own up to the root.
    private func foldersAbove(_ name: String) -> [String] {
        let parts = folder.path(name).split(separator: "/").dropLast()
        return (0...parts.count).reversed().map { "/" + parts.prefix($0).joined(separator: "/") }
    }

    /// Records the paths for which `fsync` is called.
    private func noteSyncs() -> @Sendable () -> [String] {
        let synced = Log()
        fileSystem.beforeEachCall { call, path in
            if call == "fsync" { synced.paths.withLock { $0.append(path) } }
        }
        return { synced.paths.withLock { $0 } }
    }

    private final class Log: Sendable {
        let paths = Lock<[String]>([])
    }

    @Test(arguments: ["log", "a/b/log"])
    func fileIsSyncedWithAllFoldersThatLeadToItBeforeItCountsAsDurable(_ name: String) throws {
        // The process that created the folders might have died before it synced them.
        for above in ["a", "a/b"] { try SystemFileSystem().makeFolder(folder.path(above)) }
        try folder.write("a=1.\n", to: name)
        let log = try open(name)
        fileSystem.begin()
        let synced = noteSyncs()
        try log.sync()
        same(fileSystem.calls.first { $0.hasSuffix("sync") }, "fdatasync")
        same(synced(), foldersAbove(name))
    }

    @Test
    func createdFoldersAreSyncedAlsoIfTheFileIsCompactedFirst() throws {
        let log = try open("a/b/log")
        try log.set("x", "1")
        let synced = noteSyncs()
        try log.compact()
        try log.sync()
        #expect(Set(foldersAbove("a/b/log")).isSubset(of: synced()))
    }

    @Test
    func unreadableFolderAboveIsSkipped() throws {
        let log = try open()
        try log.set("x", "1")
        // The second `open` of the sync is that of the folder above.
        fileSystem.begin(.init(.error(.accessDenied), at: 1, calls: ["open"]))
        try log.sync()
        #expect(fileSystem.isFaultMet)
    }

    @Test
    func threadsThatWaitShareOneSync() async throws {
        let file = try SystemFileSystem().open(folder.path("log"), for: .creating)
        let sync = FileSync(file, folders: [], fileSystem: fileSystem)
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let gate = Condition(false)
        fileSystem.beforeEachCall { call, _ in
            enter.yield()
            gate.wait { isOpen in isOpen ? .done(()) : .until(nil) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            func wait(until end: Int64) {
                group.addTask {
                    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                        let isStarted = WorkerQueue.startThread("waiter") {
                            continuation.resume(with: Result { try sync.sync(upTo: end) })
                        }
                        #expect(isStarted)
                    }
                }
            }
            wait(until: 1)
            _ = await entered.first { _ in true }
            for end in 2...9 { wait(until: Int64(end)) }
            while sync.requested < 9 { await Task.yield() }
            gate.signal { $0 = true }
            try await group.waitForAll()
        }
        // One sync for the first thread, and one for the eight that came while it ran.
        same(fileSystem.calls, ["fdatasync", "fdatasync"])
    }

    @Test
    func failedSyncIsReportedToAllWaitersAndNeverTriedAgain() throws {
        let file = try SystemFileSystem().open(folder.path("log"), for: .creating)
        let sync = FileSync(file, folders: [], fileSystem: fileSystem)
        fileSystem.begin(.init(.error(.inputOutput), calls: ["fdatasync"]))
        for _ in 1...3 {
            let error = #expect(throws: FileSystemError.self) { try sync.sync(upTo: 1) }
            same(error?.code, .inputOutput)
        }
        same(sync.restarted().failure?.code, .inputOutput)
        same(fileSystem.calls, ["fdatasync"])
    }

    @Test
    func failedBackgroundSyncIsReportedAndTheFileReplaced() throws {
        let worker = WorkerQueue(fileSystem: fileSystem, isManual: true)
        let log = try open(worker: worker)
        fileSystem.begin(.init(.error(.inputOutput), calls: ["fdatasync"]))
        try log.set("a", "1")
        while worker.runNextJob() {}
        same(record.errors.count, 1)
        #expect(fileSystem.calls.contains("rename"))
        try log.sync()
        try same(folder.read("log"), "a=1.\n")
    }
}

struct SystemFileSystemTests {
    @Test
    func statusEqualsThatOfStatHoweverItIsRequested() throws {
        let folder = try TemporaryFolder()
        try folder.write("a=1.\n", to: "file")
        try folder.link("link", to: "file")
        let fileSystem = SystemFileSystem()
        let file = try fileSystem.open(folder.path("file"), for: .reading)
        var record = stat()
        try #require(stat(file.path, &record) == 0)
        let status = FileStatus(
            identity: FileIdentity(device: UInt64(record.st_dev), inode: UInt64(record.st_ino)),
            kind: .file,
            size: 5,
            mode: UInt32(record.st_mode) & 0o7777,
            owner: record.st_uid,
            group: record.st_gid
        )
        try same(fileSystem.status(file), status)
        try same(fileSystem.status(at: folder.path("link")), status)
        try same(fileSystem.linkStatus(at: folder.path("link")).kind, .link)
    }

    @Test
    func interruptedCallIsMadeAgain() throws {
        var results: [Int] = [-1, -1, 7]
        let result = try SystemFileSystem.retrying("call", "path") { () -> Int in
            errno = EINTR
            return results.removeFirst()
        }
        same(result, 7)
        let error = #expect(throws: FileSystemError.self) {
            try SystemFileSystem.retrying("call", "path") { () -> Int in
                errno = EIO
                return -1
            }
        }
        same(error, FileSystemError("call", "path", .inputOutput))
        same(error?.description, "call path: Input/output error")
    }
}
