#if Configuration
import Configuration
import FileTestSupport
import Foundation
import Preferences
import PreferencesConfiguration
import Synchronization
import SystemPackage
import TestSupport
import Testing

struct LayerTests {
    struct PlayerPreferences: PreferenceGroup {
        @Preference("player.volume", .range(0...10)) var volume = 5
        @Preference("player.theme") var theme = "system"
        @Preference("enabled") var isEnabled = false
        @Preference("opened") var opened: Date?
        @Preference("dates") var dates: [Date] = []
        @Preference("folders") var folders: [URL] = []
        @Preference("ratios") var ratios: [Double] = []
        @Preference("icon") var icon = Data()
        @Preference("columns") var columns: [String: Int] = [:]
        @Preference("licence", in: .inMemory()) var licence: String?
        let timeout = Preference("timeout", default: Duration.seconds(1))
    }

    private func group(over provider: some ConfigProvider) -> (PlayerPreferences, IssueLog) {
        let store = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self)
        let issues = IssueLog(of: store)
        return (PlayerPreferences(in: store), issues)
    }

    @Test
    func layerAnswersBelowWhatTheUserSet() {
        let provider = InMemoryProvider(values: ["player.volume": 7, "player.theme": "dark", "undeclared": 1])
        let layer = PreferenceStore.configuration(
            ConfigReader(provider: provider),
            for: PlayerPreferences.self,
            named: "deployed"
        )
        let user = PreferenceStore.inMemory(["player.theme": "light"])
        let player = PlayerPreferences(in: .layered([user, layer]))
        same(player.volume, 7)
        same(player.$volume.source.name, "deployed")
        same(player.theme, "light")
        same(player.$theme.source, .store)
        same(player.$isEnabled.source, .default)
        same(layer.names, ["player.theme", "player.volume"])
        player.volume = 8
        same(user["player.volume"], 8)
    }

    @Test
    func layerRejectsWrites() {
        let (player, issues) = group(over: InMemoryProvider(values: ["player.volume": 7]))
        #expect(throws: PreferenceError.self) { try player.$volume.write(8) }
        player.volume = 8
        same(player.volume, 7)
        same(issues.all.map(\.code), [.readOnly])
    }

    @Test
    func textOfTheEnvironmentIsReadByTheDeclaredType() {
        let (player, issues) = group(
            over: EnvironmentVariablesProvider(environmentVariables: [
                "PLAYER_VOLUME": "7", "PLAYER_THEME": "{7}", "ENABLED": "YES", "OPENED": "2001-01-01T00:00:00Z",
                "DATES": "2001-01-01T00:00:00Z,2001-01-01T00:00:01Z", "FOLDERS": "file:///a,https://b",
                "RATIOS": "1,0.5",
                "ICON": "AQI=", "COLUMNS": #"{"a":1}"#, "TIMEOUT": "2.5", "LICENCE": "free",
            ])
        )
        same(player.volume, 7)
        same(player.theme, "{7}")
        #expect(player.isEnabled)
        same(player.opened, Date(timeIntervalSinceReferenceDate: 0))
        same(player.dates.map(\.timeIntervalSinceReferenceDate), [0, 1])
        same(player.folders.map(\.absoluteString), ["file:///a", "https://b"])
        same(player.ratios, [1, 0.5])
        same(player.icon, Data([1, 2]))
        same(player.columns, ["a": 1])
        same(player.timeout.value, .seconds(2.5))
        same(player.licence, nil)
        #expect(!player.$volume.store.names.contains("licence"))
        #expect(issues.all.isEmpty)
    }

    @Test
    func jsonFileIsReadByTheDeclaredType() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            {"player": {"volume": 7.0, "theme": "dark"}, "enabled": true, "opened": "2001-01-01T00:00:00Z", "timeout": 2.5,
             "dates": ["2001-01-01T00:00:01Z"], "folders": ["https://b"], "ratios": [1, 0.5], "icon": "AQI=",
             "columns": "{\\"a\\": 1}"}
            """,
            to: "deployed.json"
        )
        let path = FilePath(folder.path("deployed.json"))
        let (player, issues) = group(over: try await FileProvider<JSONSnapshot>(filePath: path))
        same(player.volume, 7)
        same(player.theme, "dark")
        #expect(player.isEnabled)
        same(player.opened, Date(timeIntervalSinceReferenceDate: 0))
        same(player.timeout.value, .seconds(2.5))
        same(player.dates.map(\.timeIntervalSinceReferenceDate), [1])
        same(player.folders.map(\.absoluteString), ["https://b"])
        same(player.ratios, [1, 0.5])
        same(player.icon, Data([1, 2]))
        same(player.columns, ["a": 1])
        #expect(issues.all.isEmpty)
    }

    /// Text of the environment, another type of a file, and one that a provider without conversions has.
    @Test(
        arguments: [
            EnvironmentVariablesProvider(environmentVariables: ["PLAYER_VOLUME": "loud"]),
            InMemoryProvider(values: ["player.volume": "loud"]), InMemoryProvider(values: ["player.volume": 7.5]),
            InMemoryProvider(values: ["player.volume": ConfigValue(.bytes([255]), isSecret: false)]),
            // Base64 of "5" and "[5]".
            EnvironmentVariablesProvider(environmentVariables: ["PLAYER_VOLUME": "NQ=="]),
            EnvironmentVariablesProvider(environmentVariables: ["PLAYER_VOLUME": "WzVd"]),
            InMemoryProvider(values: ["player.volume": 11]),
        ] as [any ConfigProvider]
    )
    func unreadableValueIsReportedOnceAndTheNextLayerAnswers(provider: any ConfigProvider) {
        let layer = PreferenceStore.configuration(ConfigReader(providers: [provider]), for: PlayerPreferences.self)
        let store = PreferenceStore.layered([layer, .inMemory(["player.volume": 3])])
        let (issues, player) = (IssueLog(of: store), PlayerPreferences(in: store))
        same(player.volume, 3)
        same(player.volume, 3)
        same(issues.all.count, 1)
        let text = issues.all.first?.description ?? ""
        #expect(text.hasPrefix("preference \"player.volume\": ") && text.contains("(configuration layer)"), "\(text)")
        #expect(!text.contains("stored value"), "\(text)")
    }

    /// The accesses that a reader reports, as text.
    private final class AccessLog: AccessReporter {
        private let texts = Mutex<[String]>([])
        var text: String { texts.withLock { $0.joined(separator: "\n") } }

        func report(_ event: AccessEvent) {
            // As the package's reporters do, which redact secrets.
            let values = event.providerResults.map { "\($0.result)" }
            texts.withLock { $0.append("\(event) \(values)") }
        }
    }

    @Test(arguments: ["7", "hunter2-planted", "48151623"])
    func secretIsNeitherLoggedNorReported(value: String) {
        struct Account: PreferenceGroup {
            @Preference("account.pin", .range(0...9), .secret) var pin = 1
            @Preference("account.name") var name = ""
        }
        let log = AccessLog()
        let provider = InMemoryProvider(values: [
            "account.pin": .init(.string(value), isSecret: false), "account.name": "Pitt",
        ])
        let reader = ConfigReader(providers: [provider], accessReporter: log)
        let store = PreferenceStore.layered([.configuration(reader, for: Account.self)])
        let (issues, account) = (IssueLog(of: store), Account(in: store))
        #expect(account.pin == (value == "7" ? 7 : 1) && account.name == "Pitt")
        #expect(log.text.contains("Pitt") && log.text.contains("account.pin"))
        #expect(!log.text.contains("hunter2") && !log.text.contains("48151623") && !log.text.contains("string(\"7\")"))
        same(issues.all.count, value == "7" ? 0 : 1)
        #expect(!"\(issues.all)".contains("hunter2") && !"\(issues.all)".contains("48151623"))
    }

    /// Access before a preference of the group is created in the layer.
    @Test
    func changeOfASecretIsNotDescribed() async throws {
        struct Account: PreferenceGroup {
            @Preference("account.pin", .secret) var pin = "1"
        }
        let remote = MutableInMemoryProvider(initialValues: ["account.pin": "hunter2"])
        let store = PreferenceStore.configuration(ConfigReader(provider: remote), for: Account.self)
        var changes = store.changes.makeAsyncIterator()
        remote.setValue("hunter3", forKey: "account.pin")
        let change = try #require(await changes.following())
        same("\(change)", "account.pin: <redacted> → <redacted> (external)")
    }

    @Test
    func numberThatAFileHasForTextIsReported() async throws {
        let folder = try TemporaryFolder()
        try folder.write(#"{"player": {"theme": 7}}"#, to: "deployed.json")
        let path = FilePath(folder.path("deployed.json"))
        let (player, issues) = group(over: try await FileProvider<JSONSnapshot>(filePath: path))
        same(player.theme, "system")
        same(issues.all.map(\.code), [.unreadable])
    }

    @Test
    func nameWithTwoTypesIsReported() {
        struct OtherPreferences: PreferenceGroup {
            @Preference("player.volume") var volume = "loud"
            @Preference("player.theme") var theme = "dark"
        }
        let reader = ConfigReader(provider: InMemoryProvider(values: ["player.volume": 7]))
        let store = PreferenceStore.configuration(reader, for: PlayerPreferences.self, OtherPreferences.self)
        let issues = IssueLog(of: store)
        same(PlayerPreferences(in: store).volume, 7)
        same(issues.all.map(\.code), [.misuse])
        same(issues.all.first?.description.contains("as Int and as String; it is read as Int"), true)
    }

    @Test
    func keyDecoderNamesTheKey() {
        let provider = InMemoryProvider(values: ["app.player_volume": 7])
        let store = PreferenceStore.configuration(ConfigReader(provider: provider), for: PlayerPreferences.self) {
            name in
            ConfigKey(["app", name.replacing(".", with: "_")])
        }
        same(PlayerPreferences(in: store).volume, 7)
    }

    @Test
    func scopedReaderServesAScope() {
        let provider = InMemoryProvider(values: ["account.1.player.volume": 7])
        let reader = ConfigReader(provider: provider).scoped(to: "account.1")
        let store = PreferenceStore.layered([
            PreferenceStore.inMemory().scoped(prefix: "account.1."),
            .configuration(reader, for: PlayerPreferences.self),
        ])
        same(PlayerPreferences(in: store).volume, 7)
    }
}
#endif
