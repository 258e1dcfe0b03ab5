#if Macros
import PreferencesMacros
import PreferencesSchema
import PreferencesTesting
import Synchronization
import Testing

@PreferenceGroup(prefix: "app.")
final class Settings {
    /// The colours
    var theme = Theme.system
    @Options(.range(1...4), .title("Columns")) var columns = 2
    @Options(.length(1...8)) var artist: String?
    @Key("nick") @Options(.formerly("userName")) var nickname = ""
    var frame = Frame()
    var opacity = 1.0
    var `default` = 1
    private(set) var `größe` = 1
    let general = General()
    let launches = Preference("launches", default: 0)
    @Transient var selection = 0
    @Transient var found: String?
    #if Macros
    var conditional = false
    #endif

    func grow() { größe += 1 }
}

@PreferenceGroup
final class Session {
    /// For the server
    @Key("t") @Options(.secret, .length(1...)) var token = "hunter2"
    /// Not this
    @Options(.secret, .description("The code")) var code: Int?
}

/// A final class with the macro.
struct ClassGroupTests {
    @Test
    func secretsAreRedacted() {
        let session = Session(in: .inMemory(["code": "hunter2"]))
        #expect(session.preferences.map(\.isSecret) == [true, true])
        #expect(
            "\(session._token)" == "t = <redacted> (default)" && session._token.declaredDescription == "For the server"
        )
        let error = #expect(throws: PreferenceError.self) { try session._code.read() }
        #expect(error?.description.contains("hunter2") == false)
        var dumped = ""
        dump(session, to: &dumped)
        #expect(!dumped.contains("hunter2") && session.token == "hunter2")
    }

    @Test(arguments: StoreKind.allCases)
    func propertiesAreStoredUnderTheirNames(kind: StoreKind) throws {
        let place = try StorePlace(kind)
        let settings = Settings(in: try place.store())
        settings.theme = .dark
        settings.columns += 1
        settings.artist = "Pitt"
        settings.nickname = "P"
        settings.frame.x = 3
        settings.default = 2
        settings.grow()
        settings.general.größe = 2.5
        settings.launches.value = 3
        settings.selection = 9
        settings.conditional = true
        let stored: [String: PropertyListValue] = [
            "app.theme": "dark", "app.columns": 3, "app.artist": "Pitt", "app.nick": "P",
            "app.frame": ["x": 3, "y": 0],
            "app.default": 2, "app.größe": 2, "größe": 2.5, "launches": 3, "app.conditional": true,
        ]
        let other = try place.store()
        for (name, value) in stored { #expect(other[name] == value) }
        #expect(other.names == stored.keys.sorted())
        #expect(Settings(in: other).columns == 3)
    }

    @Test
    func declarationIsThatOfTheStructForm() throws {
        let store = PreferenceStore.inMemory()
        let settings = Settings(in: store)
        #expect(
            settings.preferences.map(\.name) == [
                "app.theme", "app.columns", "app.artist", "app.nick", "app.frame", "app.opacity", "app.default",
                "app.größe",
                "größe", "launches", "app.conditional",
            ]
        )
        #expect(settings._theme.declaredDescription == "The colours")
        #expect(throws: PreferenceError.self) { try settings._columns.write(5) }
        #expect(throws: PreferenceError.self) { try settings._artist.write("Montgomery") }
        #expect(try settings.jsonSchema().contains(#""enum":["system","light","dark"]"#))
        settings.columns = 4
        settings.selection = 4
        settings.reset()
        #expect(settings.columns == 2 && settings.selection == 4 && store.names == [])
    }

    @Test(.isolatedStores(["app.columns": 3]))
    func initializerTakesTheStandardStore() {
        let settings = Settings()
        #expect(settings.columns == 3)
        settings.artist = "Pitt"
        #expect(PreferenceStore.standard["app.artist"] == "Pitt")
    }

    @Test
    func optionsAreThoseOfTheDeclaration() {
        let settings = Settings(in: .inMemory())
        #expect(AnyPreference(settings._columns).title == "Columns")
        #expect(AnyPreference(settings._nickname).formerNames == ["userName"])
        #expect(Session(in: .inMemory())._code.declaredDescription == "The code")
    }

    private static let uses: [(name: String, read: @Sendable (Settings) -> Void, set: @Sendable (Settings) -> Void)] = [
        ("theme", { _ = $0.theme }, { $0.theme = .dark }),
        ("columns", { _ = $0.columns }, { $0.columns += 1 }),
        ("artist", { _ = $0.artist }, { $0.artist = "Pitt" }),
        ("nickname", { _ = $0.nickname }, { $0.nickname = "P" }),
        ("frame", { _ = $0.frame }, { $0.frame.x = 1 }),
        ("opacity", { _ = $0.opacity }, { $0.opacity = 0.5 }),
        ("default", { _ = $0.default }, { $0.default = 2 }),
        ("größe", { _ = $0.größe }, { $0.grow() }),
        ("general", { _ = $0.general.größe }, { $0.general.größe = 2 }),
        ("launches", { _ = $0.launches.value }, { $0.launches.value = 1 }),
        ("selection", { _ = $0.selection }, { $0.selection += 1 }),
        ("found", { _ = $0.found }, { $0.found = "x" }),
        ("conditional", { _ = $0.conditional }, { $0.conditional = true }),
    ]

    @Test(arguments: uses.indices)
    func eachPropertyIsTracked(index: Int) {
        let settings = Settings(in: .inMemory())
        let (name, read, set) = Self.uses[index]
        let notified = Mutex(0)
        withObservationTracking {
            read(settings)
        } onChange: {
            notified.withLock { $0 += 1 }
        }
        for (other, _, set) in Self.uses where other != name { set(settings) }
        #expect(notified.withLock { $0 } == 0)
        set(settings)
        #expect(notified.withLock { $0 } == 1)
    }

    @Test
    func trackedReadSeesTheNewValueWhenItIsNotified() {
        let settings = Settings(in: .inMemory())
        let seen = Mutex(0)
        withObservationTracking {
            _ = settings.selection
        } onChange: {
            seen.withLock { $0 = settings.selection }
        }
        settings.selection = 5
        #expect(seen.withLock { $0 } == 5)
    }

    @Test
    func transientValuesBelongToTheObject() {
        let store = PreferenceStore.inMemory()
        let (first, second) = (Settings(in: store), Settings(in: store))
        first.selection = 1
        first.columns = 3
        #expect(second.selection == 0 && second.columns == 3)
        #expect(first.found == nil)
    }

    @Test
    func transientValueIsSharedByThreads() async {
        let settings = Settings(in: .inMemory())
        await withTaskGroup { group in
            for number in 1...8 {
                group.addTask { for _ in 0..<100 { settings.selection = number } }
                group.addTask { for _ in 0..<100 { #expect((0...8).contains(settings.selection)) } }
            }
        }
        #expect((1...8).contains(settings.selection))
    }

    @Test
    func replacedTransientValueMayUseTheObjectWhenItEnds() {
        final class Owner: Sendable {
            let end: @Sendable () -> Void
            init(_ end: @escaping @Sendable () -> Void) { self.end = end }
            deinit { end() }
        }
        let value = _TransientValue<Owner?>(nil)
        let ended = Mutex(false)
        value.value = Owner {
            #expect(value.value == nil)
            ended.withLock { $0 = true }
        }
        value.value = nil
        #expect(ended.withLock { $0 })
    }
}
#endif
