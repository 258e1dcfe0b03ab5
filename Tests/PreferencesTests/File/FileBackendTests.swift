import DurableFile
import FaultTestSupport
import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

struct FileBackendTests {
    private let folder: TemporaryFolder
    private let reports = Reports()

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ name: String = "preferences.jsonl",
        durability: PreferenceDurability = .background,
        _ fileSystem: any FileSystem = SystemFileSystem()
    ) throws -> LoadedFile {
        try LoadedFile(
            FileBackend(path: folder.path(name), durability: durability, fileSystem: fileSystem, watcher: nil),
            reports
        )
    }

    private func contents(_ name: String = "preferences.jsonl") throws -> [String: PropertyListValue] {
        try FileBackend(path: folder.path(name), watcher: nil).load(host: reports.host)
    }

    @Test
    func missingFileIsEmptyAndReadingMakesNothing() throws {
        let backend = try open("a/preferences.jsonl")
        try same(backend.catchUp(), [:])
        #expect(try backend.apply(["x": nil]).isStored)
        try same(folder.names(), [])
    }

    @Test
    func appliedChangesAreOneLineAndThereAfterReopening() throws {
        let backend = try open()
        let commit = try backend.apply(["a": .integer(1), "b": .string("x")])
        #expect(commit.isStored && commit.outside.isEmpty)
        _ = try backend.apply(["a": nil], if: .none)
        try same(folder.read("preferences.jsonl"), "{\"a\":1,\"b\":\"x\"}\n{\"a\":null}\n")
        try same(contents(), ["b": .string("x")])
    }

    @Test
    func equalValueWritesNothing() throws {
        let backend = try open()
        for _ in 1...3 { _ = try backend.apply(["a": .real(.nan), "b": .integer(1)], if: .none) }
        _ = try backend.apply(["a": .real(.nan), "b": .integer(2)], if: .none)
        try same(folder.read("preferences.jsonl"), "{\"a\":{\"$real\":\"nan\"},\"b\":1}\n{\"b\":2}\n")
    }

    /// Another process without the lock adds a line of the same name immediately before ours.
    @Test
    func externalChangeThatWasOverwrittenIsNotReportedAgain() throws {
        let fileSystem = FaultyFileSystem()
        let source = Source(FileBackend(path: folder.path("preferences.jsonl"), fileSystem: fileSystem, watcher: nil))
        let store = PreferenceStore(Layer(source: source))
        try store.write(1, for: "a")
        let seen = Recorder<PropertyListValue?>()
        let observation = store.subscribe { batch in
            for entry in batch.entries { seen.record(entry.new.first?.value) }
        }
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "write" else { return }
            fileSystem.beforeEachCall(nil)
            do { try folder.append("{\"a\":2}\n", to: "preferences.jsonl") } catch { Issue.record(error) }
        }
        try store.write(3, for: "a")
        source.applyExternalChanges(catchingUp: true)
        try store.write(4, for: "b")
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"b\":4}\n")
        #expect(store["a"] == 3 && store["b"] == 4)
        same(seen.elements, [2, 3, 4])
        withExtendedLifetime(observation) {}
    }

    private func open(_ name: String, _ fileSystem: any FileSystem) throws -> LoadedFile {
        try open(name, durability: .background, fileSystem)
    }

    @Test
    func lineInBetweenIsReportedBeforeAndOverridesWhatWasNotWritten() throws {
        let fileSystem = FaultyFileSystem()
        let backend = try open("preferences.jsonl", fileSystem)
        _ = try backend.apply(["same": .integer(1), "new": .integer(1)], if: .none)
        let calls = Counter()
        fileSystem.beforeEachCall { [folder] call, _ in
            guard call == "write", calls.next() == 1 else { return }
            do {
                try folder.append("{\"same\":7,\"new\":7,\"other\":7}\n", to: "preferences.jsonl")
            } catch { Issue.record(error) }
        }
        let commit = try backend.apply(["same": .integer(1), "new": .integer(2)], if: .none)
        #expect(commit.isStored)
        same(commit.outside, ["same": .integer(7), "new": .integer(7), "other": .integer(7)])
        try same(backend.catchUp(), [:])
        try same(contents(), ["same": .integer(7), "new": .integer(2), "other": .integer(7)])
    }

    @Test
    func damagedLineIsReportedByNumberAndKept() throws {
        let text = "{\"a\":1}\n{\"b\":}\n{\"c\":3}\n"
        try folder.write(text, to: "preferences.jsonl")
        try same(contents(), ["a": .integer(1), "c": .integer(3)])
        same(reports.errors.map(\.code), [.damaged])
        same(reports.errors.first?.message.contains("line 2 of \(folder.path("preferences.jsonl"))"), true)
        try same(folder.read("preferences.jsonl"), text)
    }

    @Test
    func newerFormatIsRefusedAndNotWrittenTo() throws {
        try folder.write("{\"a\":1}\n{\"$format\":2}\n", to: "preferences.jsonl")
        let error = #expect(throws: PreferenceError.self) { try open() }
        same(error?.code, .unknownFormat)
        try folder.write("{\"a\":1}\n", to: "preferences.jsonl")
        let backend = try open()
        try folder.append("{\"$format\":2}\n", to: "preferences.jsonl")
        #expect(throws: PreferenceError.self) { try backend.apply(["a": .integer(2)], if: .none) }
        try same(folder.read("preferences.jsonl"), "{\"a\":1}\n{\"$format\":2}\n")
    }

    @Test
    func immediateSetSyncsFileAndFolderBeforeItReturns() throws {
        let fileSystem = FaultyFileSystem()
        let backend = try open("preferences.jsonl", durability: .immediate, fileSystem)
        _ = try backend.apply(["a": .integer(1)], if: .none)
        fileSystem.begin()
        try backend.file.didApply()
        same(fileSystem.calls.first, "fdatasync")
        let folders = fileSystem.calls.count / 2
        same(fileSystem.calls.dropFirst(), ArraySlice(repeatElement(["open", "fsync"], count: folders).joined()))
        _ = try backend.apply(["a": .integer(2)], if: .none)
        fileSystem.begin()
        try backend.file.didApply()
        same(fileSystem.calls, ["fdatasync"])
    }

    /// Also before the file or its folder exists.
    @Test
    func fileOfSeveralNamesIsOneStore() throws {
        try SystemFileSystem().makeFolder(folder.path("real"))
        try folder.link("link", to: "real")
        try folder.link("other", to: "link/new/a.jsonl")
        let names = ["real/new/a.jsonl", "link/new/a.jsonl", "link/../real/./new/a.jsonl", "other"]
        let stores = try names.map { try PreferenceStore.file(at: URL(filePath: folder.path($0))) }
        stores[1]["a"] = 1
        for store in stores {
            #expect(store === stores[0])
            same(store["a"], 1)
        }
        #expect(try PreferenceStore.file(at: URL(filePath: folder.path("real/new/b.jsonl"))) !== stores[0])
    }

    /// Two spellings of one character are equal strings, and two names for the kernel unless the file system says otherwise.
    @Test
    func filesWhoseNamesDifferInSpellingAreTwoStores() throws {
        let names = ["caf\u{E9}.jsonl", "cafe\u{301}.jsonl"]
        for (number, name) in names.enumerated() { try folder.write("{\"number\":\(number)}\n", to: name) }
        let isOneFile = try contents(names[0]) == contents(names[1])
        let stores = try names.map(store)
        same(stores[0] === stores[1], isOneFile)
        #expect(stores[0]["number"] == (isOneFile ? 1 : 0) && stores[1]["number"] == 1)
    }

    private func store(_ name: String) throws -> PreferenceStore {
        try .file(at: URL(filePath: folder.path(name)))
    }

    @Test(arguments: ["real/a.jsonl", "a.jsonl"])
    func storeFollowsALinkThatIsChanged(_ link: String) throws {
        for name in ["one", "two"] {
            try SystemFileSystem().makeFolder(folder.path(name))
            try folder.write("{\"from\":\"\(name)\"}\n", to: "\(name)/a.jsonl")
        }
        let name = link == "a.jsonl" ? "a.jsonl" : "real"
        func lead(to target: String) throws {
            try folder.link("new", to: link == "a.jsonl" ? "\(target)/a.jsonl" : target)
            try SystemFileSystem().rename(folder.path("new"), to: folder.path(name))
        }
        try lead(to: "one")
        let linked = try store(link)
        same(linked["from"], "one")
        #expect(try store("one/a.jsonl") === linked)
        try lead(to: "two")
        let one = try store("one/a.jsonl")
        #expect(one !== linked && one["from"] == "one")
        #expect(try store("two/a.jsonl") === linked && store(link) === linked)
        try one.write(1, for: "set")
        try linked.write(2, for: "set")
        try same(folder.read("one/a.jsonl"), "{\"from\":\"one\"}\n{\"set\":1}\n")
        try same(folder.read("two/a.jsonl"), "{\"from\":\"two\"}\n{\"set\":2}\n")
        same(linked["from"], "two")
        // Back again, where a store is open: there are two, and each is its own path's.
        try lead(to: "one")
        #expect(try store("one/a.jsonl") === one && store(link) === linked)
        try linked.write(3, for: "set")
        try one.load()
        same(one["set"], 3)
    }

    @Test
    func namesOfAFileAreOneStore() throws {
        try folder.write("{\"a\":1}\n", to: "one")
        try FileManager.default.linkItem(atPath: folder.path("one"), toPath: folder.path("two"))
        let one = try store("one")
        #expect(try store("two") === one)
        try SystemFileSystem().remove(folder.path("two"))
        try folder.write("{\"a\":2}\n", to: "two")
        let two = try store("two")
        #expect(two !== one && two["a"] == 2)
    }

    /// By a link and directly, before the file exists and afterwards.
    @Test
    func threadsThatRequestAFileAtOnceGetOneStore() async throws {
        try SystemFileSystem().makeFolder(folder.path("real"))
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

    @Test
    func folderThatBecomesALinkIsSeen() throws {
        try SystemFileSystem().makeFolder(folder.path("config"))
        let first = try store("config/a.jsonl")
        try first.write(1, for: "a")
        try SystemFileSystem().rename(folder.path("config"), to: folder.path("dotfiles"))
        try folder.link("config", to: "dotfiles")
        #expect(try store("dotfiles/a.jsonl") === first)
    }
}

/// The issues and external changes that a backend reported to its store.
final class Reports: Sendable {
    private let state = Lock((errors: [PreferenceError](), calls: 0, changes: [String: PropertyListValue?]()))

    var errors: [PreferenceError] { state.withLock { $0.errors } }
    /// The number of times that the backend passed changes on or had some.
    var calls: Int { state.withLock { $0.calls } }

    func record(_ error: PreferenceError) { state.withLock { $0.errors.append(error) } }

    /// Returns the changes since the last call.
    func takeChanges() -> [String: PropertyListValue?] { state.withLock { exchange(&$0.changes, with: [:]) } }

    var host: PreferenceBackendHost { host(reportingTo: self) }

    func host(reportingTo reports: Reports) -> PreferenceBackendHost {
        PreferenceBackendHost(
            changed: { changes in
                self.state.withLock { state in
                    state.calls += 1
                    state.changes.merge(changes) { $1 }
                }
            },
            report: { reports.record($0) }
        )
    }
}

/// A loaded backend over a file, with the external changes that it passes on.
struct LoadedFile {
    let file: FileBackend
    private let changes = Reports()

    init(_ file: FileBackend, _ reports: Reports) throws {
        self.file = file
        _ = try file.load(host: changes.host(reportingTo: reports))
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition = .none
    ) throws -> (isStored: Bool, outside: [String: PropertyListValue?]) {
        let commit = try file.apply(changes, if: condition)
        return (commit.isStored, self.changes.takeChanges())
    }

    func catchUp() throws -> [String: PropertyListValue?] {
        try file.catchUp()
        return changes.takeChanges()
    }
}
