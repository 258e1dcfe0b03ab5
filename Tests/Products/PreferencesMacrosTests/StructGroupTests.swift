#if Macros
import Foundation
import PreferencesMacros
import PreferencesSchema
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
    @Options(.range(0...10), .title("Volume")) var volume = 5
    var artist: String?
    @Key("nick") @Options(.formerly("userName", "player.nickName")) var nickname = ""
    /// Not this
    @Options(.choices([Theme.light, .dark]), .description("The colours")) var theme = Theme.light
    @Options(.check("must not be 80") { $0 != 80 }, .range(1...)) var port = 8080
    @Options(.length(...2)) var recent: [String] = []
    var frame: Frame? = nil
    var `default` = 1
    let general = General()
    let launches = Preference("launches", default: 0)
    @Preference("written") var written = 0.5
    @Transient var selection = 7
    #if Macros
    @Key("conditional") @Options(.formerly("old")) var conditional = true
    #else
    var missing = true
    #endif
}

@PreferenceGroup(prefix: "account.")
struct Credentials {
    /// For the server
    @Key("t") @Options(.secret, .choices(["hunter2", "other"])) var token = "hunter2"
    @Options(.secret) var code: Int?
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
        #expect(player.$theme.declaredDescription == "The colours" && AnyPreference(player.$volume).title == "Volume")
        #expect(AnyPreference(player.$nickname).formerNames == ["userName", "player.nickName"])
        #expect(AnyPreference(player.$conditional).formerNames == ["old"])
        #expect(AnyPreference(player.$port).rules.map(\.description) == ["must not be 80", "1..."])
        #expect(player.selection == 7)
        #expect(throws: PreferenceError.self) { try player.$volume.write(11) }
        #expect(throws: PreferenceError.self) { try player.$theme.write(.system) }
        #expect(throws: PreferenceError.self) { try player.$port.write(80) }
        #expect(throws: PreferenceError.self) { try player.$port.write(0) }
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
