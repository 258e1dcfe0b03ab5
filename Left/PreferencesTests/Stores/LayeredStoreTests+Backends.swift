import FaultTestSupport
import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

extension LayeredStoreTests {
    /// The administrator's file may be read-only, or in a place where nothing can be synced.
    @Test
    func onlyTheWritableLayerIsSyncedAndOpenedForWriting() async throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"a\":1}\n!\n", to: "managed.jsonl")
        let fileSystem = FaultyFileSystem()
        fileSystem.denyWriting(.inputOutput)
        fileSystem.begin(.init(.error(.inputOutput), isLasting: true, calls: ["fsync", "fdatasync"]))
        let path = folder.path("managed.jsonl")
        let managed = PreferenceStore(
            .managed(Source(FileBackend(path: path, isReadOnly: true, fileSystem: fileSystem, watcher: nil)))
        )
        managed.issueHandler = { _ in }
        let user = FaultInjectingBackend()
        let store = PreferenceStore.layered([managed, PreferenceStore(backend: user)])
        try await Preference("b", default: 0, in: store).write(1)
        same(Preference("a", default: 0, in: store).value, 1)
        try await store.flush()
        try await store.migrate(to: 1, steps: [PreferenceMigration(1) { _ in }])
        user.failNext(.sync)
        await #expect(throws: PreferenceError.self) { try await store.flush() }
        try await #require(managed.core.layers.layers.first).source.flush(suspending: StoreCall())
        #expect(!fileSystem.calls.contains { ["fsync", "fdatasync", "write", "rename", "flock"].contains($0) })
        try same(folder.names(), ["managed.jsonl"])
    }

    @Test
    func flushOfALayeredStoreConcernsTheWritableLayerAlone() async throws {
        let backend = FaultInjectingBackend()
        let system = PreferenceStore(.system(Source(backend)))
        let store = PreferenceStore.layered([.inMemory(), system])
        Preference("a", default: 0, in: store).value = 1
        backend.failNext(.sync, count: 2)
        try await store.flush()
        try await store.migrate(to: 1, steps: [PreferenceMigration(1) { _ in }])
    }

    /// A user must not escape a policy by making it unreadable.
    @Test
    func policyThatCanNotBeReadLetsNothingBeSet() throws {
        let backend = FaultInjectingBackend(["volume": 3])
        backend.failNext(.load, count: .max)
        let managed = PreferenceStore(.managed(Source(backend)))
        let user = PreferenceStore.inMemory(["volume": 7])
        let store = PreferenceStore.layered([user, managed])
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        let volume = Preference("volume", default: 5, in: store)
        #expect(volume.value == 7 && volume.isManaged)
        for _ in 1...2 {
            let error = #expect(throws: PreferenceError.self) { try volume.write(1) }
            same(error?.code, .managed)
            #expect(throws: PreferenceError.self) { try volume.update { $0 += 1 } }
        }
        same(issues.elements, [.unavailable], "once")
        same(user["volume"], 7)
        backend.failNext(.load, count: 0)
        let other = Preference("other", default: 0, in: store)
        try other.write(1)
        #expect(other.value == 1 && !other.isManaged)
        #expect(volume.value == 3 && volume.source.isManaged)
        // The values that were read remain in force.
        backend.failNext(.refresh, count: .max)
        backend.changeOutside(["volume": nil])
        #expect(volume.value == 3 && volume.isManaged)
    }

    @Test
    func managedLineWithoutAnEndIsReported() throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"a\":1}\n{\"volume\":", to: "managed.jsonl")
        let path = folder.path("managed.jsonl")
        func issues(isReadOnly: Bool) throws -> [PreferenceError] {
            let store = PreferenceStore(backend: FileBackend(path: path, isReadOnly: isReadOnly, watcher: nil))
            let issues = store.recordIssues()
            same(store["a"], 1)
            return issues.elements
        }
        try same(issues(isReadOnly: true).map(\.code), [.damaged])
        try same(issues(isReadOnly: true).first?.message.contains("line 2 of \(path)"), true)
        // In a user's file the line may still be in the process of being written.
        #expect(try issues(isReadOnly: false).isEmpty)
    }

    @Test
    func issueOfALayerGoesToTheNearestHandler() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("preferences.jsonl")
        try folder.append("damaged\n{\"volume\":3}\n", to: "preferences.jsonl")
        let file = PreferenceStore(backend: FileBackend(path: path, watcher: nil))
        let layers = PreferenceStore.layered([.inMemory(), .layered([.inMemory(), file])])
        let (above, own) = (Recorder<PreferenceError>(), Recorder<PreferenceError>())
        layers.issueHandler = { above.record($0) }
        same(layers["volume"], 3)
        same(above.elements.map(\.code), [.damaged])
        file.issueHandler = { own.record($0) }
        try folder.append("damaged, too\n", to: "preferences.jsonl")
        file["volume"] = 4
        same(above.elements.count, 1)
        same(own.elements.map(\.code), [.damaged])
    }
}
