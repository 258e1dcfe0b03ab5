import FaultTestSupport
import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

/// Drop-ins of an administrator, which are read with the file that wins over them as one file.
struct DropInTests {
    private let folder: TemporaryFolder
    private let reports = Recorder<PreferenceError>()

    init() throws {
        folder = try TemporaryFolder()
        for name in ["etc", "run", "lib"] { try makeFolder(name) }
    }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }

    private var places: DropIns {
        DropIns(folders: ["etc", "run", "lib"].map { folder.path($0) }, files: [folder.path("own.jsonl")])
    }

    private func store(
        isManaged: Bool = false,
        fileSystem: any FileSystem = SystemFileSystem(),
        watcher: Watcher? = nil
    ) -> PreferenceStore {
        let source = Source(DropInBackend(places, fileSystem: fileSystem, watcher: watcher))
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
            DropIns(
                folders: ["/etc/app/managed.d", "/run/app/managed.d", "/usr/lib/app/managed.d"],
                files: ["/etc/app/managed.jsonl"]
            )
        )
        let folders = ["/etc/app", "/run/app", "/usr/lib/app"].map { $0 + "/preferences.d" }
        same(
            location.system,
            [
                DropIns(
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
                DropIns(files: ["/a/app/preferences.jsonl"]),
                DropIns(folders: ["/a/app/preferences.d"] + folders, files: ["/etc/app/preferences.jsonl"]),
            ]
        )
        location = try SuiteLocation("app", isOfProgram: true, environment: environment)
        same(location.system.last?.files, ["/deployed/preferences.jsonl", "/etc/app/preferences.jsonl"])
        let all = ["/a/app", "/etc/app", "/deployed", "/run/app", "/usr/lib/app"].map { $0 + "/preferences.d" }
        same(location.system.last?.folders, all)
        environment.configurationFolders = nil
        location = try SuiteLocation("app", isOfProgram: true, environment: environment)
        same(
            location.system.last?.folders.prefix(3),
            [
                "/etc/xdg/app/preferences.d", "/deployed/preferences.d", "/etc/app/preferences.d",
            ]
        )
        same(location.system.last?.files, ["/etc/app", "/deployed", "/etc/xdg/app"].map { $0 + "/preferences.jsonl" })
        same(location.managed.files, ["/etc/app/managed.jsonl"], "no variable moves a policy")
    }

    @Test
    func strongerFolderReplacesAFileAndTheRestIsReadInOrderOfNames() throws {
        try folder.write("{\"a\":1,\"b\":1,\"c\":1,\"d\":1}\n", to: "lib/10-a.jsonl")
        try folder.write("{\"e\":2}\n", to: "lib/20-b.jsonl")
        try folder.write("{\"f\":3,\"b\":3}\n", to: "run/20-b.jsonl")
        try folder.write("{\"b\":4,\"c\":null}\n{\"g\":4}\n", to: "etc/30-c.jsonl")
        try folder.write("{\"x\":1}\n", to: "etc/30-c.json")
        try folder.write("{\"x\":1}\n", to: "etc/.30-c.jsonl")
        try folder.write("{\n\"d\": null,\n\"g\": 5\n}\n", to: "own.jsonl")
        let store = store()
        same(store.contents, ["a": 1, "b": 4, "f": 3, "g": 5])
        #expect(reports.elements.isEmpty)
        same("\(store)", "system, \(folder.path("own.jsonl"))")
    }

    @Test
    func linkToNothingAndAnEmptyFileReplaceAFile() throws {
        try folder.write("{\"a\":1}\n", to: "lib/a.jsonl")
        try folder.write("{\"b\":1}\n", to: "lib/b.jsonl")
        try folder.link("etc/a.jsonl", to: "/dev/null")
        try folder.write("", to: "run/b.jsonl")
        #expect(store().contents.isEmpty && reports.elements.isEmpty)
    }

    @Test
    func withoutAnyFileNothingIsRestricted() throws {
        try FileManager.default.removeItem(atPath: folder.path("etc"))
        let (managed, user) = (store(isManaged: true), PreferenceStore.inMemory())
        let volume = Preference("volume", default: 5, in: .layered([managed, user]))
        try volume.write(7)
        #expect(volume.value == 7 && reports.elements.isEmpty)
        #expect(managed.core.layers.layers.first?.source.failure == nil)
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
    func damagedLineIsReportedWithItsFile() throws {
        try folder.write("{\"a\":1}\n!\n{\"b\":2}\n", to: "etc/a.jsonl")
        let store = store()
        same(store.contents, ["a": 1, "b": 2])
        same(reports.elements.map(\.code), [.damaged])
        same(reports.elements.first?.message.contains("line 2 of \(folder.path("etc/a.jsonl"))"), true)
        try store.load()
        same(reports.elements.count, 1)
    }

    @Test(arguments: ["open", "kind", "format"])
    func policyThatCanNotBeReadLetsNothingBeSet(_ fault: String) throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"volume\":3}\n", to: "own.jsonl")
        switch fault {
        case "open":
            try folder.write("{\"theme\":1}\n", to: "etc/a.jsonl")
            fileSystem.begin(
                .init(.error(.accessDenied), isLasting: true, calls: ["open"], path: folder.path("etc/a.jsonl"))
            )
        case "kind": try makeFolder("etc/a.jsonl")
        default: try folder.write("{\"$format\":9}\n", to: "etc/a.jsonl")
        }
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([self.store(isManaged: true, fileSystem: fileSystem), user])
        let volume = Preference("volume", default: 5, in: store)
        same(volume.value, 5)
        let error = #expect(throws: PreferenceError.self) { try volume.write(7) }
        #expect(error?.code == .managed && error?.description.contains("etc/a.jsonl") == true)
        #expect(user.names.isEmpty)
        fileSystem.end()
        if fault != "open" { try FileManager.default.removeItem(atPath: folder.path("etc/a.jsonl")) }
        try Preference("balance", default: 0, in: store).write(1)
        #expect(volume.value == 3 && volume.isManaged)
    }

    @Test
    func folderThatCanNotBeListedRestrictsNothingAndIsReportedOnce() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"volume\":3}\n", to: "run/a.jsonl")
        fileSystem.begin(.init(.error(.accessDenied), isLasting: true, calls: ["readdir"], path: folder.path("etc")))
        let managed = store(isManaged: true, fileSystem: fileSystem)
        let store = PreferenceStore.layered([managed, .inMemory()])
        try Preference("theme", default: "", in: store).write("dark")
        try managed.load()
        same(store["volume"], 3)
        same(reports.elements.map(\.code), [.notPermitted])
    }

    @Test
    func fileThatCanNotBeReadAnyMoreKeepsItsValuesAndOthersChange() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"a\":1}\n", to: "etc/a.jsonl")
        try folder.write("{\"b\":1}\n", to: "etc/b.jsonl")
        let store = store(fileSystem: fileSystem)
        same(store.contents, ["a": 1, "b": 1])
        for name in ["a", "b"] { try folder.write("{\"\(name)\":2}\n", to: "etc/\(name).jsonl") }
        fileSystem.begin(
            .init(.error(.inputOutput), isLasting: true, calls: ["stat"], path: folder.path("etc/a.jsonl"))
        )
        #expect(throws: PreferenceError.self) { try store.load() }
        same(store.contents, ["a": 1, "b": 2])
        fileSystem.end()
        try store.load()
        same(store.contents, ["a": 2, "b": 2])
    }

    /// A policy that was in force can't be lost by a permission.
    @Test(arguments: ["folder", "files", "stronger"])
    func policyThatWasReadStaysInForceAndLetsNothingBeSet(_ fault: String) throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"volume\":3}\n", to: "run/a.jsonl")
        let managed = store(isManaged: true, fileSystem: fileSystem)
        let store = PreferenceStore.layered([managed, .inMemory()])
        let (volume, theme) = (Preference("volume", default: 5, in: store), Preference("theme", default: 1, in: store))
        try theme.write(2)
        same(volume.value, 3)
        let fault: FaultyFileSystem.Fault =
            switch fault {
            case "folder":
                .init(.error(.accessDenied), isLasting: true, calls: ["readdir"], path: folder.path("run"))
            case "files":
                .init(.error(.accessDenied), isLasting: true, calls: ["stat"], path: folder.path("run/a.jsonl"))
            default: .init(.error(.accessDenied), isLasting: true, calls: ["open"], path: folder.path("etc/a.jsonl"))
            }
        try folder.write("{\"volume\":4}\n", to: fault.path == folder.path("etc/a.jsonl") ? "etc/a.jsonl" : "own.jsonl")
        fileSystem.begin(fault)
        #expect(throws: PreferenceError.self) { try managed.load() }
        #expect(volume.value == (fault.path == folder.path("etc/a.jsonl") ? 3 : 4) && volume.isManaged)
        same(#expect(throws: PreferenceError.self) { try theme.write(3) }?.code, .managed)
        #expect(!store.isWritable)
        fileSystem.end()
        try theme.write(3)
        #expect(volume.value == 4 && store.isWritable)
    }

    @Test
    func listedFileInAFolderThatCanNotBeEnteredIsNotTakenAsMissing() throws {
        let fileSystem = FaultyFileSystem()
        try folder.write("{\"volume\":3}\n", to: "etc/a.jsonl")
        fileSystem.begin(
            .init(.error(.accessDenied), isLasting: true, calls: ["stat", "lstat"], path: folder.path("etc/a.jsonl"))
        )
        #expect(throws: PreferenceError.self) { try store(fileSystem: fileSystem).load() }
    }

    @Test(.timeLimit(.minutes(1)))
    func unfinishedLineThatIsRemovedIsSeenAtOnce() async throws {
        try folder.write("{\"volume\":1}", to: "own.jsonl")
        let store = store(watcher: .shared)
        var values = Preference("volume", default: 0, in: store).updates.makeAsyncIterator()
        await same(values.next(), 1)
        try folder.truncate("own.jsonl", andWrite: "")
        await same(values.next(), 0)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["own.jsonl", "etc/a.jsonl"])
    func policyThatCanNotBeReadIsReadOnceItIsRemoved(_ name: String) async throws {
        try makeFolder(name)
        try folder.write("{\"volume\":1}\n", to: "run/b.jsonl")
        let store = store(watcher: .shared)
        var values = Preference("volume", default: 0, in: store).updates.makeAsyncIterator()
        await same(values.next(), 0)
        try FileManager.default.removeItem(atPath: folder.path(name))
        await same(values.next(), 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func changesOfFilesAndFoldersAreSeenAtOnce() async throws {
        for name in ["etc", "run", "lib"] { try FileManager.default.removeItem(atPath: folder.path(name)) }
        let store = store(watcher: .shared)
        var values = Preference("volume", default: 0, in: store).updates.makeAsyncIterator()
        await same(values.next(), 0)
        try makeFolder("run")
        try folder.write("{\"volume\":1}\n", to: "run/a.jsonl")
        await same(values.next(), 1)
        try folder.append("{\"volume\":2}\n", to: "run/a.jsonl")
        await same(values.next(), 2)
        try folder.write("{\"volume\":5}\n", to: "run/b.jsonl")
        await same(values.next(), 5)
        try FileManager.default.removeItem(atPath: folder.path("run/b.jsonl"))
        await same(values.next(), 2)
        try makeFolder("etc")
        try folder.write("{\"volume\":3}\n", to: "new")
        same(rename(folder.path("new"), folder.path("etc/a.jsonl")), 0)
        await same(values.next(), 3)
        try folder.write("{\"volume\":4}\n", to: "own.jsonl")
        await same(values.next(), 4)
        try folder.append("{\"volume\":null}\n", to: "own.jsonl")
        await same(values.next(), 0)
        try FileManager.default.removeItem(atPath: folder.path("own.jsonl"))
        await same(values.next(), 3)
        try FileManager.default.removeItem(atPath: folder.path("etc"))
        await same(values.next(), 2)
    }
}
