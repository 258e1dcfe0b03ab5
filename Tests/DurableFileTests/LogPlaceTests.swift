import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

/// Folders that can't be entered, owners, files of other kinds and programs that save in place.
struct LogPlaceTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()
    private let fileSystem = FaultyFileSystem()
    private let worker = StoppedWorker()

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ name: String = "log",
        isReadOnly: Bool = false,
        trustsOwners: Bool = false
    ) throws -> LogFile<TextContents> {
        return try .open(
            folder.path(name),
            isReadOnly: isReadOnly,
            trustsOwners: trustsOwners,
            fileSystem: fileSystem,
            worker: worker.queue,
            record: record
        )
    }

    // MARK: Folders that can't be entered

    @Test
    func fileInAFolderThatCanNotBeEnteredIsMissing() throws {
        try folder.write("a=1.\n", to: "log")
        fileSystem.begin(
            .init(.error(.accessDenied), isLasting: true, calls: ["stat", "lstat"], path: folder.path("log"))
        )
        let log = try open(isReadOnly: true)
        for _ in 1...2 { try log.catchUp() }
        #expect(log.values.isEmpty)
        guard case .hidden = record.errors.first, record.errors.count == 1 else {
            Issue.record("\(record.errors)")
            return
        }
        // Once it is known to exist, its values stay.
        fileSystem.end()
        try log.catchUp()
        same(log.values, ["a": "1"])
        fileSystem.begin(
            .init(.error(.accessDenied), isLasting: true, calls: ["stat", "lstat"], path: folder.path("log"))
        )
        #expect(throws: LogError.self) { try log.catchUp() }
        same(log.values, ["a": "1"])
    }

    @Test
    func fileBehindALinkIsNotMissing() throws {
        fileSystem.begin(.init(.error(.accessDenied), isLasting: true, calls: ["stat"], path: folder.path("log")))
        try folder.link("log", to: "elsewhere")
        #expect(throws: LogError.self) { try open(isReadOnly: true) }
    }

    @Test
    func fileInAFileIsMissing() throws {
        try folder.write("text", to: "file")
        #expect(try open("file/log", isReadOnly: true).values.isEmpty && record.errors.isEmpty)
        #expect(throws: LogError.self) { try open("file/log") }
    }

    @Test
    func folderThatCanNotBeEnteredIsWatchedFromOutside() throws {
        try SystemFileSystem().makeFolder(folder.path("closed"))
        let path = folder.path("closed/log")
        fileSystem.begin(.init(.error(.accessDenied), isLasting: true, calls: ["lstat"], path: path))
        let entries = try LogPath(path: path).walk(fileSystem).entries
        same(entries.last, WatchedEntry(folder: folder.path, name: "closed"))
    }

    // MARK: Owners

    @Test(arguments: ["log", ""])
    func userOtherThanRootUsesTheFilesOfOthers(_ foreign: String) throws {
        try folder.write("a=1.\n", to: "log")
        fileSystem.run(as: 1000)
        for path in ["", "log"] {
            fileSystem.give(path.isEmpty ? folder.path : folder.path(path), to: path == foreign ? 1001 : 1000)
        }
        try same(open().values, ["a": "1"])
    }

    @Test
    func rootUsesTheFilesOfOthersIfItTrustsThem() throws {
        try folder.write("a=1.\n", to: "log")
        fileSystem.run(as: 0)
        fileSystem.give(folder.path("log"), to: 1000)
        #expect(throws: LogError.self) { try open() }
        let log = try open(trustsOwners: true)
        try log.set("b", "2")
        try same(folder.read("log"), "a=1.\nb=2.\n")
    }

    @Test(arguments: [(UInt32(0o2775), UInt32(0o660)), (0o2755, 0o600), (0o775, 0o600), (0o700, 0o600)])
    func newFileIsItsGroupsInAFolderThatAGroupShares(_ mode: UInt32, _ expected: UInt32) throws {
        let system = SystemFileSystem()
        try system.makeFolder(folder.path("shared"))
        try system.setMode(try system.open(folder.path("shared"), for: .folder), mode)
        let log = try open("shared/log")
        try log.set("a", "1")
        try same(system.status(at: folder.path("shared/log")).mode, expected)
        try log.set("a", "2")
        try log.compact()
        try same(system.status(at: folder.path("shared/log")).mode, expected)
    }

    /// The file of another user, whose mode only that one can change.
    @Test
    func emptyFileOfAnotherUserIsUsedInAFolderThatAGroupShares() throws {
        let system = SystemFileSystem()
        try system.makeFolder(folder.path("shared"))
        try system.setMode(try system.open(folder.path("shared"), for: .folder), 0o2775)
        let log = try open("shared/log")
        fileSystem.begin(.init(.error(.notPermitted), isLasting: true, calls: ["fchmod"]))
        try log.set("a", "1")
        try same(folder.read("shared/log"), "a=1.\n")
    }

    // MARK: Files of another kind

    @Test
    func fileOfAnotherKindIsUsedOnceItIsAdopted() throws {
        try folder.write("!x", to: "log")
        let log = try open()
        try log.adopt(with: Array("b=2.\n".utf8))
        try log.adopt(with: Array("c=2.\n".utf8))
        try log.set("a", "1")
        try same(folder.read("log"), "!x\nb=2.\na=1.\n")
    }

    @Test(arguments: [
        "!alias ls='ls -l'\n!export A=1\n", "!", "\n!x\n", "a\n!x", "!\0x\0\n", "\u{7f}ELF\0\u{1}!", "\0\0!ftyp\0\0!",
    ])
    func fileWithoutAnyEntryIsNotChanged(_ text: String) throws {
        try folder.write(text, to: "log")
        let log = try open()
        for error in [
            #expect(throws: LogError.self) { try log.set("a", "1") },
            #expect(throws: LogError.self) { try log.compact() },
        ] {
            guard case .foreign = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try folder.read("log") == text && folder.names() == ["log"])
        // It is used as soon as it has one.
        try folder.append((text.hasSuffix("\n") ? "" : "\n") + "b=2.\n", to: "log")
        try log.set("a", "1")
        same(log.values, ["a": "1", "b": "2"])
    }

    /// The first line as a loss of power might leave it.
    @Test(arguments: ["a", "a=1", "a=1\na", "\0\0\0!.\n", "\0\0\0", "\n\n", "!\0\0", "!\0a=1.\n"])
    func fileWithTheBeginningOfALineIsUsed(_ text: String) throws {
        try folder.write(text, to: "log")
        let log = try open()
        try log.set("b", "2")
        try log.compact()
        same(log.values, ["b": "2"])
    }

    // MARK: Programs that save in place

    /// Opens a log whose watcher looks at nothing.
    private func openWatched() throws -> LogFile<TextContents> {
        return try .open(
            folder.path("log"),
            fileSystem: fileSystem,
            watcher: Watcher(fileSystem: fileSystem, startingAfter: .seconds(10_000)),
            worker: worker.queue,
            record: record
        )
    }

    private func truncate() throws {
        let system = SystemFileSystem()
        try system.truncate(try system.open(folder.path("log"), for: .appending), to: 0)
    }

    @Test
    func setWaitsForATruncatedFileThatIsBeingSaved() throws {
        try folder.write("a=1.\nb=1.\n", to: "log")
        let log = try openWatched()
        try truncate()
        let calls = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "stat", calls.next() == 100 else { return }
            do { try folder.append("a=2.\nb=2.\n", to: "log") } catch { Issue.record(error) }
        }
        try log.catchUp()
        same(log.values, ["a": "1", "b": "1"])
        try log.set("c", "3")
        try same(folder.read("log"), "a=2.\nb=2.\nc=3.\n")
        same(log.values, ["a": "2", "b": "2", "c": "3"])
    }

    /// A refresh doesn't wait for the watcher to find what the size of a file doesn't show.
    @Test
    func changeInPlaceIsReadAtOnce() throws {
        try folder.write("a=1.\nb=1.\n", to: "log")
        let log = try openWatched()
        let system = SystemFileSystem()
        try system.truncate(try system.open(folder.path("log"), for: .appending), to: 0)
        try folder.append("a=2.\nb=1.\n", to: "log")
        try log.catchUp()
        same(log.values, ["a": "2", "b": "1"])
    }

    @Test
    func waitForASaveEndsAtTheDeadline() throws {
        try folder.write("a=1.\n", to: "log")
        let log = try openWatched()
        try truncate()
        let error = #expect(throws: LogError.self) {
            try log.append(within: .milliseconds(20), { $0.stage("b", "2") }, commit: { $0.commit() })
        }
        guard case .busy = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fileSystem.now() <= .milliseconds(20) && log.values == ["a": "1"])
        #expect(try folder.read("log").isEmpty)
    }

    /// Nothing tells when the program closes the file.
    @Test
    func setInAPolledFileWaitsForNoSave() throws {
        try folder.write("a=1.\n", to: "log")
        fileSystem.begin(.init(.error(.noSpace), isLasting: true, calls: ["inotify_add_watch"]))
        let log = try LogFile.open(
            folder.path("log"),
            fileSystem: fileSystem,
            watcher: Watcher(fileSystem: fileSystem),
            worker: worker.queue,
            record: record
        )
        try truncate()
        let begin = fileSystem.now()
        try log.set("b", "2")
        #expect(fileSystem.now() == begin && log.values == ["b": "2"])
        try same(folder.read("log"), "b=2.\n")
    }

    @Test
    func truncatedFileIsEmptyAfterASecond() throws {
        try folder.write("a=1.\n", to: "log")
        let log = try openWatched()
        try truncate()
        let begin = fileSystem.now()
        try log.catchUp()
        same(log.values, ["a": "1"])
        try log.set("b", "2")
        same(log.values, ["b": "2"])
        #expect(fileSystem.now() - begin >= .seconds(1))
    }

    @Test
    func fileThatIsTruncatedWhileItIsReadIsReadAgain() throws {
        let lines = (0..<40_000).map { "name\($0)=1.\n" }.joined()
        try folder.write(lines, to: "log")
        let reads = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "pread", reads.next() == 2 else { return }
            do { try folder.truncate("log", andWrite: "name0=2.\n") } catch { Issue.record(error) }
        }
        try same(open().values, ["name0": "2"])
    }

    // MARK: Programs that keep the old file open

    // A slash and a combining mark after it are one character of a string, and two names for the kernel.
    @Test
    func aNameMayBeginWithACombiningMark() throws {
        let name = "\u{308}log"
        same(LogPath(path: "/folder/\(name)").sibling("other"), "/folder/other")
        _ = try open(name)
        let walk = try LogPath(path: folder.path(name)).walk()
        same(walk.entries.last?.name, name)
        #expect(walk.real.utf8.suffix(name.utf8.count + 1).elementsEqual("/\(name)".utf8))
    }

    @Test
    func linesOfAProgramThatKeepsTheOldFileOpenAreKept() throws {
        let log = try LogFile.open(folder.path("log"), watcher: Watcher(), worker: worker.queue, record: record)
        for number in 1...3 { try log.set("a", "\(number)") }
        var appender: FileSystemAppender? = try FileSystemAppender(path: folder.path("log"))
        try log.compact()
        for _ in 1...50 { #expect(worker.queue.runNextJob()) }
        try appender?.append("b=2.\nc=")
        for _ in 1...50 { #expect(worker.queue.runNextJob()) }
        try same(folder.read("log"), "a=3.\nb=2.\n")
        try appender?.append("3.\nd=4.")
        appender = nil
        while worker.queue.runNextJob() {}
        try same(folder.read("log"), "a=3.\nb=2.\nc=3.\nd=4.\n")
    }
}
