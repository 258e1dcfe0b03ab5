#if Macros
import PreferencesMacros
import PreferencesTesting
import Synchronization
import Testing

/// The examples of the guide.
struct GuideTests {
    enum Theme: String, CaseIterable { case system, light, dark }

    @Test
    func groupIsUsedAsTheWrittenOne() {
        let store = PreferenceStore.inMemory()
        typealias Player = PlayerDeclarations.Player
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }
        // snippet: use
        let player = Player(in: store)
        player.volume = 7
        player.nickname = "Pitt"
        print(store.names)  // ["player.nick", "player.volume"]
        print(player.$volume)  // player.volume = 7 (store)
        print(player.$volume.declaredDescription ?? "")  // How loud it is
        player.reset()
        // end
        #expect(printed == [#"["player.nick", "player.volume"]"#, "player.volume = 7 (store)", "How loud it is"])
        #expect(player.volume == 5 && store.names == [])
    }

    @Test
    func classIsTrackedAndStored() {
        let store = PreferenceStore.inMemory()
        let notified = Mutex<[String]>([])
        @Sendable func print(_ text: String) { notified.withLock { $0.append(text) } }
        typealias BrowserSettings = ClassDeclarations.BrowserSettings
        // snippet: class use
        let settings = BrowserSettings(in: store)
        withObservationTracking {
            _ = settings.columns
        } onChange: {
            print("columns changed")
        }
        settings.columns = 3  // prints, and is stored
        settings.selection = 1  // tracked as well, and never stored
        settings._columns.reset()  // the preference itself
        // end
        #expect(notified.withLock { $0 } == ["columns changed"] && store.names == [] && settings.selection == 1)
    }

    @Test
    func namesAndOptions() throws {
        let store = PreferenceStore.inMemory()
        let player = RenamedDeclarations.Player(in: store)
        #expect(player.$nickname.name == "player.nick")
        #expect(AnyPreference(player.$nickname).formerNames == ["player.nickName", "userName"])
        let ruled = RuledDeclarations.Ruled(in: store)
        #expect(throws: PreferenceError.self) { try ruled.$theme.write(.system) }
        #expect(throws: PreferenceError.self) { try ruled.$port.write(80) }
        #expect(throws: PreferenceError.self) { try ruled.$title.write("") }
        #expect(throws: PreferenceError.self) { try ruled.$sum.write(3) }
        #expect(AnyPreference(ruled.$volume).title == "Volume" && AnyPreference(ruled.$volume).section == "Sound")
    }

    @Test
    func secretsAreRedacted() {
        let store = PreferenceStore.inMemory()
        typealias Credentials = SecretDeclarations.Credentials
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }
        // snippet: secret use
        let credentials = Credentials(in: store)
        credentials.token = "hunter2"
        print(credentials.$token)  // account.token = <redacted> (store)
        // end
        #expect(printed == ["account.token = <redacted> (store)"])
    }

    @Test(.isolatedStores)
    func bothFormsStoreTheSame() {
        let (written, general) = (Written.GeneralPreferences(), ByMacro.GeneralPreferences())
        written.theme = .dark
        written.automaticallyUpdate = false
        #expect(general.theme == .dark && !general.automaticallyUpdate)
        #expect(written.preferences.map(\.name) == general.preferences.map(\.name))
        #expect(
            Written.PlayerPreferences().preferences.map(\.name) == ByMacro.PlayerPreferences().preferences.map(\.name)
        )
        let (model, object) = (Written.BrowserSettings(), ByMacro.BrowserSettings())
        model.columns = 3
        #expect(object.columns == 3)
        #expect(model.preferences.map(\.name) == object.preferences.map(\.name))
    }
}

enum SecretDeclarations {
    // snippet: secret group
    @PreferenceGroup(prefix: "account.")
    struct Credentials {
        @Options(.secret) var token: String?
    }
    // end
}

enum PlayerDeclarations {
    // snippet: struct
    @PreferenceGroup(prefix: "player.")
    struct Player {
        /// How loud it is
        @Options(.range(0...10)) var volume = 5
        var artist: String?
        @Key("nick") var nickname = ""
    }
    // end
}

enum ClassDeclarations {
    typealias Theme = GuideTests.Theme
    // snippet: class
    @PreferenceGroup
    final class BrowserSettings {
        var theme = Theme.system
        var columns = 2
        @Transient var selection = 0
    }
    // end
}

enum RenamedDeclarations {
    // snippet: renamed
    @PreferenceGroup(prefix: "player.")
    struct Player {
        @Key("nick") @Options(.formerly("player.nickName", "userName")) var nickname = ""
    }
    // end
}

enum RuledDeclarations {
    typealias Theme = GuideTests.Theme
    // snippet: options
    @PreferenceGroup
    struct Ruled {
        @Options(.range(0...10), .title("Volume"), .section("Sound")) var volume = 5
        @Options(.choices([Theme.light, .dark])) var theme = Theme.light
        @Options(.length(1...8)) var nickname: String?
        @Options(.check("must not be 80") { $0 != 80 }) var port = 8080
        @Options(.check { !$0.isEmpty }) var title = "Untitled"
        @Options(PreferenceOption<Int>.even) var sum = 0
    }
    // end
}

// snippet: own option
extension PreferenceOption where Value: BinaryInteger {
    static var even: Self { .check("must be even") { $0.isMultiple(of: 2) } }
}
// end

enum Written {
    typealias Theme = GuideTests.Theme
    typealias WindowFrame = Frame
    struct PlayerPreferences: PreferenceGroup {
        @Preference("volume", .range(0...10)) var volume = 5
        @Preference("artist") var artist: String?
    }
    struct GeneralPreferences: PreferenceGroup {
        @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
        @Preference("theme") var theme = Theme.system  // stored by its raw value
        @Preference("window") var window = WindowFrame()  // any Codable
        @Preference("nickname") var nickname: String?  // nil means: not set
        @Preference("volume", .range(0...10)) var volume = 5
        let launches = Preference("launches", default: 0)  // without a wrapper: launches.value
    }
    // snippet: written class
    final class BrowserSettings: PreferenceGroup, Observable {
        let _theme = Preference("theme", default: Theme.system)
        var theme: Theme {
            get { _theme.value }
            set { _theme.value = newValue }
        }

        let _columns = Preference("columns", default: 2)
        var columns: Int {
            get { _columns.value }
            set { _columns.value = newValue }
        }
    }
    // end
}

enum ByMacro {
    typealias Theme = GuideTests.Theme
    typealias WindowFrame = Frame
    // snippet: macro forms
    @PreferenceGroup
    struct PlayerPreferences {
        @Options(.range(0...10)) var volume = 5
        var artist: String?
    }

    @PreferenceGroup
    struct GeneralPreferences {
        @Key("AutomaticallyUpdate") var automaticallyUpdate = true
        var theme = Theme.system
        var window = WindowFrame()
        var nickname: String?
        @Options(.range(0...10)) var volume = 5
        var launches = 0
    }

    @PreferenceGroup
    final class BrowserSettings {
        var theme = Theme.system
        var columns = 2
    }
    // end
}
#endif
