#if Configuration
import Configuration
import FileTestSupport
import Foundation
import Preferences
import PreferencesConfiguration
import SystemPackage
import TestSupport
import Testing

/// The snippets of the guide.
struct GuideTests {
    // snippet: declarations
    struct PlayerPreferences: PreferenceGroup {
        @Preference("player.volume", .range(0...10)) var volume = 5
        @Preference("player.theme") var theme = "system"
        @Preference("player.folder") var folder: URL?
    }
    // end

    @Test
    func deployedConfigurationLiesBelowTheUser() async throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"player": {"volume": 3, "theme": "dark"}}"#, to: "player.json")
        let path = FilePath(folder.path("player.json"))
        let user = PreferenceStore.inMemory()
        // snippet: layer
        let environment = EnvironmentVariablesProvider()  // PLAYER_VOLUME=7
        let file = try await FileProvider<JSONSnapshot>(filePath: path)  // {"player": {"volume": 3, "theme": "dark"}}
        let deployed = ConfigReader(providers: [environment, file])
        let store = PreferenceStore.layered([
            user,  // such as .standard
            .configuration(deployed, for: PlayerPreferences.self),
        ])
        let player = PlayerPreferences(in: store)
        print(player.theme, player.$theme.source)  // dark configuration
        player.theme = "light"  // goes to the user's store
        print(player.theme, player.$theme.source)  // light store
        player.$theme.reset()
        print(player.theme)  // dark
        // end
        same(player.theme, "dark")
        same(player.$theme.source.name, "configuration")
        same(player.folder, nil)
    }

    @Test
    func eachReaderIsALayer() {
        let (environment, file) = (InMemoryProvider(values: ["player.volume": 7]), InMemoryProvider(values: [:]))
        // snippet: two layers
        let store = PreferenceStore.layered([
            .inMemory(),
            .configuration(ConfigReader(provider: environment), for: PlayerPreferences.self, named: "environment"),
            .configuration(ConfigReader(provider: file), for: PlayerPreferences.self, named: "player.json"),
        ])
        let player = PlayerPreferences(in: store)
        print(player.$volume.source, player.$theme.source)  // environment default
        // end
        same("\(player.$volume.source) \(player.$theme.source)", "environment default")
    }

    @Test
    func readersReadTheUsersSettings() {
        let store = PreferenceStore.inMemory()
        // snippet: provider
        let config = ConfigReader(providers: [
            PreferenceStoreProvider(store),  // the user's settings, such as .standard
            InMemoryProvider(values: ["player.volume": 3]),
        ])
        print(config.int(forKey: "player.volume", default: 5))  // 3
        store["player.volume"] = 7
        print(config.int(forKey: "player.volume", default: 5))  // 7
        // end
        same(config.int(forKey: "player.volume"), 7)
    }

    @Test
    func groupsAddDefaults() {
        let store = PreferenceStore.inMemory()
        // snippet: provider of a group
        let config = ConfigReader(provider: PreferenceStoreProvider(store, for: PlayerPreferences.self))
        print(config.int(forKey: "player.volume") ?? 0)  // 5
        store["player.volume"] = 99  // breaks the rule, is reported and passed over
        print(config.int(forKey: "player.volume") ?? 0)  // 5
        // end
        same(config.int(forKey: "player.volume"), 5)
    }

    @Test
    func namesAreMapped() {
        let store = PreferenceStore.inMemory(["PlayerVolume": 7])
        struct OldPreferences: PreferenceGroup {
            @Preference("PlayerVolume") var volume = 5
        }
        // snippet: names
        let provider = PreferenceStoreProvider(store) { key in
            key.components.map(\.capitalized).joined()  // player.volume is PlayerVolume
        }
        let deployed = ConfigReader(provider: InMemoryProvider(values: ["old.PlayerVolume": 3]))
        let layer = PreferenceStore.configuration(deployed, for: OldPreferences.self) { name in ["old", name] }
        // end
        same(ConfigReader(provider: provider).int(forKey: "player.volume"), 7)
        same(OldPreferences(in: layer).volume, 3)
    }

    @Test
    func changesAreLive() async throws {
        // snippet: changes
        let remote = MutableInMemoryProvider(initialValues: ["player.volume": 3])
        let layer = PreferenceStore.configuration(ConfigReader(provider: remote), for: PlayerPreferences.self)
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([user, layer])
        let player = PlayerPreferences(in: store)
        remote.setValue(4, forKey: "player.volume")
        for await volume in player.$volume.updates where volume == 4 { break }  // at once, or a moment later

        let config = ConfigReader(provider: PreferenceStoreProvider(user))
        user["player.theme"] = "light"
        try await config.watchString(forKey: "player.theme") { themes in
            for await theme in themes {
                print(theme ?? "none")  // light
                break
            }
        }
        // end
        same(player.volume, 4)
    }

    @Test
    func secretsAreRedacted() {
        let store = PreferenceStore.inMemory(["account.password": "s3cret", "account.token": "hunter2"])
        let token = Preference<String?>("account.token", .secret, in: store)
        // snippet: secrets
        let provider = PreferenceStoreProvider(
            store,
            secretsSpecifier: .dynamic { name, _ in name.hasSuffix(".password") }
        )
        // PreferenceStoreProvider[2 values: account.password=<redacted>, account.token=<redacted>]
        debugPrint(provider)
        // end
        same(
            String(reflecting: provider),
            "PreferenceStoreProvider[2 values: account.password=<redacted>, account.token=<redacted>]"
        )
        #expect(token.isSecret)
    }
}
#endif
