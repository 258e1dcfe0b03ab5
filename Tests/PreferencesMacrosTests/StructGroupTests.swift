#if Macros
import Foundation
import PreferencesMacros
import PreferencesTesting
import Testing

enum Theme: String, CaseIterable { case system, light, dark }
struct Frame: Codable, Equatable { var x = 0, y = 0 }

@PreferenceGroup(prefix: "player.")
struct Player {
    /// How loud it is,
    /// from silent on
    ///
    /// More of it.
    @Rule(.range(0...10)) var volume = 5
    var artist: String?
    @Key("nick", migratingFrom: "userName", "player.nickName") var nickname = ""
    @Rule(.choices([Theme.light, .dark])) var theme = Theme.light
    @Rule(.check { $0 != 80 }) var port = 8080
    @Rule(.length(...2)) var recent: [String] = []
    var frame: Frame? = nil
    var `default` = 1
    let general = General()
    let launches = Preference("launches", default: 0)
    @Preference("written") var written = 0.5
    @Transient var selection = 7
    #if Macros
    @Key("conditional", migratingFrom: "old") var conditional = true
    #else
    var missing = true
    #endif
}

@PreferenceGroup(prefix: "account.")
struct Credentials {
    /// For the server
    @Secret @Key("t") @Rule(.choices(["hunter2", "other"])) var token = "hunter2"
    @Secret var code: Int?
    @Preference("written", .secret) var written = "hunter2"
    var name = ""
}

@PreferenceGroup
struct General {
    var `größe` = 1.5
}

/// A struct with the macro, over each kind of store.
struct StructGroupTests {
    @Test
    func secretsAreRedacted() throws {
        let group = Credentials(in: .inMemory(["account.code": "hunter2"]))
        #expect(group.preferences.map(\.isSecret) == [true, true, true, false])
        #expect(group.$token.name == "account.t" && group.$token.declaredDescription == "For the server")
        #expect(!"\(group) \(group.preferences) \(try group.jsonSchema())".contains("hunter2"))
        let error = #expect(throws: PreferenceError.self) { try group.$token.write("hunter3") }
        #expect(error?.message == "<redacted> is rejected by the preference's rule; nothing was changed")
        group.token = "other"
        #expect(group.token == "other" && "\(group.$name)" == "account.name =  (default)")
    }

    @Test(arguments: StoreKind.allCases)
    func propertiesAreStoredUnderTheirNames(kind: StoreKind) throws {
        let place = try StorePlace(kind)
        let player = Player(in: try place.store())
        player.volume = 7
        player.artist = "Pitt"
        player.nickname = "P"
        player.frame = Frame(x: 1, y: 2)
        player.default = 2
        player.general.größe = 2.5
        player.launches.value = 3
        player.written = 0.25
        player.conditional = false
        let stored: [String: PropertyListValue] = [
            "player.volume": 7, "player.artist": "Pitt", "player.nick": "P", "player.frame": ["x": 1, "y": 2],
            "player.default": 2, "größe": 2.5, "launches": 3, "written": 0.25, "player.conditional": false,
        ]
        let other = try place.store()
        for (name, value) in stored { #expect(other[name] == value) }
        #expect(other.names == stored.keys.sorted())
        #expect(Player(in: other).frame == Frame(x: 1, y: 2))
    }

    @Test
    func declarationIsThatOfTheWrittenForm() throws {
        let store = PreferenceStore.inMemory()
        let player = Player(in: store)
        #expect(
            player.preferences.map(\.name) == [
                "player.volume", "player.artist", "player.nick", "player.theme", "player.port", "player.recent",
                "player.frame",
                "player.default", "größe", "launches", "written", "player.conditional",
            ]
        )
        #expect(player.$volume.declaredDescription == "How loud it is, from silent on")
        #expect(player.$artist.declaredDescription == nil)
        #expect(player.selection == 7)
        #expect(throws: PreferenceError.self) { try player.$volume.write(11) }
        #expect(throws: PreferenceError.self) { try player.$theme.write(.system) }
        #expect(throws: PreferenceError.self) { try player.$port.write(80) }
        #expect(throws: PreferenceError.self) { try player.$recent.write(["a", "b", "c"]) }
        #expect(store.names == [])
        let schema = try player.jsonSchema()
        #expect(
            schema.contains(
                #""player.volume":{"default":5,"description":"How loud it is, from silent on","maximum":10"#
            )
        )
        player.volume = 3
        player.reset()
        #expect(player.volume == 5 && store.names == [])
    }

    @Test(.isolatedStores(["player.volume": 3]))
    func initializerTakesTheStandardStore() {
        let player = Player()
        #expect(player.volume == 3)
        player.artist = "Pitt"
        #expect(PreferenceStore.standard["player.artist"] == "Pitt")
    }

    @Test(arguments: StoreKind.allCases)
    func formerNamesMoveWhenAsked(kind: StoreKind) throws {
        let place = try StorePlace(kind)
        let store = try place.store()
        store["player.nickName"] = "P"
        store["old"] = false
        let player = Player(in: store)
        #expect(player.nickname == "" && player.conditional)
        player.migrate()
        #expect(player.nickname == "P" && !player.conditional)
        #expect(store.names == ["player.conditional", "player.nick"])
        // Of several, the first that is set is moved; a value that is set already stays.
        store["userName"] = "U"
        player.migrate()
        #expect(player.nickname == "P" && store["userName"] == "U")
    }

    @Test
    func declaringReadsAndWritesNothing() {
        let backend = FaultInjectingBackend(["userName": "U"])
        backend.failNext(.load, count: .max)
        backend.failNext(.apply, count: .max)
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { Issue.record("\($0)") }
        _ = Player(in: store)
        _ = Settings(in: store)
    }
}

/// The stores over which the groups are tested.
enum StoreKind: CaseIterable { case memory, file, backend }

/// A place whose contents several stores share.
struct StorePlace: ~Copyable {
    private let make: () throws -> PreferenceStore
    private let folder = FileManager.default.temporaryDirectory.appending(path: "PreferencesMacrosTests-\(UUID())")

    init(_ kind: StoreKind) throws {
        let file = folder.appending(path: "preferences.jsonl")
        let memory = PreferenceStore.inMemory()
        let backend = PreferenceStore(backend: FaultInjectingBackend())
        make =
            switch kind {
            case .memory: { memory }
            case .backend: { backend }
            case .file: { try .file(at: file) }
            }
    }

    func store() throws -> PreferenceStore { try make() }

    deinit {
        do { try FileManager.default.removeItem(at: folder) } catch CocoaError.fileNoSuchFile {} catch {
            Issue.record(error)
        }
    }
}
#endif
