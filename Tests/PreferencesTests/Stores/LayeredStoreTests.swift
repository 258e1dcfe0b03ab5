import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct LayeredStoreTests {
    /// A layered store over layers that a test can change, strongest first.
    struct Layers {
        let managed = PreferenceStore(backend: MemoryBackend(), isManaged: true)
        let user = PreferenceStore.inMemory()
        let system = PreferenceStore(backend: MemoryBackend(), name: "system", isReadOnly: true)
        let store: PreferenceStore

        init(arguments: [String] = [], environment: [String: String] = [:]) {
            store = .layered([
                .arguments(arguments), .environment(environment, prefix: "APP"), managed, user, system,
            ])
        }

        var all: [(String, PreferenceStore)] { [("managed", managed), ("user", user), ("system", system)] }
    }

    /// Changes a layer as another program would, even one that is read-only in this store.
    func set(_ value: PropertyListValue?, for name: String, in layer: PreferenceStore) throws {
        try layer.setFromOutside(name, to: value)
    }

    func source(_ name: String) -> String {
        name == "user" ? "store" : name
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

    /// The administrator's place may be one where nothing can be synced.
    @Test
    func onlyTheWritableLayerIsSynced() async throws {
        let (managed, user, system) = (
            FaultInjectingBackend(["a": 1]), FaultInjectingBackend(), FaultInjectingBackend()
        )
        for backend in [managed, system] { backend.failNext(.sync, count: .max) }
        let store = PreferenceStore.layered([
            PreferenceStore(backend: managed, isManaged: true), PreferenceStore(backend: user),
            PreferenceStore(backend: system, name: "system", isReadOnly: true),
        ])
        store.issueHandler = { _ in }
        try await store.write(1, for: "b")
        try await store.flush()
        user.failNext(.sync, count: .max)
        await #expect(throws: PreferenceError.self) { try await store.flush() }
    }

    /// A user must not escape a policy by making it unreadable.
    @Test
    func policyThatCanNotBeReadLetsNothingBeSet() throws {
        let backend = FaultInjectingBackend(["volume": 3])
        backend.failNext(.load, count: .max)
        let managed = PreferenceStore(backend: backend, isManaged: true)
        let user = PreferenceStore.inMemory(["volume": 7])
        let store = PreferenceStore.layered([user, managed])
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        let volume = Preference("volume", default: 5, in: store)
        #expect(volume.value == 7 && volume.isManaged)
        for _ in 1...2 {
            same(#expect(throws: PreferenceError.self) { try volume.write(1) }?.code, .managed)
            #expect(throws: PreferenceError.self) { try volume.update { $0 += 1 } }
        }
        same(issues.elements, [.unavailable], "once")
        same(user["volume"], 7)
        backend.failNext(.load, count: 0)
        try store.load()
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
    func changeBelowWhatATasksBodyHasReadIsAConflict() async throws {
        // Beside many other tests, a task may wait longer than it would in memory.
        let user = PreferenceStore(backend: LockedBackend(Database(), timeout: .seconds(1_000)))
        let system = PreferenceStore(backend: MemoryBackend(), name: "system", isReadOnly: true)
        let store = PreferenceStore.layered([user, system])
        try set(3, for: "volume", in: system)
        let volume = Preference("volume", default: 0, in: store)
        var runs = 0
        try await volume.update { value in
            runs += 1
            if runs == 1 { try set(5, for: "volume", in: system) }
            value += 1
        }
        #expect(runs == 2 && user["volume"] == 6)
        try await store.transaction { transaction in
            runs += 1
            let count = transaction.names.count
            if runs == 3 { try set(1, for: "other", in: system) }
            transaction["count"] = .integer(Int64(count))
        }
        #expect(runs == 4 && user["count"] == 2)
    }
}
