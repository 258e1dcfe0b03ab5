import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

@Suite(.timeLimit(.minutes(60)))
struct WatcherTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()

    /// Lines that make a file so large that it isn't compared as a whole at each event.
    private static let largeFiller = (0..<600).map { "filler\($0)=\(String(repeating: "x", count: 2_000)).\n" }.joined()

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ name: String = "log",
        record: ObserverRecord? = nil,
        _ watcher: Watcher = Watcher()
    ) throws -> LogFile<TextContents> {
        let log = try LogFile.open(folder.path(name), watcher: watcher, record: record ?? self.record)
        _ = log.fetch()
        return log
    }

    /// Waits until the log holds the values because its watcher reported them, and not because of a call.
    private func expect(_ values: [String: String], in log: LogFile<TextContents>) async {
        await record.wait { log.fetch() == values }
    }

    @Test
    func appendedLineIsReported() async throws {
        try folder.write("a=1.\n", to: "log")
        let log = try open()
        try folder.append("b=2.\n", to: "log")
        await expect(["a": "1", "b": "2"], in: log)
    }

    @Test
    func lineOfAnotherLogIsReported() async throws {
        let (log, other) = (try open(), try open(record: ObserverRecord()))
        for number in 1...20 {
            try other.set("n", "\(number)")
            await expect(["n": "\(number)"], in: log)
        }
    }

    @Test
    func fileInFoldersThatAreMadeLaterIsSeen() async throws {
        let log = try open("a/b/c/log")
        let other = try open("a/b/c/log", record: ObserverRecord())
        try other.set("x", "1")
        await expect(["x": "1"], in: log)
    }

    @Test
    func replacedFileIsSeen() async throws {
        try folder.write("a=1.\n", to: "log")
        let log = try open()
        try folder.write("a=2.\n", to: "new")
        try SystemFileSystem().rename(folder.path("new"), to: folder.path("log"))
        await expect(["a": "2"], in: log)
        try folder.append("b=1.\n", to: "log")
        await expect(["a": "2", "b": "1"], in: log)
    }

    @Test
    func newFileOfABusyWriterIsSeenWhileItWrites() async throws {
        let log = try open()
        let writer = try open(record: ObserverRecord())
        let isSeen = Lock(false)
        let writing = Task.detached {
            var number = 0
            while !isSeen.withLock({ $0 }) {
                number += 1
                try writer.set("n", "\(number)")
                if number % 100 == 0 { try writer.compact() }
            }
        }
        for _ in 1...20 {
            let last = log.fetch()["n"]
            await record.wait { log.fetch()["n"] != last }
        }
        isSeen.withLock { $0 = true }
        try await writing.value
    }

    #if os(Linux)
    @Test
    func eventsAreReadAPieceAtATime() throws {
        let fileSystem = SystemFileSystem()
        let queue = try #require(try fileSystem.makeEventQueue())
        _ = try fileSystem.addWatch(queue, folder: folder.path(""), namesOnly: false)
        for number in 0..<1000 { try folder.write("", to: "file\(number)") }
        var names: [String] = []
        var pieces = 0
        while case let events = try fileSystem.events(queue), !events.isEmpty {
            names += events.map(\.name)
            pieces += 1
        }
        #expect(Set(names).count == 1000 && pieces > 1)
    }
    #endif

    @Test
    func removedAndRemadeFileIsSeen() async throws {
        try folder.write("a=1.\n", to: "log")
        let log = try open()
        try SystemFileSystem().remove(folder.path("log"))
        await expect([:], in: log)
        try folder.append("b=1.\n", to: "log")
        await expect(["b": "1"], in: log)
    }

    @Test(arguments: ["a=2.\n", "a=1.\nb=3.\n", ""])
    func fileRewrittenInPlaceIsSeen(_ text: String) async throws {
        try folder.write("a=1.\nb=2.\n", to: "log")
        let log = try open()
        try folder.truncate("log", andWrite: text)
        let reader = try LogFile.open(folder.path("log"))
        await expect(reader.values, in: log)
    }

    @Test
    func changeDeepInALargeFileIsSeenAfterAClose() async throws {
        let filler = Self.largeFiller
        try folder.write("a=1.\n" + filler, to: "log")
        let log = try open()
        same(log.values.count, 601)
        try folder.overwrite("log", with: "a=2.\n")
        await record.wait { log.fetch()["a"] == "2" }
    }

    /// The change is before the bytes at the end, which are compared each time.
    @Test
    func changeInPlaceWithALineBehindItIsSeenAfterAClose() async throws {
        try folder.write("a=1.\n" + Self.largeFiller, to: "log")
        let log = try open()
        let file = try #require(fopen(folder.path("log"), "r+"))
        fputs("a=2.\n", file)
        fseek(file, 0, SEEK_END)
        fputs("b=1.\n", file)
        fclose(file)
        await record.wait { log.fetch()["b"] == "1" && log.fetch()["a"] == "2" }
    }

    @Test
    func changeInPlaceByAProgramThatKeepsTheFileOpenIsSeen() async throws {
        try folder.write("a=1.\nb=1.\n", to: "log")
        let log = try open()
        let file = try #require(fopen(folder.path("log"), "r+"))
        for round in 2...5 {
            rewind(file)
            fputs("a=\(round).\n", file)
            fflush(file)
            await expect(["a": "\(round)", "b": "1"], in: log)
        }
        fclose(file)
    }

    @Test
    func appendedLineLeavesNothingToCompare() throws {
        try folder.write("a=1.\n", to: "log")
        let fileSystem = FaultyFileSystem()
        let log = try LogFile.open(folder.path("log"), fileSystem: fileSystem, record: record)
        func look() throws -> Bool? {
            try log.core.withLock { core throws(LogError) in try core.check(.appended) }?.isComplete
        }
        try same(look(), false, "nothing shows what happened")
        let appender = try FileSystemAppender(path: folder.path("log"))
        for text in ["b=2.\n", "c=3.\nd=4.\n"] {
            try appender.append(text)
            try same(look(), true)
            try same(look(), false)
        }
        try log.set("a", "2")
        try same(look(), true)
        try appender.append("e=5")
        try same(look(), false, "the line has no end yet")
        try appender.append(".\n")
        try same(look(), true)
        try folder.truncate("log", andWrite: "a=1.\n")
        try same(look(), false)
    }

    @Test
    func completeFindingIsNotLookedAtAgainUnlessTheFileWasClosed() {
        let fileSystem = FaultyFileSystem()
        var state = WatcherState()
        let grown = WatchFinding(isBlank: false, hasChanges: true, isComplete: true)
        let (number, _) = state.add(folder.path("log"), { _ in grown }, fileSystem)
        state.note(number, .init(isWhole: false), grown, at: .zero)
        same(state.deadline, nil)
        state.note(number, .init(isWhole: true), grown, at: .zero)
        same(state.deadline, QuietTimer.quiet)
        state.note(number, .init(isWhole: false), grown, at: .milliseconds(5))
        same(state.deadline, .milliseconds(15), "it is not at rest")
        let idle = state.idle(at: .milliseconds(15), except: [:])
        #expect(idle == [number: .init(isWhole: true)] && state.deadline == nil)
        state.note(number, .init(isWhole: false), nil, at: .milliseconds(20))
        same(state.deadline, .milliseconds(30), "it could not be looked at")
    }

    @Test
    func renamedFolderTakesItsFileAlong() async throws {
        try SystemFileSystem().makeFolder(folder.path("a"))
        try folder.write("a=1.\n", to: "a/log")
        let log = try open("a/log")
        try SystemFileSystem().rename(folder.path("a"), to: folder.path("b"))
        await expect([:], in: log)
        try SystemFileSystem().rename(folder.path("b"), to: folder.path("a"))
        await expect(["a": "1"], in: log)
    }

    @Test
    func linkedFileAndChangedLinkAreSeen() async throws {
        for name in ["one", "two"] { try SystemFileSystem().makeFolder(folder.path(name)) }
        try folder.write("a=1.\n", to: "one/file")
        try folder.write("a=2.\n", to: "two/file")
        try folder.link("log", to: "one/file")
        let log = try open()
        try folder.append("b=1.\n", to: "one/file")
        await expect(["a": "1", "b": "1"], in: log)
        try folder.link("new", to: "two/file")
        try SystemFileSystem().rename(folder.path("new"), to: folder.path("log"))
        await expect(["a": "2"], in: log)
        try folder.append("b=2.\n", to: "two/file")
        await expect(["a": "2", "b": "2"], in: log)
    }

    /// As when a backup is restored, or a link to a folder of another version is swapped.
    @Test(arguments: ["", "/b"])
    func folderAboveTheFileThatIsReplacedIsSeen(_ depth: String) async throws {
        for place in ["a", "new"] {
            try SystemFileSystem().makeFolder(folder.path(place))
            try SystemFileSystem().makeFolder(folder.path(place + "/b"))
            try folder.write("\(place)=1.\n", to: place + "/b/log")
        }
        let log = try open("a/b/log")
        try SystemFileSystem().rename(folder.path("a" + depth), to: folder.path("old"))
        try SystemFileSystem().rename(folder.path("new" + depth), to: folder.path("a" + depth))
        await expect(["new": "1"], in: log)
        try folder.append("x=1.\n", to: "a/b/log")
        await expect(["new": "1", "x": "1"], in: log)
    }

    @Test
    func linkToAFolderThatIsSwappedIsSeen() async throws {
        for place in ["first", "second"] {
            try SystemFileSystem().makeFolder(folder.path(place))
            try folder.write("\(place)=1.\n", to: place + "/log")
        }
        try folder.link("current", to: "first")
        let log = try open("current/log")
        try folder.link("next", to: folder.path("second"))
        try SystemFileSystem().rename(folder.path("next"), to: folder.path("current"))
        await expect(["second": "1"], in: log)
        try folder.append("x=1.\n", to: "second/log")
        await expect(["second": "1", "x": "1"], in: log)
    }

    @Test
    func observerThatWaitsDelaysNoOtherFile() async throws {
        let watcher = Watcher()
        let (isCalled, called) = AsyncStream.makeStream(of: Void.self)
        let gate = Condition(false)
        let slow = LogFile<TextContents>(path: folder.path("slow"), watcher: watcher)
        let observer = LogObserver(
            changed: {
                called.yield()
                gate.wait { $0 ? .done(()) : .until(nil) }
            },
            damaged: { _ in },
            failed: { _ in }
        )
        try slow.load(observer: observer)
        let log = try open("log", watcher)
        try folder.append("a=1.\n", to: "slow")
        _ = await isCalled.first { true }
        try folder.append("b=1.\n", to: "log")
        await expect(["b": "1"], in: log)
        gate.signal { $0 = true }
        // The thread that waited has ended, and the other one watches both files.
        try folder.append("c=1.\n", to: "log")
        await expect(["b": "1", "c": "1"], in: log)
        try folder.append("d=1.\n", to: "slow")
        _ = await isCalled.first { true }
    }

    /// Each observer is called once, because none is called by the thread that watches while others wait.
    @Test
    func observersThatWaitDelayNoFileThatHasChangedWithTheirs() async throws {
        // All files are looked at together when the events are requested.
        let watcher = Watcher(startingAfter: .milliseconds(200))
        let gate = Condition(false)
        let names = ["slow1"] + (1...8).map { "log\($0)" } + ["slow2"]
        let (reports, reported) = AsyncStream.makeStream(of: String.self)
        let logs = try names.map { name in
            let log = LogFile<TextContents>(path: folder.path(name), watcher: watcher)
            let observer = LogObserver(
                changed: { [weak log] in
                    _ = log?.fetch()
                    reported.yield(name)
                    if name.hasPrefix("slow") { gate.wait { $0 ? .done(()) : .until(nil) } }
                },
                damaged: { _ in },
                failed: { _ in }
            )
            try log.load(observer: observer)
            return log
        }
        for name in names { try folder.append("a=1.\n", to: name) }
        var unreported = Set(names)
        for await name in reports {
            #expect(unreported.remove(name) != nil, "\(name) is reported twice")
            if unreported.isEmpty { break }
        }
        gate.signal { $0 = true }
        withExtendedLifetime(logs) {}
    }

    @Test
    func setThatWaitsForTheLockDelaysNoOtherFile() async throws {
        let watcher = Watcher()
        try folder.write("a=1.\n", to: "slow")
        let fileSystem = FaultyFileSystem()
        fileSystem.startClock()
        let slow = try LogFile.open(
            folder.path("slow"),
            fileSystem: fileSystem,
            lockTimeout: .seconds(3600),
            watcher: watcher
        )
        let log = try open("log", watcher)
        let holder = try SystemFileSystem().open(folder.path("slow"), for: .appending)
        #expect(try SystemFileSystem().lock(holder))
        let (isWaiting, waiting) = AsyncStream.makeStream(of: Void.self)
        fileSystem.beforeEachCall { call, _ in
            if call == "flock" { waiting.yield() }
        }
        let (isSet, set) = AsyncStream.makeStream(of: Void.self)
        // On a new thread, as tasks have only few.
        _ = WorkerQueue.startThread("test") {
            do { try slow.set("a", "2") } catch { Issue.record(error) }
            set.yield()
        }
        _ = await isWaiting.first { true }
        // More than once, as the watcher might call the file that isn't slow first.
        for round in 1...8 {
            try folder.append("x=\(round).\n", to: "slow")
            try folder.append("b=\(round).\n", to: "log")
            await expect(["b": "\(round)"], in: log)
        }
        try SystemFileSystem().unlock(holder)
        _ = await isSet.first { true }
    }

    @Test(arguments: ["inotify_init1", "inotify_add_watch", "read", "statfs", "lstat", "poll"])
    func fileWithoutEventsIsPolled(_ call: String) async throws {
        let fileSystem = FaultyFileSystem()
        fileSystem.startClock()
        fileSystem.begin(.init(.error(.tooManyFiles), isLasting: true, calls: [call]))
        let log = try open("log", Watcher(fileSystem: fileSystem))
        try folder.append("a=1.\n", to: "log")
        await expect(["a": "1"], in: log)
        try folder.truncate("log", andWrite: "a=2.\n")
        await expect(["a": "2"], in: log)
    }

    @Test
    func eventsAreRequestedAfterTheDelay() {
        let fileSystem = FaultyFileSystem()
        fileSystem.begin()
        var state = WatcherState(startingAfter: .milliseconds(50))
        let begin = fileSystem.now()
        let (number, thread) = state.add(
            folder.path("log"),
            { _ in WatchFinding(isBlank: true, hasChanges: false) },
            fileSystem
        )
        #expect(thread != nil && state.queue == nil && !fileSystem.calls.contains("inotify_init1"))
        let due = state.deadline
        same(due.map { $0 >= begin + .milliseconds(50) }, true)
        #expect(state.started(at: begin, fileSystem).isEmpty && state.queue == nil)
        let hits = state.started(at: due ?? .zero, fileSystem)
        #expect(hits == [number: WatcherState.Hit(isWhole: true)] && state.queue != nil && state.deadline == nil)
        #expect(state.started(at: due ?? .zero, fileSystem).isEmpty)
        _ = state.add(folder.path("later"), { _ in WatchFinding(isBlank: true, hasChanges: false) }, fileSystem)
        same(state.deadline, nil)
    }

    /// The watcher might look at a file before its log has read it. It must not remove the damage, which `load` reports
    /// before it returns.
    @Test
    func damageIsReportedByTheLoadThatMeetsIt() throws {
        try folder.write("!\n", to: "log")
        let log = LogFile<TextContents>(path: folder.path("log"), watcher: nil)
        let finding = try log.core.withLock { core throws(LogError) in try core.check(.appended) }
        #expect(finding == nil)
        try log.load(observer: record.observer)
        same(record.damage.count, 1)
        #expect(log.core.withLock { !$0.damage.isUnreported })
    }

    @Test
    func changeBeforeTheEventsWereRequestedIsReported() async throws {
        let filler = Self.largeFiller
        try folder.write("a=1.\n" + filler, to: "log")
        let log = try open("log", Watcher(startingAfter: .milliseconds(50)))
        try folder.overwrite("log", with: "a=2.\n")
        await record.wait { log.fetch()["a"] == "2" }
        try folder.append("b=1.\n", to: "log")
        await record.wait { log.fetch()["b"] == "1" }
    }

    @Test
    func watcherOfNothingHasNoThreadAndNoQueue() throws {
        let watcher = Watcher()
        let watches = ["a", "b"].map { name in
            watcher.watch(folder.path(name)) { _ in WatchFinding(isBlank: true, hasChanges: false) }
        }
        #expect(watcher.isRunning)
        withExtendedLifetime(watches) {}
        _ = consume watches
        #expect(!watcher.isRunning)
    }
}
