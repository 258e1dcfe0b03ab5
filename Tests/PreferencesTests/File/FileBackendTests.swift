import FileTestSupport
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file below a store: watching, keeping, syncing and tidying.
@Suite(.timeLimit(.minutes(10)))
struct FileBackendTests {
    private let folder: TemporaryFolder
    private let system = FaultyFileSystem()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("a.jsonl") }

    private func volume(_ store: PreferenceStore) -> Preference<Int> { Preference("volume", default: 5, in: store) }

    // The blocking forms, also in an asynchronous test.
    private func flush(_ store: PreferenceStore) throws { try store.flush() }
    private func write<Value>(_ value: Value, to preference: Preference<Value>) throws { try preference.write(value) }

    // MARK: Changes of others

    @Test
    func linesOfOthersAreSeenInTheirOrder() async throws {
        let store = fileStore(path)
        let seen = Recorder<Int>()
        let observation = volume(store).observe { seen.record($0.new) }
        for value in 10..<20 { try folder.append("{\"volume\":\(value)}\n", to: "a.jsonl") }
        await eventually { seen.elements.count == 10 }
        same(seen.elements, Array(10..<20))
        withExtendedLifetime(observation) {}
    }

    /// What happens to the path after the store was opened.
    @Test(arguments: [
        "folders appear", "replaced", "rewritten", "removed", "folder replaced", "folder above replaced",
        "link to a file", "link to a folder",
        "other name", "moved here",
    ])
    func changeOfThePathIsSeen(_ act: String) async throws {
        func make(_ name: String, _ value: Int) throws {
            mkdir(folder.path(name), 0o700)
            mkdir(folder.path(name + "/b"), 0o700)
            try folder.write("{\"volume\":\(value)}\n", to: name + "/b/a.jsonl")
        }
        try make("new", 7)
        if act != "folders appear" { try make("old", 3) }
        var name = "old/b/a.jsonl"
        if act == "link to a file" {
            try folder.link("link", to: "old/b/a.jsonl")
            name = "link"
        } else if act == "link to a folder" {
            try folder.link("link", to: "old")
            name = "link/b/a.jsonl"
        }
        let store = fileStore(folder.path(name))
        let volume = volume(store)
        same(volume.value, act == "folders appear" ? 5 : 3)
        // Once the folders are watched, and before.
        for round in 0...1 {
            let expected = act == "removed" ? 5 : 7 + round
            if round == 1 { try make("new", 8) }
            switch act {
            case "folders appear", "folder above replaced":
                if round == 1 || act != "folders appear" { rename(folder.path("old"), folder.path("gone\(round)")) }
                rename(folder.path("new"), folder.path("old"))
            case "replaced", "moved here": rename(folder.path("new/b/a.jsonl"), folder.path("old/b/a.jsonl"))
            case "rewritten": try folder.truncate("old/b/a.jsonl", andWrite: "{\"volume\":\(expected)}\n")
            case "removed": unlink(folder.path("old/b/a.jsonl"))
            case "folder replaced":
                rename(folder.path("old/b"), folder.path("gone\(round)"))
                rename(folder.path("new/b"), folder.path("old/b"))
            case "other name":
                if round == 0 { link(folder.path("old/b/a.jsonl"), folder.path("other")) }
                try folder.append("{\"volume\":\(expected)}\n", to: "other")
            default:
                let target = act == "link to a file" ? "new/b/a.jsonl" : "new"
                if round == 1 { rename(folder.path("old"), folder.path("gone")) }
                if round == 0 {
                    try folder.link("next", to: target)
                    rename(folder.path("next"), folder.path("link"))
                } else {
                    try folder.append("{\"volume\":8}\n", to: "new/b/a.jsonl")
                }
            }
            await eventually { volume.value == expected }
        }
    }

    @Test(arguments: ["inotify_init1", "inotify_add_watch", "statfs", "remote"])
    func fileIsPolledWithoutEventsAndWatchedAgain(_ reason: String) async throws {
        if reason == "remote" {
            system.setRemote()
        } else {
            system.begin(.init(code: EMFILE, isLasting: true, calls: [reason]))
        }
        let backend = FileBackend(path, system, Process.current, watcher: Watcher(system))
        let store = PreferenceStore(Layer(source: Source(backend)))
        same(volume(store).value, 5)
        try folder.append("{\"volume\":1}\n", to: "a.jsonl")
        await eventually { volume(store).value == 1 }
        if reason == "remote" { return }
        system.begin()
        await eventually { system.calls.contains("inotify_add_watch") }
        try folder.append("{\"volume\":2}\n", to: "a.jsonl")
        await eventually { volume(store).value == 2 }
    }

    /// Otherwise each call of a store would begin another series of polls, which never ends.
    @Test
    func looksBetweenTwoPollsScheduleNone() async throws {
        system.setRemote()
        let (pool, looks, isOver) = (Process.current.pool, Counter(), Counter())
        let backend = FileBackend(path, system, Process.current)
        let host = PreferenceBackendHost(changed: { looks.next() }, report: { _ in })
        _ = try backend.load(host: host, until: .never)
        for _ in 0..<50 { _ = try backend.catchUp(until: .now) }
        pool.run(after: PathWatch.pollInterval) { isOver.next() }
        await eventually { isOver.value == 1 }
        #expect(looks.value < 25)
    }

    @Test
    func valuesStayWhileAFolderIsInTheFilesPlace() async throws {
        try folder.write("{\"volume\":1}\n", to: "a.jsonl")
        let store = fileStore(path)
        let issues = store.recordIssues()
        same(volume(store).value, 1)
        unlink(path)
        mkdir(path, 0o700)
        await eventually { !issues.elements.isEmpty }
        same(issues.elements.map(\.code), [.unavailable])
        same(volume(store).value, 1)
        rmdir(path)
        try folder.write("{\"volume\":2}\n", to: "a.jsonl")
        await eventually { volume(store).value == 2 }
    }

    // MARK: Places that can't be used

    @Test(arguments: ["fifo", "folder", "file in place of a folder", "loop"])
    func valueThatIsSetIsStoredOnceTheFileCanBeOpened(_ place: String) async throws {
        mkdir(folder.path("d"), 0o700)
        let path = folder.path("d/a.jsonl")
        switch place {
        case "fifo": mkfifo(path, 0o600)
        case "folder": mkdir(path, 0o700)
        case "loop": try folder.link("d/a.jsonl", to: "a.jsonl")
        default:
            rmdir(folder.path("d"))
            try folder.write("", to: "d")
        }
        let store = fileStore(path)
        let issues = store.recordIssues()
        let (volume, theme) = (volume(store), Preference("theme", default: "none", in: store))
        same(volume.value, 5)
        volume.value = 7
        same(volume.value, 7)
        #expect(throws: PreferenceError.self) { try write("x", to: theme) }
        #expect(throws: PreferenceError.self) { try flush(store) }
        same(issues.elements.map(\.code), [.unavailable])
        mkdir(folder.path("n"), 0o700)
        try folder.write("{\"theme\":\"dark\",\"volume\":3}\n", to: "n/a.jsonl")
        // In one step, as the store may make the folder whenever it is missing.
        let isExchanged = try FileSystem.system.exchange(folder.path("n"), with: folder.path("d"))
        #expect(isExchanged)
        await eventually { theme.value == "dark" }
        same(volume.value, 7)
        try await store.flush()
        same(try folder.read("d/a.jsonl"), "{\"theme\":\"dark\",\"volume\":3}\n{\"volume\":7}\n")
    }

    @Test(arguments: [(ENOSPC, PreferenceError.Code.noSpace), (EDQUOT, .noSpace), (EIO, .unavailable)])
    func fullDiskKeepsWhatIsSet(_ errno: Int32, _ code: PreferenceError.Code) async throws {
        let store = fileStore(path, system)
        let issues = store.recordIssues()
        let volume = volume(store)
        volume.value = 1
        system.begin(.init(code: errno, isLasting: true, calls: ["write"]))
        for value in 2...5 { volume.value = value }
        same(volume.value, 5)
        same(issues.elements.map(\.code), [code])
        let error = #expect(throws: PreferenceError.self) { try write(6, to: volume) }
        same(error?.code, code)
        system.begin()
        await eventually { (try? folder.read("a.jsonl")) == "{\"volume\":1}\n{\"volume\":5}\n" }
        same(issues.elements.count, 1)
    }

    @Test(arguments: [EACCES, EROFS, EPERM])
    func readOnlyFileIsReadAndSaysWhyItCanNotBeWritten(_ errno: Int32) throws {
        try folder.write("{\"volume\":1}\n", to: "a.jsonl")
        let store = fileStore(path, ReadOnlyFileSystem(errno))
        same(try volume(store).read(), 1)
        try volume(store).write(1)
        let error = #expect(throws: PreferenceError.self) { try volume(store).write(2) }
        same(error?.code, .readOnly)
        same(error?.message.contains("file system"), errno == EROFS)
        try folder.append("{\"volume\":3}\n", to: "a.jsonl")
        try store.load()
        same(volume(store).value, 3)
    }

    @Test
    func explicitLoadReadsWhatWasJustSavedInPlace() throws {
        try folder.write("{\"volume\":1}\n", to: "a.jsonl")
        let store = fileStore(path)
        same(volume(store).value, 1)
        try folder.truncate("a.jsonl", andWrite: "{\"volume\":2}\n")
        try store.load()
        same(volume(store).value, 2)
        unlink(path)
        try store.load()
        same(volume(store).value, 5)
    }

    // MARK: Locks of others

    @Test
    func valueThatIsSetShowsWhileAnotherProgramHasTheLock() async throws {
        let store = fileStore(path, timeout: .milliseconds(300))
        let issues = store.recordIssues()
        let (volume, other) = (volume(store), Preference("other", default: 0, in: store))
        volume.value = 1
        let held = open(path, O_RDWR | O_APPEND)
        defer { close(held) }
        flock(held, LOCK_EX)
        volume.value = 2
        same(volume.value, 2)
        // Others' lines show, too, but not over it.
        try folder.append("{\"volume\":50}\n{\"other\":6}\n", to: "a.jsonl")
        await eventually { other.value == 6 }
        same(volume.value, 2)
        for call in [{ try flush(store) }, { try write(3, to: other) }, { try other.update { $0 = 3 } }]
            as [() throws -> Void]
        {
            let error = #expect(throws: PreferenceError.self) { try call() }
            same(error?.code, .busy)
        }
        let error = await #expect(throws: PreferenceError.self) { try await other.write(3) }
        same(error?.code, .busy)
        flock(held, LOCK_UN)
        await eventually { (try? folder.read("a.jsonl").hasSuffix("{\"other\":6}\n{\"volume\":2}\n")) == true }
        same(volume.value, 2)
        same(issues.elements.map(\.code), [])
    }

    // MARK: Durability

    @Test
    func fileIsSyncedInTheBackgroundWithAllFoldersThatLeadToIt() async throws {
        let store = fileStore(folder.path("d/a.jsonl"), system)
        system.begin()
        volume(store).value = 1
        same(system.calls.contains("fdatasync"), false)
        await eventually { system.calls.contains("fdatasync") }
        try flush(store)
        same(system.calls.filter { $0 == "fdatasync" }.count, 1)
        same(system.calls.filter { $0 == "fsync" }.count, folder.path("d/a.jsonl").split(separator: "/").count)
        volume(store).value = 2
        system.begin()
        try flush(store)
        same(system.calls.filter { $0.hasSuffix("sync") }, ["fdatasync"])
    }

    @Test
    func failedSyncIsReportedAndTheFileReplaced() async throws {
        let store = fileStore(path, system)
        let issues = store.recordIssues()
        volume(store).value = 1
        let inode = try system.status(at: path).inode
        system.begin(.init(code: EIO, calls: ["fdatasync"]))
        let error = #expect(throws: PreferenceError.self) { try flush(store) }
        same(error?.code, .notDurable)
        // It isn't tried again with the same file: the system has dropped the data.
        await eventually { (try? system.status(at: path).inode) != inode }
        await eventually { (try? flush(store)) != nil }
        same(try folder.read("a.jsonl"), "{\"volume\":1}\n")
        same(volume(store).value, 1)
        same(Set(issues.elements.map(\.code)).isSubset(of: [.notDurable]), true)
    }

    @Test
    func immediateWriteIsSyncedBeforeItReturns() async throws {
        let source = Source(FileBackend(path, system, Process.current))
        source.syncsEachChange.store(true, ordering: .relaxed)
        let store = PreferenceStore(Layer(source: source))
        let issues = store.recordIssues()
        try write(1, to: volume(store))
        same(system.calls.contains("fdatasync"), true)
        try await volume(store).write(2)
        system.begin(.init(code: EIO, calls: ["fdatasync"]))
        let error = #expect(throws: PreferenceError.self) { try write(3, to: volume(store)) }
        same(error?.code, .notDurable)
        same(volume(store).value, 3)
        same(try folder.read("a.jsonl"), "{\"volume\":1}\n{\"volume\":2}\n{\"volume\":3}\n")
        volume(store).value = 4
        same(issues.elements.map(\.code).contains(.notDurable) || (try? flush(store)) != nil, true)
    }

    /// Nothing keeps it to be stored again.
    @Test
    func immediateSetWhoseSyncFailsIsStoredOnce() throws {
        let source = Source(FileBackend(path, system, Process.current))
        source.syncsEachChange.store(true, ordering: .relaxed)
        let store = PreferenceStore(Layer(source: source))
        let issues = store.recordIssues()
        system.begin(.init(code: EIO, isLasting: true, calls: ["fdatasync", "fsync"]))
        volume(store).value = 2
        same(Set(issues.elements.map(\.code)), [.notDurable])
        same(source.hasKept.load(ordering: .relaxed), false)
        #expect(try folder.read("a.jsonl") == "{\"volume\":2}\n" && volume(store).value == 2)
    }

    @Test
    func fileHasTheStrongestDurabilityThatWasRequested() throws {
        let store = try PreferenceStore.file(at: path)
        let source = store.core.layers[0].source
        for (durability, isImmediate) in [(.background, false), (.immediate, true), (.background, true)]
            as [(PreferenceDurability, Bool)]
        {
            #expect(try PreferenceStore.file(at: path, durability: durability) === store)
            same(source.syncsEachChange.load(ordering: .relaxed), isImmediate)
        }
    }

    // MARK: Tidying

    @Test
    func idleFileIsCompactedAndALoneSetIsNot() throws {
        try folder.write("{\"b\":1}\n{\"$comment\":\"why\"}\noops\n{\"a\":1,\"$new\":[1, 2]}\n", to: "a.jsonl")
        let backend = FileBackend(path, system, Process.current, idle: .zero)
        _ = try backend.load(host: PreferenceBackendHost(changed: {}, report: { _ in }), until: .now)
        func set(_ name: String, _ value: Int) throws {
            try backend.change(until: .now) { _ in [StoredChange(name, .integer(Int64(value)))] }
        }
        for value in 0..<40 { try set("b", value) }
        try set("c", 7)
        same(try backend.tidy(names: 3) { _ in }, nil)
        same(
            try folder.read("a.jsonl"),
            "{\"b\":39 }\n{\"$comment\":\"why\"}\noops\n{\"$new\":[1, 2]}\n{\"a\":1}\n{\"c\":7}\n"
        )
        let inode = try system.status(at: path).inode
        try set("b", 40)
        same(try backend.tidy(names: 3) { _ in }, nil)
        same(try system.status(at: path).inode, inode)
    }

    /// The store looks itself when the file is idle.
    @Test
    func storeOfAnIdleFileCompactsIt() async throws {
        let store = fileStore(path, idle: .milliseconds(100))
        for value in 0..<40 { store["b"] = .integer(Int64(value)) }
        await eventually { (try? folder.read("a.jsonl")) == "{\"b\":39 }\n" }
        same(store.contents, ["b": 39])
    }

    /// Also while it waits until it may tidy up an idle file.
    @Test
    func eachChangeIsSyncedAndALargeFileCompacted() async throws {
        let store = fileStore(path, system, idle: .seconds(100_000))
        for _ in 1...3 {
            for value in 0..<20 { store["b"] = .integer(Int64(value)) }
            system.begin()
            store["b"] = -1
            await eventually { system.calls.contains("fdatasync") }
        }
        let inode = try system.status(at: path).inode
        for value in 0..<9_000 { store["b"] = .integer(Int64(value)) }
        await eventually { (try? system.status(at: path).inode) != inode }
        same(store.contents, ["b": 8_999])
    }

    @Test
    func fileKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            let (folder, system) = (try TemporaryFolder(), FaultyFileSystem())
            return PreferenceBackendPlace(failNextWrite: { system.begin(.init(code: ENOSPC, calls: ["write"])) }) {
                FileBackend(folder.path("a.jsonl"), system, Process.current)
            }
        }
    }

    @Test
    func placeNamesTheLineOfTheLastValue() throws {
        try folder.write("{\"a\":1}\n\n{\"b\":1}\n{\"a\":2}\n", to: "a.jsonl")
        let backend = FileBackend(path, .system, Process.current)
        same(backend.describe("a").line, 4)
        same(backend.describe("b").line, 3)
        same(backend.describe("c").line, nil)
        same(backend.describe(nil).path, path)
    }
}
