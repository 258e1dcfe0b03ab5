import DurableFile
import FaultTestSupport
import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

struct FileBackendErrorTests {
    private let folder: TemporaryFolder
    private let fileSystem = FaultyFileSystem()
    private let reports = Reports()
    private let worker = StoppedWorker()

    init() throws { folder = try TemporaryFolder() }

    private func open(durability: PreferenceDurability = .background) throws -> FileBackend {
        let backend = FileBackend(
            path: folder.path("preferences.jsonl"),
            durability: durability,
            fileSystem: fileSystem,
            watcher: nil,
            worker: worker.queue
        )
        _ = try backend.load(host: reports.host)
        return backend
    }

    private func code(_ body: () throws -> Void) -> PreferenceError.Code? {
        let error = #expect(throws: PreferenceError.self) { try body() }
        same(error?.description.contains(folder.path), true, "\(String(describing: error)) doesn't name the file")
        return error?.code
    }

    @Test
    func unreadableFileIsUnavailable() throws {
        try SystemFileSystem().makeFolder(folder.path("preferences.jsonl"))
        same(code { _ = try open() }, .unavailable)
        try folder.write("{\"a\":1}\n", to: "file")
        try SystemFileSystem().rename(folder.path("file"), to: folder.path("other"))
        fileSystem.begin(.init(.error(.inputOutput), isLasting: true, calls: ["pread"]))
        let backend = FileBackend(path: folder.path("other"), fileSystem: fileSystem, watcher: nil)
        same(code { _ = try backend.load(host: reports.host) }, .unavailable)
    }

    @Test
    func fileThatMayNotBeWrittenIsReadOnly() throws {
        try folder.write("{\"a\":1}\n", to: "preferences.jsonl")
        fileSystem.denyWriting(.accessDenied)
        let backend = try open()
        same(code { _ = try backend.apply(["a": .integer(2)], if: .none) }, .readOnly)
        #expect(try backend.apply(["a": .integer(1)], if: .none).isStored)
    }

    @Test
    func heldLockIsBusy() throws {
        try folder.write("{\"a\":1}\n", to: "preferences.jsonl")
        let backend = try open()
        let holder = try SystemFileSystem().open(folder.path("preferences.jsonl"), for: .appending)
        #expect(try SystemFileSystem().lock(holder))
        same(code { _ = try backend.apply(["a": .integer(2)], if: .none) }, .busy)
        #expect(fileSystem.now() >= .seconds(5))
    }

    @Test
    func fragmentThatCanNotBeRemovedIsAnUnknownOutcome() throws {
        let backend = try open()
        _ = try backend.apply(["a": .integer(1)], if: .none)
        // All of the line but its newline is written, and afterwards every call fails that could finish it or remove it.
        fileSystem.begin(.init(.shortWrite(8), at: 0, isLasting: false))
        fileSystem.beforeEachCall { [fileSystem] call, _ in
            guard call == "write" else { return }
            fileSystem.begin(.init(.error(.inputOutput), isLasting: true, calls: ["write", "ftruncate"]))
        }
        same(code { _ = try backend.apply(["a": .integer(22)], if: .none) }, .outcomeUnknown)
        fileSystem.beforeEachCall(nil)
        fileSystem.begin()
        // The fragment is a whole object, so it is valid, and the store applies it as an external change.
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n{\"a\":22}")
        try backend.catchUp()
        same(reports.takeChanges(), ["a": .integer(22)])
        _ = try backend.apply(["b": .integer(3)], if: .none)
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n{\"a\":22}\n{\"b\":3}\n")
    }

    @Test
    func immediateSetWhoseSyncFailsStaysVisible() throws {
        let backend = try open(durability: .immediate)
        _ = try backend.apply(["a": .integer(1)], if: .none)
        fileSystem.begin(.init(.error(.inputOutput), calls: ["fdatasync"]))
        same(code { try backend.didApply() }, .notDurable)
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n")
        fileSystem.begin()
        // In the background the file is replaced by a new one that can be synced.
        let file = try SystemFileSystem().status(at: folder.path("preferences.jsonl")).identity
        while worker.queue.runNextJob() {}
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n")
        #expect(try SystemFileSystem().status(at: folder.path("preferences.jsonl")).identity != file)
        try backend.didApply()
        try backend.catchUp()
        same(reports.takeChanges(), [:])
    }
}

@Suite(.timeLimit(.minutes(60)))
struct FileBackendWatchTests {
    @Test
    func anotherBackendsChangeReachesTheHost() async throws {
        let folder = try TemporaryFolder()
        let (changes, changed) = AsyncStream.makeStream(of: [String: PropertyListValue?].self)
        let host = PreferenceBackendHost(changed: { changed.yield($0) }, report: { Issue.record($0) })
        let backend = FileBackend(path: folder.path("preferences.jsonl"), watcher: Watcher())
        let other = FileBackend(path: folder.path("preferences.jsonl"), watcher: nil)
        _ = try backend.load(host: host)
        _ = try other.load(host: Reports().host)
        _ = try other.apply(["n": 1], if: .none)
        var values: [PropertyListValue?] = (1...50).map { .integer($0) } + [nil]
        for await passed in changes {
            // As a store does when it is told that there are changes.
            guard !passed.isEmpty else {
                try backend.catchUp()
                continue
            }
            same(passed, ["n": values.removeFirst()])
            if values.isEmpty { break }
            if let value = values[0] {
                _ = try other.apply(["n": value], if: .none)
            } else {
                try folder.append("{\"n\":null}\n", to: "preferences.jsonl")
            }
        }
    }

    @Test
    func ownChangeIsNotReported() async throws {
        let folder = try TemporaryFolder()
        let reports = Reports()
        let backend = FileBackend(path: folder.path("preferences.jsonl"), watcher: Watcher())
        _ = try backend.load(host: reports.host)
        for number in 1...100 { _ = try backend.apply(["n": .integer(Int64(number))], if: .none) }
        try backend.sync()
        try backend.catchUp()
        same(reports.calls, 0)
    }
}
