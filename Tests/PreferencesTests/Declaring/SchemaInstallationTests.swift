import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesSchema

private struct Sound: PreferenceGroup {
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("muted") var muted = false
}

/// The group of the next version of a program, which differs in name because both are in this file.
private enum Later {
    struct Sound: PreferenceGroup {
        @Preference("volume", .range(0...11)) var volume = 5
        @Preference("balance") var balance = 0.0
    }
}

private struct Look: PreferenceGroup {
    @Preference("theme") var theme = "system"
    @Preference("elsewhere", in: .inMemory()) var elsewhere = 1
    let inner = Inner()
}

private struct Dollar: PreferenceGroup {
    @Preference("$odd") var odd = Data([1])
}

private struct Inner: PreferenceGroup {
    @Preference("size") var size = 12
}

private struct Renamed: PreferenceGroup {
    @Preference("sendReports", .formerly("telemetry", "stats")) var sendReports = true
}

/// Tests of the schema file, against which `prefs` checks values.
struct SchemaInstallationTests {
    private let folder: TemporaryFolder
    private let store: PreferenceStore
    private static let name = "preferences.schema.json"

    init() throws {
        folder = try TemporaryFolder()
        store = try .file(at: URL(filePath: folder.path("app/preferences.jsonl")))
    }

    private var path: String { folder.path("app/" + Self.name) }

    /// Returns the keywords of each property of the installed schema.
    private func properties() throws -> [String: [String: PropertyListValue]] {
        guard case .dictionary(let members) = try PreferenceSchema.value(in: try folder.read("app/" + Self.name)),
            members["type"] == "object", case .dictionary(let properties) = members["properties"]
        else {
            Issue.record("it isn't a schema")
            return [:]
        }
        return properties.mapValues { if case .dictionary(let members) = $0 { members } else { [:] } }
    }

    private func status() throws -> FileStatus { try FileSystem.system.status(at: path) }

    private func makeFolder(_ name: String = "app") throws { try FileSystem.system.makeFolder(folder.path(name)) }

    @Test
    func schemaIsNextToTheFileOfTheStore() throws {
        try Sound(in: store).installSchema()
        let properties = try properties()
        same(Set(properties.keys), ["volume", "muted"])
        let expected: [String: PropertyListValue] = [
            "type": "integer", "minimum": 0, "maximum": 10, "default": 5, "x-group": "PreferencesTests.Sound",
        ]
        same(properties["volume"], expected)
        try same(folder.names(in: "app"), [Self.name])
    }

    @Test
    func onlyTheUserCanReadFileAndFolders() throws {
        try Sound(in: store).installSchema()
        try same(status().mode & 0o777, 0o600)
        try same(FileSystem.system.status(at: folder.path("app")).mode & 0o777, 0o700)
    }

    @Test
    func modeOfAnExistingFileIsKept() throws {
        try Sound(in: store).installSchema()
        chmod(path, 0o644)
        try Look(in: store).installSchema()
        try same(status().mode & 0o777, 0o644)
        try same(properties().count, 4)
    }

    @Test
    func sameSchemaIsNotWrittenAgain() throws {
        for _ in 1...2 {
            try Sound(in: store).installSchema()
            try Look(in: store).installSchema()
            try Inner(in: store).installSchema()
        }
        let before = try status()
        try Look(in: store).installSchema()
        try Sound(in: store).installSchema()
        try Inner(in: store).installSchema()
        try same(status(), before)
    }

    @Test
    func otherGroupsKeepTheirProperties() throws {
        try Sound(in: store).installSchema()
        try Look(in: store).installSchema()
        try same(Set(properties().keys), ["volume", "muted", "theme", "size"])
        try same(properties()["theme"]?["x-group"], "PreferencesTests.Look")
        try same(properties()["volume"]?["x-group"], "PreferencesTests.Sound")
    }

    @Test
    func removedPreferenceIsRemovedFromTheFile() throws {
        try Look(in: store).installSchema()
        try Later.Sound(in: store).installSchema()
        // The file that an earlier version of the type has written.
        let text = try folder.read("app/" + Self.name)
        try folder.write(
            text.replacing(
                "\"balance\":",
                with: "\"gone\":{\"x-group\":\"PreferencesTests.Later.Sound\"},\"old\":{},\"balance\":"
            )
            .replacing("\"maximum\":11", with: "\"maximum\":10"),
            to: "app/" + Self.name
        )
        try same(Set(properties().keys), ["theme", "size", "volume", "balance", "gone", "old"])
        try Later.Sound(in: store).installSchema()
        try same(Set(properties().keys), ["theme", "size", "volume", "balance", "old"])
        try same(properties()["volume"]?["maximum"], 11)
    }

    @Test
    func preferenceOfAnotherStoreIsLeftOut() throws {
        try Look(in: store).installSchema()
        try same(properties()["elsewhere"], nil)
    }

    @Test
    func scopeHasItsOwnProperties() throws {
        let account = store.scoped(prefix: "account.1.")
        for _ in 1...2 {
            try Sound(in: store).installSchema()
            try Sound(in: account).installSchema()
        }
        try same(Set(properties().keys), ["volume", "muted", "account.1.volume", "account.1.muted"])
    }

    @Test
    func scopeIsInFrontOfFormerNames() throws {
        try Renamed(in: store.scoped(prefix: "account.1.")).installSchema()
        try same(properties()["account.1.sendReports"]?["x-formerly"], ["account.1.telemetry", "account.1.stats"])
    }

    @Test(arguments: ["", "{", "[1]", "\"text\"", "{\"properties\":5}", "{\"$schema\":\"x\"}"])
    func fileThatIsNotASchemaIsReplaced(_ text: String) throws {
        try makeFolder()
        try folder.write(text, to: "app/" + Self.name)
        try Sound(in: store).installSchema()
        try same(Set(properties().keys), ["volume", "muted"])
    }

    /// Including JSON that has no meaning for the library, and null, which isn't a stored value.
    @Test
    func allOtherJSONIsKept() throws {
        try makeFolder()
        let foreign = #"""
            "$id":"x","$schema":"https://json-schema.org","properties":{"$$cost":{"default":{"$date":1}},\#
            "a":{"$ref":"#/$defs/a","const":null,"examples":[null,{"$data":"!"},{"$real":0.5,"x":[]}]}
            """#
        try folder.write("{\(foreign)}}", to: "app/" + Self.name)
        try Sound(in: store).installSchema()
        let text = try folder.read("app/" + Self.name)
        #expect(text.hasPrefix("{\(foreign),\"muted\":{"), "\(text)")
        #expect(text.contains("\"volume\":{"))
    }

    @Test
    func namesWithADollarAreEscapedAsInThePreferencesFile() throws {
        for _ in 1...2 { try Dollar(in: store).installSchema() }
        #expect(try folder.read("app/" + Self.name).contains(#""properties":{"$$odd":{"default":{"$data":"AQ=="},"#))
        try same(Set(properties().keys), ["$odd"])
    }

    @Test(arguments: [true, false])
    func firstGroupThatDeclaresANameKeepsIt(isReopened: Bool) throws {
        try Sound(in: store).installSchema()
        try Later.Sound(in: store).installSchema()
        let before = try folder.read("app/" + Self.name)
        try same(properties()["volume"]?["maximum"], 10)
        try same(properties()["balance"]?["x-group"], "PreferencesTests.Later.Sound")
        if isReopened { try Sound(in: store).installSchema() }
        try Later.Sound(in: store).installSchema()
        try same(folder.read("app/" + Self.name), before)
    }

    @Test
    func linkIsFollowed() throws {
        try makeFolder()
        try folder.write("{}", to: "real.json")
        try folder.link("app/" + Self.name, to: folder.path("real.json"))
        try Sound(in: store).installSchema()
        #expect(try folder.read("real.json").contains("volume"))
        try same(folder.names(), ["app", "real.json"])
        try same(FileSystem.system.status(at: path, followsLinks: false).isLink, true)
    }

    @Test
    func storesWithoutAFileHaveNoSchema() throws {
        try Sound(in: .inMemory()).installSchema()
        // In a test process the standard store is in memory.
        try Sound().installSchema()
        try PreferenceStore.withIsolatedStores { try Sound(in: .layered([.standard])).installSchema() }
        try same(folder.names(), [])
    }

    @Test
    func fileInPlaceOfAFolderIsUnavailable() throws {
        try folder.write("", to: "file")
        let path = folder.path("file/preferences.schema.json")
        #expect(throws: FileSystemError.self) { try update(path) }
    }

    private func update(_ path: String, _ system: FileSystem = .system, trustsOwner: Bool = false) throws {
        try WholeFile(path, system, trustsOwner: trustsOwner).update(until: .period(.seconds(5))) { _ in
            Array("new".utf8)
        }
    }

    @Test
    func schemaWithoutWritePermissionIsNotPermitted() throws {
        try makeFolder()
        let store = fileStore(folder.path("app/preferences.jsonl"), ReadOnlyFileSystem(EACCES))
        let error = #expect(throws: PreferenceError.self) { try Sound(in: store).installSchema() }
        same(error?.code, .notPermitted)
        same(error?.message.contains(path), true)
    }

    @Test
    func otherUsersFolderIsNotPermitted() throws {
        try makeFolder()
        let system = FaultyFileSystem()
        system.run(as: 0, [folder.path("app"): 4711])
        let error = #expect(throws: FileSystemError.self) { try update(path, system) }
        same(error?.kind, .foreignOwner(4711))
        try same(folder.names(in: "app"), [])
        try update(path, system, trustsOwner: true)
        try same(folder.names(in: "app"), [Self.name])
    }

    /// The schema is next to the file, whose owner the program trusts.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func schemaOfATrustedFolderIsInstalled() throws {
        try makeFolder("theirs")
        try #require(chown(folder.path("theirs"), 4711, 4711) == 0)
        let path = folder.path("theirs/preferences.jsonl")
        let store = try PreferenceStore.file(at: URL(filePath: path), trustsOwner: true)
        try Sound(in: store).installSchema()
        try same(folder.names(in: "theirs"), [Self.name])
    }

    /// Whichever system call fails, the file is the old one or the new one, and no temporary file remains.
    @Test
    func failureLeavesACompleteFile() throws {
        try makeFolder()
        for isThere in [false, true] {
            for start in 0..<60 {
                unlink(path)
                if isThere { try folder.write("old", to: "app/" + Self.name) }
                let system = FaultyFileSystem()
                system.begin(.init(code: EIO, start: start))
                do { try update(path, system) } catch {
                    let isSynced = (error as? PreferenceError)?.code != .notDurable
                    let names = try folder.names(in: "app")
                    same(names, isThere || !isSynced ? [Self.name] : [], "\(start): \(error)")
                    if isThere { try same(folder.read("app/" + Self.name), isSynced ? "old" : "new") }
                }
            }
        }
    }

    @Test
    func temporaryFilesOfCrashedProcessesAreRemoved() throws {
        try makeFolder()
        try folder.write("x", to: "app/.\(Self.name).abc.new")
        try Sound(in: store).installSchema()
        try same(folder.names(in: "app"), [Self.name])
    }

    @Test
    func simultaneousCallsKeepEachOthersProperties() async throws {
        for round in 0..<rounds(50) {
            let schema = folder.path("\(round)/" + Self.name)
            let stores = try (0..<2).map { number in
                try PreferenceStore.file(at: URL(filePath: folder.path("\(round)/\(number).jsonl")))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try Sound(in: stores[0]).installSchema() }
                group.addTask { try Look(in: stores[1]).installSchema() }
                group.addTask { try Later.Sound(in: stores[0]).installSchema() }
                // A reader always finds a complete file.
                for _ in 0..<20 {
                    guard let text = try? String(contentsOf: URL(filePath: schema), encoding: .utf8) else { continue }
                    #expect(throws: Never.self) { try PropertyListValue(json: text) }
                }
                try await group.waitForAll()
            }
            let text = try folder.read("\(round)/" + Self.name)
            for name in ["muted", "balance", "theme", "size"] { #expect(text.contains("\"\(name)\""), "\(text)") }
            try same(folder.names(in: "\(round)"), [Self.name])
        }
    }
}
