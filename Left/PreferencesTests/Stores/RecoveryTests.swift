import FileTestSupport
import Foundation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// A store keeps values that are set while its backend can't be opened.
struct RecoveryTests {
    private let base = MemoryBackend(["launches": 41, "theme": "dark", "volume": 3])
    private let backend: FaultInjectingBackend
    private let store: PreferenceStore
    private let launches: Preference<Int>
    private let volume: Preference<Int>
    private let issues = Recorder<PreferenceError.Code>()

    init() {
        backend = FaultInjectingBackend(over: base)
        backend.failNext(.load, count: .max)
        store = PreferenceStore(backend: backend)
        launches = Preference("launches", default: 0, in: store)
        volume = Preference("volume", default: 5, in: store)
        store.issueHandler = { [issues] in issues.record($0.code) }
    }

    @Test
    func plainSetsAreKeptAndStoredOnceTheStoreOpens() async throws {
        let seen = Recorder<PreferenceChange<Int>>()
        let observations = [launches, volume].map { $0.observe { seen.record($0) } }
        same(volume.value, 5)
        same(issues.elements, [.unavailable], "nothing can be read")
        volume.value = 6
        volume.value = 7
        store["theme"] = "light"
        #expect(volume.value == 7 && volume.source == .store && store.names == ["theme", "volume"])
        same(issues.elements, [.unavailable, .unavailable, .unavailable], "once for each name")
        let error = await #expect(throws: PreferenceError.self) { try await store.flush() }
        same(error?.code, .notDurable)
        same(base.load(host: .none)["volume"], 3)

        backend.failNext(.load, count: 0)
        store["theme"] = nil
        same(base.load(host: .none), ["launches": 41, "volume": 7])
        #expect(launches.value == 41 && volume.value == 7)
        same(
            seen.elements.map { "\($0.name) \($0.old) \($0.new) \($0.origin)" },
            [
                "volume 5 6 local", "volume 6 7 local", "launches 0 41 external",
            ]
        )
        try await store.flush()
        same(issues.elements.count, 3)
        withExtendedLifetime(observations) {}
    }

    /// A counter of 41 must not become 1, and a migration must not run on migrated data.
    @Test
    func whatDependsOnWhatIsStoredIsRefused() async throws {
        volume.value = 7
        let before = issues.elements.count
        let uses: [() async throws -> Void] = [
            { try launches.update { $0 += 1 } },
            { try volume.update { $0 += 1 } },
            { try store.transaction { $0[launches] += 1 } },
            { try store.transaction { $0["new"] = $0.names.isEmpty ? 1 : 2 } },
            { try await store.migrate(to: 1, steps: [PreferenceMigration(1) { $0["volume"] = 0 }]) },
            { try await store.migrate(to: 1, steps: [], dryRun: true) },
        ]
        for (index, use) in uses.enumerated() {
            let error = await #expect(throws: PreferenceError.self, "\(index)") { try await use() }
            same(error?.code, .unavailable, "\(index)")
            #expect(error?.cause is PreferenceError, "\(index)")
        }
        store.removeAll()
        same(issues.elements.count, before + 1)
        volume.migrate(from: launches)
        same(issues.elements.count, before + 2)
        same(store.contents, ["volume": 7])

        backend.failNext(.load, count: 0)
        try await volume.update { $0 += 1 }
        same(base.load(host: .none), ["launches": 41, "theme": "dark", "volume": 8])
    }

    /// A form that can throw doesn't return while nothing is stored.
    @Test
    func formsThatCanThrowThrow() async throws {
        let uses: [() async throws -> Void] = [
            {
                let write: (Int) throws(PreferenceError) -> Void = volume.write; try write(7)
            },
            { try await volume.write(7) },
            { try AnyPreference(volume).write(7) },
            {
                let write: (PropertyListValue?, String) throws -> Void = store.write; try write(7, "volume")
            },
            { try await store.write(7, for: "volume") },
            { try store.transaction { $0[volume] = 7 } },
            { try await store.transaction { $0[volume] = 7 } },
            { try store.transaction { $0.reset(volume) } },
            { _ = try volume.read() },
            { try await store.load() },
            { try store.load() },
        ]
        for (index, use) in uses.enumerated() {
            let error = await #expect(throws: PreferenceError.self, "\(index)") { try await use() }
            same(error?.code, .unavailable, "\(index)")
            #expect(volume.value == 5 && store.contents.isEmpty, "\(index)")
        }
        #expect(throws: PreferenceError.self) { try store.flush() }
        backend.failNext(.load, count: 0)
        try same(volume.read(), 3)
    }

    private struct Frame: Codable, Equatable {
        var x = 0
        var width = 100
    }

    /// The value that was shown before the first set is the base; members of another version stay.
    @Test
    func keptValueIsMergedIntoTheStoredOne() throws {
        _ = try base.apply(["frame": ["x": 3, "width": 300, "isZoomed": true], "list": ["a", "b"]], if: .none)
        let frame = Preference("frame", default: Frame(), in: store)
        let list = Preference("list", default: [String](), in: store)
        let seen = Recorder<Frame>()
        let observation = frame.observe { seen.record($0.new) }
        frame.value.x = 6
        frame.value.x = 7
        list.value.append("c")
        #expect(frame.value == Frame(x: 7) && list.value == ["c"])
        backend.failNext(.load, count: 0)
        try store.load()
        same(base.load(host: .none)["frame"], ["x": 7, "width": 300, "isZoomed": true])
        same(Set(list.value), ["a", "b", "c"])
        same(frame.value, Frame(x: 7, width: 300))
        same(seen.elements, [Frame(x: 6), Frame(x: 7), Frame(x: 7, width: 300)])
        withExtendedLifetime(observation) {}
    }

    /// An element of the default isn't one of the stored ones.
    @Test
    func keptListIsMergedIntoAnotherList() throws {
        struct Item: Codable {
            var id = 0
            var title = ""
        }
        _ = try base.apply(["list": ["x", "y"], "items": [["id": 7, "title": "seven"]]], if: .none)
        let list = Preference("list", default: ["a"], in: store)
        let items = Preference("items", default: [Item(id: 1)], in: store)
        list.value.append("b")
        items.value[0].title = "one"
        backend.failNext(.load, count: 0)
        try store.load()
        same(list.value, ["x", "y", "a", "b"])
        #expect(items.value.map(\.id) == [7, 1] && items.value.map(\.title) == ["seven", "one"])
    }

    @Test
    func membersOfAllKeptSetsAreStored() throws {
        _ = try base.apply(["frame": ["x": 3, "width": 300, "isZoomed": true]], if: .none)
        let frame = Preference("frame", default: Frame(), in: store)
        frame.value.width = 200
        frame.value.x = 7
        backend.failNext(.load, count: 0)
        try store.load()
        same(base.load(host: .none)["frame"], ["x": 7, "width": 200, "isZoomed": true])
    }

    @Test
    func whatCanNotBeStoredYetStaysKept() async throws {
        volume.value = 7
        backend.failNext(.load, count: 0)
        backend.failNext(.apply, count: 2)
        launches.value = 1
        await #expect(throws: PreferenceError.self) { try await store.flush() }
        launches.value = 2
        #expect(volume.value == 7 && launches.value == 2)
        same(base.load(host: .none)["volume"], 3)
        launches.value = 3
        same(base.load(host: .none), ["launches": 3, "theme": "dark", "volume": 7])
        try await store.flush()
    }

    /// A value that the file would reject is rejected, although the file can't be opened.
    @Test
    func refusedValueIsNotKept() {
        #expect(throws: PreferenceError.self) { try store.core.commit(.one("", 1)) }
        same(store.contents, [:])
    }

    @Test
    func storeOpensWhenTheBackendSaysThatItCan() {
        volume.value = 7
        let theme = Preference("theme", default: "", in: store)
        let seen = Recorder<String>()
        let observation = theme.observe { seen.record($0.new) }
        backend.failNext(.load, count: 0)
        backend.changeOutside([:])
        same(seen.elements, ["dark"])
        same(base.load(host: .none)["volume"], 7)
        withExtendedLifetime(observation) {}
    }

    /// A folder that is created or mounted later is noticed without a write.
    @Test
    func fileThatCanBeOpenedLaterIsOpened() async throws {
        let folder = try TemporaryFolder()
        try folder.write("in the way", to: "blocked")
        try folder.link("app", to: "blocked")
        let store = FileStores.store(at: folder.path("app/preferences.jsonl"))
        let issues = store.recordIssues()
        let theme = Preference("theme", default: "none", in: store)
        let volume = Preference("volume", default: 5, in: store)
        same(theme.value, "none")
        volume.value = 7
        try FileManager.default.createDirectory(atPath: folder.path("real"), withIntermediateDirectories: false)
        try folder.write("{\"theme\":\"dark\",\"volume\":3}\n", to: "real/preferences.jsonl")
        try folder.link("next", to: "real")
        // By a rename, because the store may open the folder at any moment.
        same(rename(folder.path("next"), folder.path("app")), 0)
        await waitUntil { theme.value == "dark" }
        #expect(theme.value == "dark" && volume.value == 7)
        try await store.flush()
        try same(folder.read("app/preferences.jsonl"), "{\"theme\":\"dark\",\"volume\":3}\n{\"volume\":7}\n")
        same(issues.elements.map(\.name), [nil, "volume"], "\(issues.elements)")
        store.issueHandler = { _ in }
    }
}

extension PreferenceBackendHost {
    fileprivate static let none = PreferenceBackendHost(changed: { _ in }, report: { _ in })
}
