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
