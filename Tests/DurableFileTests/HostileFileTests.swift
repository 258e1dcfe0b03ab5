import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

struct HostileFileTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ name: String = "log", path: String? = nil) throws -> LogFile<TextContents> {
        return try .open(path ?? folder.path(name), record: record)
    }

    private func kind(of error: LogError?) -> FileStatus.Kind? {
        if case .notAFile(_, let kind) = error { kind } else { nil }
    }

    #if os(Linux)
    private static let devices = ["/dev/zero", "/dev/full", "/dev/null"]
    #else
    private static let devices = ["/dev/zero", "/dev/null"]
    #endif

    @Test(arguments: [("pipe", FileStatus.Kind.pipe), ("folder", .folder)] + devices.map { ($0, .device) })
    func whatIsNoFileIsRefusedAtOnce(_ path: String, _ expected: FileStatus.Kind) throws {
        mkfifo(folder.path("pipe"), 0o600)
        try SystemFileSystem().makeFolder(folder.path("folder"))
        let error = #expect(throws: LogError.self) {
            try open(path: expected == .device ? path : folder.path(path))
        }
        same(kind(of: error), expected)
    }

    @Test
    func pipeThatTakesTheFilesPlaceIsRefusedAtOnce() throws {
        let log = try open()
        try log.set("a", "1")
        try SystemFileSystem().remove(folder.path("log"))
        mkfifo(folder.path("log"), 0o600)
        for error in [
            #expect(throws: LogError.self) { try log.set("a", "2") },
            #expect(throws: LogError.self) { try log.catchUp() },
        ] { same(kind(of: error), .pipe) }
        try SystemFileSystem().remove(folder.path("log"))
        try log.set("a", "3")
        try same(folder.read("log"), "a=3.\n")
    }

    @Test
    func pipeBetweenLookAndOpenIsRefusedBeforeItIsRead() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("a=1.\n", to: "log")
        let isFirst = Counter()
        fileSystem.beforeEachCall { [folder] call, path in
            guard call == "open", path == folder.path("log"), isFirst.next() == 1 else { return }
            do { try SystemFileSystem().remove(path) } catch { Issue.record(error) }
            mkfifo(path, 0o600)
        }
        let log = LogFile<TextContents>(path: folder.path("log"), fileSystem: fileSystem, watcher: nil)
        let error = #expect(throws: LogError.self) { try log.load(observer: record.observer) }
        same(kind(of: error), .pipe)
        #expect(!fileSystem.calls.contains("pread"))
    }

    @Test
    func loopingLinkIsAnError() throws {
        try folder.link("log", to: "other")
        try folder.link("other", to: "log")
        let error = #expect(throws: LogError.self) { try open() }
        guard case .failed(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        same(cause.code, .tooManyLinks)
    }

    /// A link to a file and to a folder that don't exist yet, and to a folder that exists.
    @Test(arguments: [
        ("log", "new/folder/file", "log", "new/folder/file"), ("link", "new/folder", "link/log", "new/folder/log"),
        ("link", "real", "link/log", "real/log"),
    ])
    func fileAtALinkIsCreatedAndTheLinkStays(link: String, target: String, name: String, file: String) throws {
        try SystemFileSystem().makeFolder(folder.path("real"))
        try folder.link(link, to: target)
        let log = try open(name)
        #expect(log.values.isEmpty && log.isWritable)
        try log.set("a", "1")
        try log.sync()
        try log.compact()
        try same(folder.read(file), "a=1.\n")
        try same(SystemFileSystem().linkStatus(at: folder.path(link)).kind, .link)
    }

    @Test
    func fileInPlaceOfAFolderIsAnError() throws {
        try folder.write("", to: "a")
        #expect(throws: LogError.self) { try open("a/log") }
    }

    @Test(.enabled(if: geteuid() != 0, "root may write everywhere, so as root this shows nothing; run it as a user"))
    func readOnlyFileAndFolderCanBeReadAndSayWhyTheyCanNotBeWritten() throws {
        try folder.write("a=1.\n", to: "log")
        chmod(folder.path("log"), 0o400)
        chmod(folder.path, 0o500)
        defer { chmod(folder.path, 0o700) }
        for name in ["log", "new"] {
            let log = try open(name)
            let error = #expect(throws: LogError.self) { try log.set("a", "2") }
            guard case .readOnly = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    /// Another user who owns the folder or the file could choose which file is read and where root writes.
    @Test(arguments: ["real/file", "real"])
    func filesOfAnotherUserAreNotUsed(_ foreign: String) throws {
        let fileSystem = FaultyFileSystem()
        try SystemFileSystem().makeFolder(folder.path("real"))
        try folder.link("way", to: "real")
        try folder.write("a=1.\n", to: "real/file")
        try folder.link("log", to: "way/file")
        func open() throws -> LogFile<TextContents> {
            return try .open(folder.path("log"), fileSystem: fileSystem, record: record)
        }
        fileSystem.run(as: 0)
        for path in ["log", "real/file", "real", "way"] { fileSystem.give(folder.path(path), to: 0) }
        try same(open().values, ["a": "1"])
        fileSystem.give(folder.path(foreign), to: fileSystem.user + 1)
        if foreign == "real/file" { fileSystem.give(folder.path("log"), to: fileSystem.user + 1) }
        let error = #expect(throws: LogError.self) { try open() }
        guard case .foreignOwner(_, let owner) = error else {
            Issue.record("not that: \(String(describing: error))")
            return
        }
        same(owner, fileSystem.user + 1)
        for path in ["log", "real/file", "real", "way"] { fileSystem.give(folder.path(path), to: 0) }
        let log = try open()
        // No file is created if another user would own it.
        guard foreign != "real/file" else { return }
        fileSystem.give(folder.path(foreign), to: fileSystem.user + 1)
        try SystemFileSystem().remove(folder.path("real/file"))
        #expect(throws: LogError.self) { try log.set("a", "2") }
        #expect(try folder.names(in: "real").isEmpty)
    }

    /// As on overlay file systems, each of whose layers numbers its files separately.
    @Test
    func unstableIdentityIsAnErrorAfterAWhile() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("a=1.\n", to: "log")
        let log = try LogFile.open(folder.path("log"), fileSystem: fileSystem, record: record)
        fileSystem.disagree()
        let error = #expect(throws: LogError.self) { try log.set("a", "2") }
        guard case .unstableIdentity = error else {
            Issue.record("not that: \(String(describing: error))")
            return
        }
        #expect(fileSystem.now() >= .seconds(5))
        try same(folder.read("log"), "a=1.\n")
    }

    /// As when another machine has replaced a file on the network.
    @Test(arguments: ["stat", "flock", "write"])
    func staleFileIsOpenedAgainOnce(_ call: String) throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("a=1.\n", to: "log")
        let log = try LogFile.open(folder.path("log"), fileSystem: fileSystem, record: record)
        fileSystem.begin(.init(.error(.stale), calls: [call]))
        try log.set("a", "2")
        #expect(fileSystem.isFaultMet && fileSystem.calls.contains("open"))
        try same(folder.read("log"), "a=1.\na=2.\n")
        fileSystem.begin(.init(.error(.stale), isLasting: true, calls: [call]))
        #expect(throws: LogError.self) { try log.set("a", "3") }
    }

    @Test
    func waitsOfThreadsForOneLockDoNotAddUp() async throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("a=1.\n", to: "log")
        let log = try LogFile.open(folder.path("log"), fileSystem: fileSystem, record: record)
        let holder = try SystemFileSystem().open(folder.path("log"), for: .appending)
        #expect(try SystemFileSystem().lock(holder))
        let begin = fileSystem.clockReads
        // Wait until every thread has its deadline, which its first pause reads the clock for.
        fileSystem.beforeEachSleep { while fileSystem.clockReads < begin + 4 { sched_yield() } }
        await withTaskGroup { group in
            for number in 1...4 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        _ = WorkerQueue.startThread("test") {
                            #expect(throws: LogError.self) { try log.set("a", "\(number)") }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(fileSystem.now() < .seconds(6))
    }

    @Test(arguments: [FileSystemError.Code.accessDenied, .readOnlyFileSystem, .notPermitted])
    func readOnlyFileIsReadAndTheErrorSaysWhyItCanNotBeWritten(_ code: FileSystemError.Code) throws {
        try folder.write("a=1.\n", to: "log")
        let fileSystem = FaultyFileSystem()
        fileSystem.denyWriting(code)
        let log = try LogFile.open(folder.path("log"), fileSystem: fileSystem, record: record)
        same(log.values, ["a": "1"])
        try folder.append("b=1.\n", to: "log")
        try log.catchUp()
        same(log.values, ["a": "1", "b": "1"])
        try log.set("a", "1")
        let error = #expect(throws: LogError.self) { try log.set("a", "2") }
        guard case .readOnly(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        same(cause.code, code)
        fileSystem.denyWriting(nil)
        try log.set("a", "2")
        try same(folder.read("log"), "a=1.\nb=1.\na=2.\n")
    }

    @Test
    func tooLongLineIsSkippedAndKept() throws {
        try folder.write("a=1.\n", to: "log")
        let log = try open()
        let appender = try FileSystemAppender(path: folder.path("log"))
        log.core.withLock { $0.longestLine = 1 << 20 }
        try appender.append(String(repeating: "x", count: (1 << 20) + 1))
        try log.catchUp()
        same(record.damage, [])
        try appender.append("\nb=2.\n")
        try log.catchUp()
        same(record.damage.map(\.line), [2])
        same(log.values, ["a": "1", "b": "2"])
        try log.set("c", "3")
        try log.core.withLock { core throws(LogError) in try core.reload() }
        same(log.values, ["a": "1", "b": "2", "c": "3"])
    }

    @Test
    func fileCutAtEveryByteIsNoMoreThanItsLines() throws {
        let text = "a=1.\nb=22.\n\nc=3.\r\n!\na=4.\n"
        for count in 0...text.utf8.count {
            let part = String(decoding: text.utf8.prefix(count), as: UTF8.self)
            try folder.write(part, to: "log\(count)")
            let log = try LogFile.open(folder.path("log\(count)"), fileSystem: FaultyFileSystem(), record: record)
            try log.set("z", "1")
            try log.catchUp()
            try same(open("log\(count)").values, log.values)
            #expect(try folder.read("log\(count)").utf8.starts(with: part.utf8))
        }
    }

    // Other systems don't list a process's threads in a folder.
    #if os(Linux)
    @Test
    func manyOpeningsLeaveNoDescriptorAndNoThread() async throws {
        let watcher = Watcher()
        func count(_ folder: String) throws -> Int {
            try SystemFileSystem().names(inFolder: "/proc/self/" + folder).count
        }
        try folder.write("a=1.\n", to: "log")
        func round(_ number: Int) throws {
            let log = try LogFile.open(folder.path("log"), watcher: watcher)
            try log.set("a", "\(number)")
        }
        try round(0)
        let descriptors = try count("fd")
        let threads = try count("task")
        for number in 1...rounds(1_000) { try round(number) }
        // Threads end on their own; other tests of the process use some too.
        while try count("fd") > descriptors + 50 || count("task") > threads + 50 { await Task.yield() }
        while watcher.isRunning { await Task.yield() }
    }
    #endif
}
