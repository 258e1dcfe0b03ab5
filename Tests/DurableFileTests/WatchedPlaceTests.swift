import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

/// Files that change under another name, are saved in place, or are polled.
@Suite(.timeLimit(.minutes(60)))
struct WatchedPlaceTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()

    init() throws { folder = try TemporaryFolder() }

    private func open(_ watcher: Watcher = Watcher()) throws -> LogFile<TextContents> {
        let log = try LogFile.open(folder.path("log"), watcher: watcher, record: record)
        _ = log.fetch()
        return log
    }

    private func expect(_ values: [String: String], in log: LogFile<TextContents>) async {
        await record.wait { log.fetch() == values }
    }

    /// As a file that is mounted by itself, which changes under its name outside of the container.
    @Test(arguments: [false, true])
    func changeUnderAnotherNameIsSeen(isLinkedLater: Bool) async throws {
        try SystemFileSystem().makeFolder(folder.path("other"))
        try folder.write("a=1.\n", to: "log")
        if !isLinkedLater { try #require(link(folder.path("log"), folder.path("other/file")) == 0) }
        let log = try open()
        if isLinkedLater {
            try #require(link(folder.path("log"), folder.path("other/file")) == 0)
            // Events come in order, so that of the link has come.
            try folder.append("b=1.\n", to: "log")
            await expect(["a": "1", "b": "1"], in: log)
        }
        try folder.append("a=2.\n", to: "other/file")
        await expect(isLinkedLater ? ["a": "2", "b": "1"] : ["a": "2"], in: log)
    }

    // MARK: Saving in place

    private func deadline(after findings: [(FolderEvent.Kind, WatchFinding)]) -> Duration? {
        var state = WatcherState()
        let (number, _) = state.add(folder.path("log"), { _ in nil }, FaultyFileSystem())
        for (kind, finding) in findings {
            var hit = WatcherState.Hit(isWhole: false)
            hit.add(kind)
            state.note(number, hit, finding, at: .zero)
        }
        return state.deadline
    }

    @Test
    func truncatedFileIsWaitedForUntilItIsClosed() {
        let blank = WatchFinding(isBlank: true, isBeingSaved: true, hasChanges: false)
        let half = WatchFinding(isBlank: false, isBeingSaved: true, hasChanges: false)
        let whole = WatchFinding(isBlank: false, hasChanges: true)
        same(deadline(after: [(.content, blank)]), .seconds(1))
        same(deadline(after: [(.content, blank), (.content, half)]), .seconds(1))
        same(deadline(after: [(.content, blank), (.closed, blank)]), .milliseconds(100))
        same(deadline(after: [(.content, blank), (.content, half), (.closed, half)]), .milliseconds(10))
        same(deadline(after: [(.content, blank), (.content, whole)]), .milliseconds(10))
        same(deadline(after: [(.name, WatchFinding(isBlank: true, hasChanges: false))]), .milliseconds(100))
    }

    /// The look after an event, as the watcher has it.
    @Test
    func rewrittenFileMightBeIncomplete() throws {
        try folder.write("a=1.\nb=2.\n", to: "log")
        let log = try LogFile.open(folder.path("log"), record: record)
        let system = SystemFileSystem()
        try system.truncate(try system.open(folder.path("log"), for: .appending), to: 0)
        func look(_ scope: LogCore.Scope) throws -> WatchFinding? {
            try log.core.withLock { core throws(LogError) in try core.check(scope) }
        }
        #expect(try look(.appended)?.isBeingSaved == true && log.values == ["a": "1", "b": "2"])
        try folder.append("a=2.\n", to: "log")
        #expect(try look(.appended)?.isBeingSaved == true && log.values == ["a": "1", "b": "2"])
        #expect(try look(.compared(whole: true, isIdle: true))?.isBeingSaved == false && log.values == ["a": "2"])
        try system.remove(folder.path("log"))
        try same(look(.appended)?.isBeingSaved, false)
    }

    // MARK: Polling

    @Test
    func polledFileThatChangesAtTheSameTimeIsReadAgain() throws {
        try folder.write("a=1.\n", to: "log")
        let fileSystem = FaultyFileSystem()
        fileSystem.stopModificationTimes()
        fileSystem.begin(.init(.error(.tooManyFiles), isLasting: true, calls: ["inotify_init1"]))
        var state = WatcherState()
        let (number, _) = state.add(folder.path("log"), { _ in nil }, fileSystem)
        var time = Duration.zero
        func poll() -> Bool {
            time += WatcherState.pollInterval
            return state.touched(by: [], at: time, fileSystem)[number] != nil
        }
        #expect(poll() && poll(), "once more, as it might have changed at the same time")
        #expect(!poll())
        try folder.overwrite("log", with: "a=2.\n")
        #expect(poll() && poll() && !poll())
    }

    @Test(arguments: ["inotify_init1", "inotify_add_watch"])
    func fileIsWatchedOnceTheKernelHasAPlaceAgain(_ call: String) throws {
        let fileSystem = FaultyFileSystem()
        fileSystem.begin(.init(.error(.noSpace), isLasting: true, calls: [call]))
        var state = WatcherState()
        let (number, _) = state.add(folder.path("log"), { _ in nil }, fileSystem)
        #expect(state.deadline != nil)
        fileSystem.end()
        var hits: WatcherState.Hits = [:]
        for poll in 1...WatcherState.pollsBeforeArming {
            hits = state.touched(by: [], at: WatcherState.pollInterval * poll, fileSystem)
        }
        same(hits[number], .init(isWhole: true))
        _ = state.touched(by: [], at: WatcherState.pollInterval * (WatcherState.pollsBeforeArming + 1), fileSystem)
        same(state.deadline, nil)
    }
}
