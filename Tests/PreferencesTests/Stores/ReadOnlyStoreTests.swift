import FileTestSupport
import Foundation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// Values of a host and of a group, set by an operator, over those of a fleet.
struct ReadOnlyStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct Fleet: PreferenceGroup {
        @Preference("rateLimit") var rateLimit = 100
        @Preference("isNew") var isNew = false
    }

    static func layered(over fleet: PreferenceStore) -> PreferenceStore {
        .layered([
            fleet.scoped(prefix: "host.web-3.").readOnly(named: "host"),
            fleet.scoped(prefix: "group.eu.").readOnly(named: "group"),
            fleet,
        ])
    }

    @Test
    func programsOwnWritesGoToTheFleet() throws {
        let store = PreferenceStore.inMemory(["group.eu.rateLimit": 2])
        let layered = Self.layered(over: store)
        let issues = Lock<[PreferenceError.Code]>([])
        layered.issueHandler = { error in issues.withLock { $0.append(error.code) } }
        let fleet = Fleet(in: layered)
        fleet.isNew = true
        fleet.rateLimit = 7
        same(store.contents, ["group.eu.rateLimit": 2, "isNew": true, "rateLimit": 7])
        same(fleet.rateLimit, 2, "the group decides")
        same(issues.withLock { $0 }, [.hidden])
        // The layers above are ignored: a group's value is never stored for all.
        try fleet.$rateLimit.update { $0 += 1 }
        same(store["rateLimit"], 8)
    }

    @Test
    func layersThatWereReadOnlyKeepTheirNames() throws {
        let store = PreferenceStore.layered([.arguments(["-rateLimit", "9"]), .inMemory(["isNew": true])])
        let fleet = Fleet(in: store.readOnly(named: "site"))
        #expect(fleet.rateLimit == 9 && fleet.$rateLimit.source.name == "arguments")
        #expect(fleet.isNew && fleet.$isNew.source.name == "site")
    }

    @Test
    func readOnlyStoreOverASharedOneIsIsolatedWithIt() {
        let shared = PreferenceStore.suite("com.example.read-only")
        let store = PreferenceStore.layered([shared.scoped(prefix: "host.").readOnly(named: "host"), shared])
        PreferenceStore.withIsolatedStores {
            shared["host.rateLimit"] = 3
            let fleet = Fleet(in: store)
            #expect(fleet.rateLimit == 3 && fleet.$rateLimit.source.name == "host")
        }
    }

    // MARK: Whether a write could be stored

    func fails(_ store: PreferenceStore) -> Bool {
        do {
            // Nothing is written for an equal value.
            try store.write(.array([store["a"] ?? 0]), for: "a")
            return false
        } catch { return true }
    }

    /// Each way to change one preference names it.
    @Test
    func errorNamesThePreference() throws {
        let store = PreferenceStore.layered([PreferenceStore.inMemory(["v": 3]).readOnly()])
        let reports = store.recordIssues()
        let v = Preference("v", default: 5, in: store)
        let changes: [() throws -> Void] = [
            { try v.write(4) }, { try store.write(4, for: "v") }, { try v.update { $0 = 4 } },
            { try store.transaction { $0[v] = 4 } }, { try AnyPreference(v).write(4) },
        ]
        for change in changes {
            let error = #expect(throws: PreferenceError.self) { try change() }
            #expect(error?.code == .readOnly && error?.name == "v")
        }
        store.reset(v)
        same(reports.elements.map(\.name), ["v"])
    }

    @Test
    func layeredStoreIsWritableIfTheLayerIsThatReceivesTheWrites() {
        let memory = PreferenceStore.inMemory()
        let closed = PreferenceStore(Layer(source: Source(NoBackend(PreferenceError(.unavailable, "none")))))
        closed.issueHandler = { _ in }
        #expect(memory.isWritable && memory.scoped(prefix: "a.").isWritable && !memory.readOnly().isWritable)
        #expect(!closed.isWritable && !PreferenceStore.environment(prefix: "A_").isWritable)
        #expect(PreferenceStore.layered([.arguments([]), memory.readOnly(), memory]).isWritable)
        #expect(!PreferenceStore.layered([.arguments([]), memory.readOnly()]).isWritable)
        #expect(!PreferenceStore.layered([closed, memory]).isWritable)
        #expect(PreferenceStore.layered([memory, closed]).isWritable)
    }

    @Test
    func backendIsWritableUnlessItKnowsOtherwise() throws {
        let backend = FaultInjectingBackend()
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        backend.failNext(.load)
        #expect(!store.isWritable)
        try store.load()
        #expect(store.isWritable)
    }

    @Test(arguments: ["file", "link", "dangling", "new", "new/folders/file", "foreign", "newer", "folder", "file/file"])
    func fileIsWritableIfItsUserMayWriteItOrCreateIt(name: String) throws {
        try folder.write("{\"a\":1}\n", to: "file")
        try folder.link("link", to: "file")
        try folder.link("dangling", to: "missing/file")
        try folder.write("alias l=ls\n", to: "foreign")
        try folder.write("{\"$format\":2}\n", to: "newer")
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        let store = fileStore(folder.path(name))
        store.issueHandler = { _ in }
        let isWritable = store.isWritable
        same(isWritable, !["foreign", "newer", "folder", "file/file"].contains(name))
        try same(folder.names(), ["dangling", "file", "folder", "foreign", "link", "newer"])
        same(fails(store), !isWritable)
    }
}
