import FileTestSupport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Preferences

/// The stores over files that a process shares.
struct SharedFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(_ name: String) throws -> PreferenceStore { try .file(at: folder.path(name)) }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }

    /// Makes a link in place of another one.
    private func link(_ name: String, to target: String) throws {
        try folder.link("new link", to: target)
        same(rename(folder.path("new link"), folder.path(name)), 0)
    }

    /// Also before the file or its folder exists.
    @Test
    func fileOfSeveralPathsIsOneStore() throws {
        try makeFolder("real")
        try folder.link("link", to: "real")
        try folder.link("other", to: "link/new/a.jsonl")
        let names = ["real/new/a.jsonl", "link/new/a.jsonl", "link/../real/./new/a.jsonl", "other"]
        let stores = try names.map(store) + [.file(at: URL(filePath: folder.path(names[0])))]
        stores[1]["a"] = 1
        for store in stores { #expect(store === stores[0] && store["a"] == 1) }
        #expect(try store("real/new/b.jsonl") !== stores[0])
        same(stores[0].location?.path, folder.path(names[0]))
        #expect(PreferenceStore.inMemory().location == nil)
    }

    @Test
    func strongestDurabilityThatWasRequestedHolds() throws {
        let store = try store("a.jsonl")
        let syncs = { store.core.layers[0].source.syncsEachChange.load(ordering: .relaxed) }
        same(syncs(), false)
        _ = try PreferenceStore.file(at: folder.path("a.jsonl"), durability: .immediate)
        _ = try self.store("a.jsonl")
        same(syncs(), true)
    }

    /// Two spellings of one character are equal strings, and two names for the kernel.
    @Test
    func filesWhoseNamesDifferInSpellingAreTwoStores() throws {
        let names = ["caf\u{E9}.jsonl", "cafe\u{301}.jsonl"]
        for (number, name) in names.enumerated() { try folder.write("{\"number\":\(number)}\n", to: name) }
        guard try folder.names().count == 2 else { return }
        let stores = try names.map(store)
        #expect(stores[0] !== stores[1] && stores[0]["number"] == 0 && stores[1]["number"] == 1)
    }

    @Test(arguments: ["real/a.jsonl", "a.jsonl"])
    func storeFollowsALinkThatIsChanged(_ name: String) throws {
        for name in ["one", "two"] {
            try makeFolder(name)
            try folder.write("{\"from\":\"\(name)\"}\n", to: "\(name)/a.jsonl")
        }
        func lead(to target: String) throws {
            if name == "a.jsonl" { try link(name, to: "\(target)/a.jsonl") } else { try link("real", to: target) }
        }
        try lead(to: "one")
        let linked = try store(name)
        same(linked["from"], "one")
        #expect(try store("one/a.jsonl") === linked)
        try lead(to: "two")
        let one = try store("one/a.jsonl")
        #expect(one !== linked && one["from"] == "one")
        #expect(try store(name) === linked)
        try one.write(1, for: "set")
        try linked.write(2, for: "set")
        try same(folder.read("one/a.jsonl"), "{\"from\":\"one\"}\n{\"set\":1}\n")
        try same(folder.read("two/a.jsonl"), "{\"from\":\"two\"}\n{\"set\":2}\n")
        same(linked["from"], "two")
        // Back again, where a store is open: there are two, and each is its own path's.
        try lead(to: "one")
        #expect(try store("one/a.jsonl") === one && store(name) === linked)
        try linked.write(3, for: "set")
        try one.load()
        same(one["set"], 3)
    }

    /// By a link and directly, before the file exists and afterwards.
    @Test
    func threadsThatRequestAFileAtOnceGetOneStore() async throws {
        try makeFolder("real")
        try folder.link("link", to: "real")
        for round in 0..<rounds(400) {
            let names = ["real/\(round)", "link/\(round)", "real/../link/\(round)", "link/./\(round)"]
            if round.isMultiple(of: 2) { try folder.write("{}\n", to: "real/\(round)") }
            let stores = Lock<[PreferenceStore]>([])
            await onThreads(names.count) { thread in
                do {
                    let store = try store(names[thread])
                    stores.withLock { $0.append(store) }
                } catch { Issue.record("\(error)") }
            }
            let opened = stores.withLock { $0 }
            #expect(opened.count == names.count && opened.allSatisfy { $0 === opened[0] }, "round \(round)")
        }
    }

    /// While a source lives, which still stores or syncs, its values are those of a new store, too.
    @Test
    func storeThatIsReleasedAndRequestedAgainShowsWhatIsToBeStored() throws {
        try folder.link("file", to: "missing/folder/file")
        try folder.write("", to: "missing")
        let source: Source
        do {
            let store = PreferenceStore(layers: { FileStores.store(at: folder.path("file")).asLayers })
            store.issueHandler = { _ in }
            Preference("volume", default: 5, in: store).value = 7
            source = store.core.layers[0].source
        }
        let again = FileStores.store(at: folder.path("file"))
        #expect(again.core.layers[0].source === source)
        same(Preference("volume", default: 5, in: again).value, 7)
        try FileManager.default.removeItem(atPath: folder.path("missing"))
        try again.flush()
        try same(folder.read("missing/folder/file"), "{\"volume\":7}\n")
    }

    @Test(.timeLimit(.minutes(5)))
    func releasedStoresAreForgotten() async throws {
        let process = Process.current
        let path = folder.path("file")
        do {
            let store = try PreferenceStore.file(at: path)
            #expect(process.known(path, as: PreferenceStore.self) === store)
        }
        await eventually { process.known("source " + path, as: Source.self) == nil }
        await eventually { !process.isKnown(path) && !process.isKnown("source " + path) }
        #expect(try store("file")["a"] == nil)
    }

    @Test(arguments: ["", "a\0b"])
    func pathThatIsNoneIsRejected(_ path: String) {
        same(#expect(throws: PreferenceError.self) { try PreferenceStore.file(at: path) }?.code, .invalidName)
    }

    @Test
    func urlThatIsNoFileIsRejectedAndAFolderCanNotBeOpened() throws {
        let remote = try #require(URL(string: "https://example.com/a.jsonl"))
        same(#expect(throws: PreferenceError.self) { try PreferenceStore.file(at: remote) }?.code, .invalidName)
        same(#expect(throws: PreferenceError.self) { try PreferenceStore.file(at: folder.path) }?.code, .unavailable)
    }

    @Test
    func relativePathIsOneInTheCurrentFolder() throws {
        let name = "relative-\(UUID()).jsonl"
        let store = try PreferenceStore.file(at: name)
        same(store.location?.path, FileManager.default.currentDirectoryPath + "/" + name)
        #expect(try store === PreferenceStore.file(at: "./" + name))
    }

    @Test(.timeLimit(.minutes(5)))
    func issueOfAFileGoesToTheNearestHandler() async throws {
        try folder.write("damaged\n{\"volume\":3}\n", to: "preferences.jsonl")
        let file = FileStores.store(at: folder.path("preferences.jsonl"))
        let layers = PreferenceStore.layered([.inMemory(), .layered([.inMemory(), file])])
        let above = layers.recordIssues()
        same(layers["volume"], 3)
        same(above.elements.map(\.code), [.damaged])
        let own = file.recordIssues()
        try folder.append("damaged, too\n", to: "preferences.jsonl")
        await eventually { !own.elements.isEmpty }
        #expect(above.elements.count == 1 && own.elements.map(\.code) == [.damaged])
    }
}
