import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Files of an administrator and drop-ins over them, which are read as one.
struct ReadOnlyFilesTests {
    private let folder: TemporaryFolder
    private let system = FailingFileSystem()
    private let reports = Recorder<PreferenceError>()

    init() throws {
        folder = try TemporaryFolder()
        for name in ["etc", "run", "lib"] { try makeFolder(name) }
    }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: folder.path(name)) }

    /// Writes a file that takes its place when it is complete.
    private func replace(_ name: String, with text: String) throws {
        try folder.write(text, to: "new")
        same(rename(folder.path("new"), folder.path(name)), 0)
    }

    private func store(isManaged: Bool = false) -> PreferenceStore {
        let places = FilePlaces(
            folders: ["etc", "run", "lib"].map { folder.path($0) },
            files: [folder.path("own.jsonl")]
        )
        let source = Source(ReadOnlyFiles(places, system))
        let store = PreferenceStore(isManaged ? .managed(source) : .system(source))
        store.issueHandler = { [reports] in reports.record($0) }
        return store
    }

    @Test
    func placesOfASuite() throws {
        var environment = SuiteLocation.Environment(home: "/home/ann")
        var location = try SuiteLocation("app", environment: environment)
        same(
            location.managed,
            FilePlaces(
                folders: ["/etc/app/managed.d", "/run/app/managed.d", "/usr/lib/app/managed.d"],
                files: ["/etc/app/managed.jsonl"]
            )
        )
        let folders = ["/etc/app", "/run/app", "/usr/lib/app"].map { $0 + "/preferences.d" }
        same(
            location.system,
            [
                FilePlaces(
                    folders: ["/etc/xdg/app/preferences.d"] + folders,
                    files: ["/etc/app/preferences.jsonl", "/etc/xdg/app/preferences.jsonl"]
                )
            ]
        )
        environment.configurationFolders = "/a:/etc"
        environment.deployedFolders = "/deployed:/other"
        location = try SuiteLocation("app", environment: environment)
        same(
            location.system,
            [
                FilePlaces(files: ["/a/app/preferences.jsonl"]),
                FilePlaces(folders: ["/a/app/preferences.d"] + folders, files: ["/etc/app/preferences.jsonl"]),
            ]
        )
        location = try SuiteLocation("app", isOfProgram: true, environment: environment)
        same(location.system.last?.files, ["/deployed/preferences.jsonl", "/etc/app/preferences.jsonl"])
        let all = ["/a/app", "/etc/app", "/deployed", "/run/app", "/usr/lib/app"].map { $0 + "/preferences.d" }
        same(location.system.last?.folders, all)
        same(location.managed.files, ["/etc/app/managed.jsonl"], "no variable moves a policy")
    }

    @Test
    func strongerFolderReplacesAFileAndDropInsOverrideTheMainFileInTheOrderOfTheirNames() throws {
        try folder.write("{\n\"a\": 5,\n\"d\": 5,\n\"h\": 5\n}\n", to: "own.jsonl")
        try folder.write("{\"a\":1,\"b\":1,\"c\":1,\"d\":null}\n", to: "lib/10-a.jsonl")
        try folder.write("{\"e\":2}\n", to: "lib/20-b.jsonl")
        try folder.write("{\"f\":3,\"b\":3}\n", to: "run/20-b.jsonl")
        try folder.write("{\"b\":4,\"c\":null}\n{\"g\":4}\n", to: "etc/30-c.jsonl")
        try folder.write("{\"x\":1}\n", to: "etc/30-c.json")
        try folder.write("{\"x\":1}\n", to: "etc/.30-c.jsonl")
        let store = store()
        same(store.contents, ["a": 1, "b": 4, "f": 3, "g": 4, "h": 5])
        #expect(reports.elements.isEmpty)
        let source = store.core.layers[0].source
        same(source.location(of: "g"), "\(folder.path("etc/30-c.jsonl")), line 2")
        same(source.location(of: "h"), "\(folder.path("own.jsonl")), line 1")
        same(source.location(of: nil), folder.path("own.jsonl"))
        same(#expect(throws: PreferenceError.self) { try store.write(1, for: "a") }?.code, .readOnly)
    }

    @Test
    func linkToDevNullAndAnEmptyFileReplaceAFile() throws {
        try folder.write("{\"a\":1}\n", to: "lib/a.jsonl")
        try folder.write("{\"b\":1}\n", to: "lib/b.jsonl")
        try folder.link("etc/a.jsonl", to: "/dev/null")
        try folder.write("", to: "run/b.jsonl")
        #expect(store().contents.isEmpty && reports.elements.isEmpty)
    }

    @Test
    func withoutAnyFileNothingIsRestricted() throws {
        try remove("etc")
        let (managed, user) = (store(isManaged: true), PreferenceStore.inMemory())
        let volume = Preference("volume", default: 5, in: .layered([managed, user]))
        #expect(!volume.isManaged)
        try volume.write(7)
        #expect(volume.value == 7 && reports.elements.isEmpty)
        try managed.load()
    }

    @Test
    func valueIsManagedByADropInAndTheMessageNamesFileAndLine() throws {
        try folder.write("\n{\"volume\":\"loud\"}\n", to: "run/a.jsonl")
        try folder.write("{\"theme\":\"dark\"}\n", to: "own.jsonl")
        let store = PreferenceStore.layered([store(isManaged: true), .inMemory()])
        store.issueHandler = { [reports] in reports.record($0) }
        let volume = Preference("volume", default: 5, in: store)
        #expect(volume.value == 5 && volume.isManaged)
        same(#expect(throws: PreferenceError.self) { try volume.write(7) }?.code, .managed)
        same(reports.elements.map(\.code), [.unreadable])
        same(reports.elements.first?.message.contains("managed layer, \(folder.path("run/a.jsonl")), line 2"), true)
    }

    @Test
    func damagedLinesAreReportedOnceWithTheirFile() throws {
        try folder.write("{\"a\":1}\n!\n{\"b\":2}\n{\"c\":", to: "etc/a.jsonl")
        let store = store()
        same(store.contents, ["a": 1, "b": 2])
        try store.load()
        same(reports.elements.map(\.code), [.damaged, .damaged])
        same(reports.elements.map(\.damagedLine?.number), [2, 4])
        same(reports.elements.first?.message.contains("line 2 of \(folder.path("etc/a.jsonl"))"), true)
    }

    /// It is named, and all others are in force.
    @Test(.timeLimit(.minutes(5)), arguments: ["open", "folder", "link", "pipe", "format", "foreign"], [true, false])
    func dropInThatCanNotBeReadBlocksManagedNamesOnly(_ fault: String, _ wasGood: Bool) async throws {
        try folder.write("{\"volume\":3}\n", to: "own.jsonl")
        try folder.write("{\"balance\":1}\n", to: "etc/b.jsonl")
        if wasGood { try folder.write("{\"theme\":\"dark\"}\n", to: "etc/a.jsonl") }
        let (path, managed) = (folder.path("etc/a.jsonl"), store(isManaged: true))
        let store = PreferenceStore.layered([managed, .inMemory()])
        if wasGood { same(store["theme"], "dark") }
        if wasGood, fault != "open" { try remove("etc/a.jsonl") }
        switch fault {
        case "open":
            system.fail(["open"], path)
            try replace("etc/a.jsonl", with: "{\"theme\":\"light\"}\n")
        case "folder": try makeFolder("etc/a.jsonl")
        case "link": try folder.link("etc/a.jsonl", to: "nowhere")
        case "pipe": same(mkfifo(path, 0o600), 0)
        case "format": try replace("etc/a.jsonl", with: "{\"theme\":\"light\"}\n{\"$format\":9}\n")
        default: try replace("etc/a.jsonl", with: "#!/bin/sh\n")
        }
        // The new file may have the number of the one before, and is then taken for one that is being saved in place.
        _ = store.contents
        await eventually { !reports.elements.isEmpty }
        if wasGood, ["format", "foreign"].contains(fault) {
            // It can be read, and is reported only.
            try await managed.load()
        } else {
            await #expect(throws: PreferenceError.self) { try await managed.load() }
        }
        same(reports.elements.map { $0.description.contains(path) }, [true])
        #expect(store["volume"] == 3 && store["balance"] == 1 && store["theme"] == (wasGood ? "dark" : nil))
        for name in ["volume", "balance"] + (wasGood ? ["theme"] : []) {
            same(#expect(throws: PreferenceError.self) { try store.write(7, for: name) }?.code, .managed)
        }
        try await store.write(7, for: "other")
        #expect(store.isWritable)
        system.mend()
        if fault != "open" { try remove("etc/a.jsonl") }
        try replace("etc/a.jsonl", with: "{\"theme\":\"light\"}\n")
        await eventually { store["theme"] == "light" }
        same(reports.elements.count, 1)
    }

    @Test
    func fileThatReplacesAnotherAndCanNotBeReadLeavesThatInForce() throws {
        try folder.write("{\"volume\":3}\n", to: "run/a.jsonl")
        try folder.write("{\"volume\":4}\n", to: "etc/a.jsonl")
        system.fail(["open"], folder.path("etc/a.jsonl"))
        let store = store()
        same(store["volume"], 3)
        system.mend()
        try store.load()
        same(store["volume"], 4)
    }

    @Test
    func folderThatCanNotBeListedRestrictsNothingAndIsReportedOnce() throws {
        try folder.write("{\"volume\":3}\n", to: "run/a.jsonl")
        system.fail(["opendir"], folder.path("etc"))
        let managed = store(isManaged: true)
        let store = PreferenceStore.layered([managed, .inMemory()])
        try Preference("theme", default: "", in: store).write("dark")
        try managed.load()
        same(store["volume"], 3)
        same(reports.elements.map(\.code), [.notPermitted])
    }

    @Test
    func folderThatCanNotBeListedAnyMoreKeepsItsFiles() throws {
        try folder.write("{\"volume\":3}\n", to: "run/a.jsonl")
        let store = store()
        same(store["volume"], 3)
        system.fail(["opendir"], folder.path("run"))
        try replace("run/a.jsonl", with: "{\"volume\":4}\n")
        same(#expect(throws: PreferenceError.self) { try store.load() }?.code, .unavailable)
        same(store["volume"], 4)
        same(reports.elements.map { $0.message.contains(folder.path("run")) }, [true])
    }

    @Test
    func mainFileInAFolderThatCanNotBeEnteredIsMissingUnlessItWasRead() throws {
        try folder.write("{\"volume\":3}\n", to: "own.jsonl")
        let path = folder.path("own.jsonl")
        system.fail(["open", "stat", "lstat"], path)
        let managed = store(isManaged: true)
        let store = PreferenceStore.layered([managed, .inMemory()])
        try store.write(1, for: "volume")
        try managed.load()
        same(reports.elements.map(\.code), [.notPermitted])
        system.mend()
        try managed.load()
        same(store["volume"], 3)
        system.fail(["open", "stat", "lstat"], path)
        #expect(throws: PreferenceError.self) { try managed.load() }
        same(store["volume"], 3)
    }

    /// What is read while another program writes it are the values before, until it has finished or makes no progress for a second.
    @Test
    func fileThatIsSavedInPlaceIsReadWhenItIsComplete() throws {
        try folder.write("{\"a\":1}\n{\"b\":1}\n", to: "own.jsonl")
        let time = Lock<Int64>(0)
        let source = Source(ReadOnlyFiles(FilePlaces(files: [folder.path("own.jsonl")]), now: { time.withLock { $0 } }))
        let store = PreferenceStore(.system(source))
        let issues = store.recordIssues()
        func contents(after milliseconds: Int64) throws -> [String: PropertyListValue] {
            time.withLock { $0 += milliseconds * 1_000_000 }
            try store.load()
            return store.contents
        }
        let old: [String: PropertyListValue] = ["a": 1, "b": 1]
        try same(contents(after: 0), old)
        try folder.truncate("own.jsonl", andWrite: "{\"b\":2}\n")
        try same(contents(after: 0), old)
        try same(contents(after: 40), old)
        try folder.append("{\"a\"", to: "own.jsonl")
        try same(contents(after: 40), old)
        try same(contents(after: 60), old)
        try folder.append(":2}\n", to: "own.jsonl")
        try same(contents(after: 0), old)
        try same(contents(after: 60), ["a": 2, "b": 2])
        // What is appended to it is complete with its newline.
        try folder.append("{\"c\":3}\n", to: "own.jsonl")
        try same(contents(after: 0), ["a": 2, "b": 2, "c": 3])
        #expect(issues.elements.isEmpty)
        try folder.truncate("own.jsonl", andWrite: "{\"a\":4}\n{\"b\"")
        // A look of the watcher might have begun to wait.
        try same(contents(after: 0), ["a": 2, "b": 2, "c": 3])
        try same(contents(after: 999), ["a": 2, "b": 2, "c": 3])
        try same(contents(after: 1), ["a": 4])
        same(issues.elements.map(\.damagedLine?.number), [2])
    }

    /// As by a program that removes a file and then fails to write the new one.
    @Test
    func lastStateIsForgottenASecondAfterTheFileHasGone() throws {
        try folder.write("{\"a\":1}\n", to: "etc/a.jsonl")
        let time = Lock<Int64>(0)
        let places = FilePlaces(folders: [folder.path("etc")], files: [folder.path("own.jsonl")])
        let store = PreferenceStore(.system(Source(ReadOnlyFiles(places, now: { time.withLock { $0 } }))))
        store.issueHandler = { _ in }
        for (pause, value) in [(900, 1), (1_100, nil)] as [(Int64, PropertyListValue?)] {
            try replace("etc/a.jsonl", with: "{\"a\":1}\n")
            try store.load()
            same(store["a"], 1)
            try remove("etc/a.jsonl")
            try store.load()
            same(store["a"], nil)
            time.withLock { $0 += pause * 1_000_000 }
            try makeFolder("etc/a.jsonl")
            #expect(throws: PreferenceError.self) { try store.load() }
            same(store["a"], value)
            try remove("etc/a.jsonl")
            try store.load()
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["own.jsonl", "etc/a.jsonl"])
    func fileThatCanNotBeReadIsReadOnceItIsRemoved(_ name: String) async throws {
        try makeFolder(name)
        try folder.write("{\"volume\":1}\n", to: "run/b.jsonl")
        let store = store()
        var values = Preference("volume", default: 0, in: store).updates.makeAsyncIterator()
        await same(values.next(), 1)
        try remove(name)
        try folder.write("{\"volume\":2}\n", to: "run/b.jsonl")
        await same(values.next(), 2)
        try replace(name, with: "{\"other\":3}\n")
        await eventually { store["other"] == 3 }
    }

    @Test(.timeLimit(.minutes(5)))
    func changesOfFilesAndFoldersAreSeenAtOnce() async throws {
        for name in ["etc", "run", "lib"] { try remove(name) }
        var values = Preference("volume", default: 0, in: store()).updates.makeAsyncIterator()
        await same(values.next(), 0)
        try makeFolder("run")
        try folder.write("{\"volume\":1}\n", to: "run/a.jsonl")
        await same(values.next(), 1)
        try folder.append("{\"volume\":2}\n", to: "run/a.jsonl")
        await same(values.next(), 2)
        try folder.write("{\"volume\":5}\n", to: "run/b.jsonl")
        await same(values.next(), 5)
        try remove("run/b.jsonl")
        await same(values.next(), 2)
        try makeFolder("etc")
        try replace("etc/a.jsonl", with: "{\"volume\":3}\n")
        await same(values.next(), 3)
        try remove("etc")
        await same(values.next(), 2)
        try makeFolder("etc")
        try folder.write("{\"volume\":4}\n", to: "etc/z.jsonl")
        await same(values.next(), 4)
        try folder.append("{\"volume\":null}\n", to: "etc/z.jsonl")
        await same(values.next(), 0)
        try remove("etc/z.jsonl")
        await same(values.next(), 2)
        try remove("run/a.jsonl")
        await same(values.next(), 0)
        try folder.write("{\"volume\":6}\n", to: "own.jsonl")
        await same(values.next(), 6)
        try remove("own.jsonl")
        await same(values.next(), 0)
    }

    /// As Kubernetes mounts a ConfigMap.
    @Test(.timeLimit(.minutes(5)))
    func linkOnTheWayThatIsRetargetedIsSeen() async throws {
        for (number, name) in ["one", "two"].enumerated() {
            try makeFolder(name)
            try folder.write("{\"volume\":\(number + 1)}\n", to: "\(name)/a.jsonl")
        }
        try folder.link("..data", to: "one")
        try folder.link("own.jsonl", to: "..data/a.jsonl")
        var values = Preference("volume", default: 0, in: store()).updates.makeAsyncIterator()
        await same(values.next(), 1)
        try folder.link("new", to: "two")
        same(rename(folder.path("new"), folder.path("..data")), 0)
        await same(values.next(), 2)
    }

    @Test(.timeLimit(.minutes(5)))
    func filesInFoldersThatAppearOneAfterAnotherAreAllSeen() async throws {
        let store = store()
        _ = store.contents
        for name in ["etc", "run", "lib"] { try remove(name) }
        for round in 1...rounds(100) {
            for name in ["etc", "run", "lib"] {
                try makeFolder(name)
                try folder.write("{\"\(name)\":\(round)}\n", to: "\(name)/\(name).jsonl")
            }
            await eventually { store.contents.values.count { $0 == .integer(Int64(round)) } == 3 }
            for name in ["etc", "run", "lib"] { try remove(name) }
            await eventually { store.contents.isEmpty }
        }
    }
}
