import DurableFile
import FaultTestSupport
import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct LayeredStoreTests {
    /// A layered store over layers that a test can change, strongest first.
    private struct Layers {
        let managed = PreferenceStore(.managed(Source(MemoryBackend())))
        let user = PreferenceStore.inMemory()
        let system = PreferenceStore(.system(Source(MemoryBackend())))
        let store: PreferenceStore

        init(arguments: [String] = [], environment: [String: String] = [:]) {
            store = .layered([
                .arguments(arguments), .environment(environment, prefix: "APP"), managed, user, system,
            ])
        }

        var all: [(String, PreferenceStore)] { [("managed", managed), ("user", user), ("system", system)] }
    }

    /// Changes a layer as another program would, even one that is read-only in this store.
    private func set(_ value: PropertyListValue?, for name: String, in layer: PreferenceStore) throws {
        let source = try #require(layer.core.attachedLayers.layers.first).source
        _ = try source.commit(.one(name, value), if: nil, ChangeContext(origin: .local, announcedUpTo: .max))
    }

    private func source(_ name: String) -> String {
        name == "user" ? "store" : name
    }

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

    @Test
    func managedLayerWinsWhereverItIsListed() throws {
        let layers = Layers(arguments: ["-volume", "9", "-theme", "dark"])
        try set(3, for: "volume", in: layers.managed)
        for store in [layers.store, .layered([layers.user, .layered([layers.system, layers.managed])])] {
            let volume = Preference("volume", default: 5, in: store)
            same(volume.value, 3)
            #expect(volume.source.name == "managed" && volume.isManaged)
            let error = #expect(throws: PreferenceError.self) { try volume.write(1) }
            same(error?.code, .managed)
            let issues = store.recordIssues()
            volume.value = 2
            same(issues.elements.map(\.code), [.managed])
        }
        #expect(layers.user.names.isEmpty)
        let theme = Preference("theme", default: "light", in: layers.store)
        #expect(theme.value == "dark" && !theme.isManaged)
        #expect(!Preference("volume", default: 5, in: layers.user).isManaged)
    }

    /// A managed value of another type is still the administrator's.
    @Test
    func managedValueThatCanNotBeReadIsManaged() throws {
        let layers = Layers()
        layers.store.issueHandler = { _ in }
        try set("loud", for: "volume", in: layers.managed)
        let volume = Preference("volume", default: 5, in: layers.store)
        #expect(volume.value == 5 && volume.source == .default && volume.isManaged)
        #expect(throws: PreferenceError.self) { try volume.write(1) }
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
    func issueNamesTheLayerAlsoWhereAnObserverReadsFirst() throws {
        let layers = Layers(arguments: ["-volume", "loud"])
        let issues = layers.store.recordIssues()
        let volume = Preference("volume", default: 5, in: layers.store)
        let observation = volume.observe { _ in }
        try set(3, for: "volume", in: layers.user)
        same(issues.elements.count, 1)
        same(issues.elements.first?.message.contains("\"arguments\""), true, "\(issues.elements)")
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: [("-volume", "7"), ("-volume", "-7"), ("--volume", "7"), ("--volume", "-7")])
    func argumentAnswersFirst(flag: String, text: String) throws {
        let layers = Layers(arguments: ["program", flag, text, "--verbose", "file"], environment: ["APP_VOLUME": "1"])
        try set(3, for: "volume", in: layers.user)
        let volume = Preference("volume", default: 5, in: layers.store)
        same(volume.value, Int(text))
        same(volume.source.name, "arguments")
        #expect(volume.isSet, "the writable layer has one too")
    }

    @Test
    func environmentIsSpelledInCapitals() throws {
        let layers = Layers(environment: ["APP_EDITOR_FONT_SIZE": "12.5", "APPX": "1", "OTHER_A": "1"])
        let size = Preference("editor.font-size", default: 10.0, in: layers.store)
        same(size.value, 12.5)
        same(size.source.name, "environment")
        same(layers.store["editor.font-size"], "12.5")
        #expect(layers.store.names.isEmpty)
    }

    @Test
    func textIsReadByTheDeclaredType() throws {
        let layers = Layers(
            arguments: ["-flag", "YES", "-list", "[\"a\",\"b\"]", "-text", "5", "-date", "2026-11-20T22:00:00Z"]
        )
        #expect(Preference("flag", default: false, in: layers.store).value)
        same(Preference("list", default: [String](), in: layers.store).value, ["a", "b"])
        same(Preference("text", default: "", in: layers.store).value, "5")
    }

    /// All five layers, alone and in pairs; the managed one is listed third.
    @Test
    func layersAnswerInTheirOrder() throws {
        let names = ["managed", "arguments", "environment", "user", "system"]
        for (upper, name) in names.enumerated() {
            for lower in upper..<names.count {
                let chosen: (String) -> Int? = { $0 == name ? 2 : $0 == names[lower] ? 1 : nil }
                let layers = Layers(
                    arguments: chosen("arguments").map { ["-volume", "\($0)"] } ?? [],
                    environment: chosen("environment").map { ["APP_VOLUME": "\($0)"] } ?? [:]
                )
                for (layer, store) in layers.all {
                    try set(chosen(layer).map { .integer(Int64($0)) }, for: "volume", in: store)
                }
                let volume = Preference("volume", default: 0, in: layers.store)
                same(volume.value, 2, "\(name) over \(names[lower])")
                same(volume.source.name, source(name))
            }
        }
    }

    @Test
    func hiddenSetIsStoredAndReportedOnce() throws {
        let layers = Layers(arguments: ["-volume", "9", "-speed", "fast"], environment: ["APP_SIZE": "1"])
        let issues = layers.store.recordIssues()
        let volume = Preference("volume", default: 5, in: layers.store)
        try volume.write(1)
        try volume.write(2)
        #expect(volume.value == 9 && layers.user["volume"] == 2)
        same(issues.elements.map(\.code), [.hidden])
        same(issues.elements.first?.name, "volume")
        same(issues.elements.first?.message.contains("the layer \"arguments\" has another one"), true)
        layers.store["size"] = 3
        same(issues.elements.last?.message.contains("\"environment\""), true)
        // An argument that can't be read hides nothing, because readers skip it; it is an issue itself.
        let speed = Preference("speed", default: 0, in: layers.store)
        same(speed.value, 0)
        try speed.write(4)
        same(speed.value, 4)
        same(issues.elements.map(\.code).filter { $0 == .hidden }.count, 2)
        layers.user["volume"] = 7
        layers.store["volume"] = nil
        same(issues.elements.map(\.code).filter { $0 == .hidden }.count, 2)
    }

    /// An argument must not be stored permanently.
    @Test
    func updateReadsAsIfLayersAboveWereAbsent() throws {
        let layers = Layers(arguments: ["-volume", "9"])
        layers.store.issueHandler = { _ in }
        try set(3, for: "volume", in: layers.system)
        let volume = Preference("volume", default: 0, in: layers.store)
        try volume.update { $0 += 1 }
        same(layers.user["volume"], 4)
        let read = try layers.store.transaction { transaction in
            transaction[volume] += 1
            return (transaction["volume"], transaction.contents, transaction.names)
        }
        #expect(read.0 == 5 && read.1 == ["volume": 5] && read.2 == ["volume"])
        #expect(layers.user["volume"] == 5 && volume.value == 9)
    }

    @Test
    func changeBelowWhatWasReadIsAConflict() throws {
        let layers = Layers()
        try set(3, for: "volume", in: layers.system)
        let volume = Preference("volume", default: 0, in: layers.store)
        let runs = Counter()
        try volume.update { value in
            if runs.next() == 1 { try set(5, for: "volume", in: layers.system) }
            value += 1
        }
        #expect(runs.value == 2 && layers.user["volume"] == 6)
        try layers.store.transaction { transaction in
            let count = transaction.names.count
            if runs.next() == 3 { try set(1, for: "other", in: layers.system) }
            transaction["count"] = .integer(Int64(count))
        }
        #expect(runs.value == 4 && layers.user["count"] == 2)
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

    @Test
    func transactionListsTheWeakerValueAfterARemoval() throws {
        let store = PreferenceStore.layered([
            .inMemory(["k": 1, "own": 1]), PreferenceStore.inMemory(["k": 2]).readOnly(),
        ])
        try store.transaction { transaction in
            transaction["k"] = nil
            transaction["own"] = nil
            #expect(transaction.contents == ["k": 2] && transaction.names == ["k"])
        }
        same(store.contents, ["k": 2])
    }
}
