import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import DurableFile

struct CompactionTests {
    private let folder: TemporaryFolder
    private let record = ObserverRecord()
    private let worker = StoppedWorker()

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ name: String = "log",
        _ fileSystem: any FileSystem = SystemFileSystem()
    ) throws -> LogFile<TextContents> {
        return try .open(folder.path(name), fileSystem: fileSystem, worker: worker.queue, record: record)
    }

    @Test
    func compactedFileHoldsEachNameOnceInOrder() throws {
        let log = try open()
        for (name, value) in [("b", "1"), ("a", "2"), ("b", "3")] { try log.set(name, value) }
        let before = try SystemFileSystem().status(at: folder.path("log"))
        try log.compact()
        try same(folder.read("log"), "a=2.\nb=3.\n")
        try same(folder.names(), ["log"])
        let after = try SystemFileSystem().status(at: folder.path("log"))
        #expect(after.identity != before.identity)
        same(after.mode, 0o600)
        try log.set("c", "4")
        try same(folder.read("log"), "a=2.\nb=3.\nc=4.\n")
    }

    @Test
    func newFileIsSyncedBeforeItTakesThePlaceAndTheFolderAfter() throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        fileSystem.begin()
        try log.compact()
        let calls = fileSystem.calls.filter { ["write", "fsync", "fdatasync", "rename"].contains($0) }
        same(calls, ["write", "fsync", "fdatasync", "rename", "fsync"])
    }

    @Test
    func otherLogsFollowToTheNewFile() throws {
        let (first, second) = (try open(), try open())
        try first.set("a", "1")
        try second.set("b", "2")
        try first.compact()
        try second.set("c", "3")
        try first.catchUp()
        same(first.values, ["a": "1", "b": "2", "c": "3"])
        try same(folder.read("log"), "a=1.\nb=2.\nc=3.\n")
    }

    @Test(arguments: ["b=9.\n", "b=9.\nc=8.", "b=9.\nc", "!x\nb=9.\n"])
    func linesAppendedDuringTheCopyAreAdded(_ text: String) throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        try log.set("b", "1")
        fileSystem.beforeEachCall { [folder] call, path in
            guard call == "fsync", path.hasSuffix(".new") else { return }
            do { try folder.append(text, to: "log") } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        // Nothing follows an unfinished line.
        try same(folder.read("log"), "a=1.\nb=1.\n" + text + (text.hasSuffix("\n") ? "" : "\n"))
        try same(log.values, open().values)
        same(log.values["b"], "9")
        try log.set("z", "1")
        try same(log.values, open().values)
    }

    @Test
    func linesAppendedBeforeTheOldFileLosesItsNameAreCarriedOver() throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "rename" else { return }
            do { try folder.append("b=2.\n", to: "log") } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        try same(folder.read("log"), "a=1.\nb=2.\n")
        try log.catchUp()
        same(log.values, ["a": "1", "b": "2"])
    }

    @Test
    func fileChangedInPlaceIsReloadedAndNotWrittenFromMemory() throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        try log.set("b", "1")
        fileSystem.beforeEachCall { [folder] call, path in
            guard call == "fsync", path.hasSuffix(".new") else { return }
            do { try folder.truncate("log", andWrite: "a=7.\nc=1.\n") } catch { Issue.record(error) }
        }
        try log.compact()
        fileSystem.beforeEachCall(nil)
        try same(folder.read("log"), "a=7.\nc=1.\n")
        same(log.values, ["a": "7", "c": "1"])
        try same(folder.names(), ["log"])
    }

    @Test
    func fileReplacedDuringACompactionIsNotOverwritten() throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        let calls = Counter()
        fileSystem.beforeEachCall { [folder] call, path in
            guard call == "fsync", path.hasSuffix(".new"), calls.next() == 1 else { return }
            do {
                try SystemFileSystem().rename(folder.path("log"), to: folder.path("log~"))
                try folder.write("b=2.\nb=3.\n", to: "log")
            } catch { Issue.record(error) }
        }
        try log.compact()
        try same(folder.read("log"), "b=3.\n")
        try same(folder.read("log~"), "a=1.\n")
        same(log.values, ["b": "3"])
    }

    @Test
    func linkedFileKeepsItsLink() throws {
        try folder.write("", to: "other")
        try SystemFileSystem().makeFolder(folder.path("real"))
        try folder.write("a=1.\na=2.\n", to: "real/file")
        try folder.link("log", to: "middle")
        try folder.link("middle", to: "real/file")
        let log = try open()
        try log.compact()
        try same(SystemFileSystem().linkStatus(at: folder.path("log")).kind, .link)
        try same(SystemFileSystem().linkStatus(at: folder.path("middle")).kind, .link)
        try same(folder.read("real/file"), "a=2.\n")
        try log.set("b", "1")
        try same(folder.read("real/file"), "a=2.\nb=1.\n")
        try same(folder.names(in: "real"), ["file"])
    }

    @Test
    func leftoversOfDeadProcessesAreRemoved() throws {
        try folder.write("x", to: ".log.abc.new")
        try folder.write("x", to: ".log2.abc.new")
        let log = try open()
        try log.set("a", "1")
        try log.compact()
        try same(folder.names(), [".log2.abc.new", "log"])
    }

    @Test
    func leftoversOfDeadProcessesAreRemovedAfterTheFirstWrite() throws {
        let system = SystemFileSystem()
        for name in [".log.abc.new", ".log.def.new"] { try folder.write("x", to: name) }
        let living = try system.open(folder.path(".log.def.new"), for: .appending)
        #expect(try system.lock(living))
        let log = try open()
        #expect(!worker.queue.runNextJob())
        try log.set("a", "1")
        #expect(worker.queue.runNextJob())
        try same(folder.names(), [".log.def.new", "log"])
        withExtendedLifetime(living) {}
    }

    @Test
    func permissionsStayAsTheyWere() throws {
        try folder.write("a=1.\n", to: "log")
        let fileSystem = SystemFileSystem()
        try fileSystem.setMode(try fileSystem.open(folder.path("log"), for: .appending), 0o640)
        try open().compact()
        try same(fileSystem.status(at: folder.path("log")).mode, 0o640)
    }

    @Test
    func failedSyncIsNeverRetriedOnThatFile() throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        fileSystem.begin(.init(.error(.inputOutput), isLasting: true, calls: ["fdatasync"]))
        #expect(throws: LogError.self) { try log.sync() }
        #expect(throws: LogError.self) { try log.sync() }
        let before = try SystemFileSystem().status(at: folder.path("log")).identity
        fileSystem.begin()
        try log.sync()
        #expect(try SystemFileSystem().status(at: folder.path("log")).identity != before)
        #expect(fileSystem.calls.contains("rename"))
        try same(folder.read("log"), "a=1.\n")
        try log.set("b", "2")
        try log.sync()
        try same(open().values, ["a": "1", "b": "2"])
    }

    @Test
    func newNameThatCanNotBeSyncedIsAnUnknownOutcome() throws {
        let fileSystem = FaultyFileSystem()
        let log = try open("log", fileSystem)
        try log.set("a", "1")
        try log.sync()
        fileSystem.begin(.init(.error(.inputOutput), at: 1, calls: ["fsync"]))
        let error = #expect(throws: LogError.self) { try log.compact() }
        guard case .outcomeUnknown = error else {
            Issue.record("not unknown: \(String(describing: error))")
            return
        }
        try log.set("b", "2")
        try log.sync()
        try same(folder.read("log"), "a=1.\nb=2.\n")
    }
}
