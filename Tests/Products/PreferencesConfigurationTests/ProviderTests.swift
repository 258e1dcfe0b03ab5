#if Configuration
import Configuration
import Foundation
import PreferencesConfiguration
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct ProviderTests {
    struct Frame: Codable { var x = 0 }

    struct PlayerPreferences: PreferenceGroup {
        let x = Preference("frame", default: Frame())[\.x]
        @Preference("frame") var frame = Frame()
        @Preference("player.volume", .range(0...10)) var volume = 5
        @Preference("player.opened") var opened: Date?
        @Preference("licence", in: .inMemory(["licence": "free"])) var licence: String?
    }

    private static let large = PropertyListValue.unsigned(.max)
    private static let date = PropertyListValue.date(Date(timeIntervalSinceReferenceDate: 0.5))

    /// The content of a stored value for each type as which it can be read; all other types throw.
    struct Conversion: CustomTestStringConvertible, Sendable {
        let stored: PropertyListValue
        let contents: [ConfigContent]
        var testDescription: String { "\(stored)" }

        init(_ stored: PropertyListValue, _ contents: ConfigContent...) {
            (self.stored, self.contents) = (stored, contents)
        }
    }

    @Test(arguments: [
        Conversion(true, .bool(true)),
        Conversion(7, .int(7), .double(7)),
        Conversion(1, .int(1), .double(1), .bool(true)),
        Conversion(2.0, .double(2), .int(2)),
        Conversion(2.5, .double(2.5)),
        Conversion(large, .string("18446744073709551615")),
        Conversion("loud", .string("loud")),
        Conversion("12", .string("12"), .int(12), .double(12)),
        Conversion("yes", .string("yes"), .bool(true)),
        Conversion("[1]", .string("[1]"), .intArray([1]), .doubleArray([1])),
        Conversion(.data(Data([255])), .bytes([255])),
        Conversion(date, .string("2001-01-01T00:00:00.5Z")),
        Conversion(["x": 1], .string(#"{"x":1}"#)),
        Conversion(["a", "$$null"], .stringArray(["a", "$null"])),
        Conversion([1, 2], .intArray([1, 2]), .doubleArray([1, 2])),
        Conversion([1, 0], .intArray([1, 0]), .doubleArray([1, 0]), .boolArray([true, false])),
        Conversion([0.5], .doubleArray([0.5])),
        Conversion([.data(Data([1]))], .byteChunkArray([[1]])),
        Conversion([date], .stringArray(["2001-01-01T00:00:00.5Z"])),
        Conversion([["x": 1]], .stringArray([#"{"x":1}"#])),
        Conversion([1, "a"], .string(#"[1,"a"]"#)),
        Conversion(["$null", "a"], .string(#"["$null","a"]"#)),
        Conversion([], .stringArray([]), .intArray([]), .doubleArray([]), .boolArray([]), .byteChunkArray([])),
    ])
    func storedValueIsGivenAsTypesThatLoseNothing(_ conversion: Conversion) throws {
        let provider = PreferenceStoreProvider(.inMemory(["a": conversion.stored]))
        var contents: [ConfigContent] = []
        for type in Self.types {
            do {
                let result = try provider.value(forKey: "a", type: type)
                contents.append(try #require(result.value).content)
            } catch PreferenceError.unreadable {
                continue
            }
        }
        same(Set(contents), Set(conversion.contents))
    }

    private static let types: [ConfigType] = [
        .string, .int, .double, .bool, .bytes, .stringArray, .intArray, .doubleArray, .boolArray, .byteChunkArray,
    ]

    @Test
    func errorNamesThePlaceAndTheTypeButNotTheValue() {
        let provider = PreferenceStoreProvider(.inMemory(["player.volume": "loud"]), name: "user")
        let error = #expect(throws: PreferenceError.self) { try provider.value(forKey: "player.volume", type: .int) }
        same(
            error?.description,
            """
            preference "player.volume": the value in PreferenceStoreProvider[user] is a string and can't be read as int; \
            read it as another type, or store one of that type
            """
        )
    }

    @Test
    func storeIsOneOfSeveralProviders() {
        let store = PreferenceStore.inMemory(["player.volume": 7])
        let config = ConfigReader(providers: [
            PreferenceStoreProvider(store),
            InMemoryProvider(values: ["player.volume": 3, "player.theme": "dark"]),
        ])
        same(config.int(forKey: "player.volume"), 7)
        same(config.scoped(to: "player").string(forKey: "theme"), "dark")
        store["player.volume"] = nil
        same(config.int(forKey: "player.volume"), 3)
    }

    @Test
    func keyEncoderNamesThePreference() throws {
        let provider = PreferenceStoreProvider(.inMemory(["player/volume": 7])) { key in
            key.components.joined(separator: "/")
        }
        let result = try provider.value(forKey: ["player", "volume"], type: .int)
        same(result, LookupResult(encodedKey: "player/volume", value: 7))
    }

    @Test
    func snapshotKeepsItsMoment() throws {
        let store = PreferenceStore.layered([.inMemory(["a": 1]), .inMemory(["b": 1])])
        let snapshot = PreferenceStoreProvider(store).snapshot()
        store["a"] = 2
        store["b"] = 2
        try same(snapshot.value(forKey: "a", type: .int).value, 1)
        try same(snapshot.value(forKey: "b", type: .int).value, 1)
    }

    /// The environment's names can't be listed, as they are spelled in another way.
    @Test
    func snapshotHasNamesThatAreNotListed() throws {
        let environment = PreferenceStore.environment(["APP_PLAYER_VOLUME": "7"], prefix: "APP")
        let store = PreferenceStore.layered([environment, .inMemory(["player.volume": 3])])
        let snapshot = PreferenceStoreProvider(store).snapshot()
        try same(snapshot.value(forKey: "player.volume", type: .int).value, 7)
    }

    @Test
    func secretsAreMarkedAndNotDescribed() throws {
        let store = PreferenceStore.inMemory(["password": "s3cret", "volume": 7])
        let provider = PreferenceStoreProvider(store, name: "user", secretsSpecifier: .specific(["password"]))
        try same(provider.value(forKey: "password", type: .string).value?.isSecret, true)
        try same(provider.snapshot().value(forKey: "password", type: .string).value?.isSecret, true)
        try same(provider.value(forKey: "volume", type: .int).value?.isSecret, false)
        same("\(provider)", "PreferenceStoreProvider[user, 2 values]")
        same(String(reflecting: provider), "PreferenceStoreProvider[user, 2 values: password=<redacted>, volume=7]")
        var dumped = ""
        dump(PreferenceStoreProvider(store, for: PlayerPreferences.self, secretsSpecifier: .all), to: &dumped)
        #expect(!dumped.contains("s3cret"))
    }

    private struct Account: PreferenceGroup {
        @Preference("token", .secret) var token = "s3cret-default"
        @Preference("limit", .range(0...9), .secret) var limit = 7
        @Preference("volume") var volume = 5
    }

    @Test(arguments: [true, false])
    func declaredSecretIsOneWithoutASpecifier(isStored: Bool) throws {
        let store = PreferenceStore.inMemory(isStored ? ["token": "s3cret", "limit": "s3cret-text", "volume": 6] : [:])
        let issues = IssueLog(of: store)
        let provider = PreferenceStoreProvider(store, for: Account.self)
        let value = try provider.value(forKey: "token", type: .string).value
        same(value, ConfigValue(.string(isStored ? "s3cret" : "s3cret-default"), isSecret: true))
        try same(provider.snapshot().value(forKey: "limit", type: .int).value, ConfigValue(.int(7), isSecret: true))
        try same(provider.value(forKey: "volume", type: .int).value?.isSecret, false)
        #expect(!"\(String(reflecting: provider)) \(issues.all)".contains("s3cret"))
        same(issues.all.count, isStored ? 1 : 0)
        let error = #expect(throws: PreferenceError.self) { try provider.value(forKey: "token", type: .int) }
        same(error?.description.contains("s3cret"), false)
    }

    @Test
    func eachValueOfASecretStoreIsOne() throws {
        let backend = FaultInjectingBackend(["password": "s3cret"])
        let provider = PreferenceStoreProvider(PreferenceStore(backend: backend, isSecret: true))
        try same(provider.value(forKey: "password", type: .string).value?.isSecret, true)
        same(String(reflecting: provider), "PreferenceStoreProvider[1 values: password=<redacted>]")
    }

    @Test
    func groupsAddDefaultsAndTypes() throws {
        let store = PreferenceStore.layered([
            .arguments(["-player.opened", "2001-01-01T00:00:00Z"]),
            .inMemory(["player.volume": 11, "other": 1, "licence": 1, "frame": ["x": 2]]),
        ])
        let issues = IssueLog(of: store)
        let provider = PreferenceStoreProvider(store, for: PlayerPreferences.self)
        let config = ConfigReader(provider: provider)
        // The value violates the rule, so the default is returned.
        same(config.int(forKey: "player.volume"), 5)
        same(config.string(forKey: "player.opened", as: Date.self), Date(timeIntervalSinceReferenceDate: 0))
        same(config.int(forKey: "other"), 1)
        // A preference of another store doesn't affect the name in this one, nor does a member affect the whole value.
        same(config.int(forKey: "licence"), 1)
        same(config.string(forKey: "frame"), #"{"x":2}"#)
        same(issues.all.map(\.code), [.invalid])
        store["player.volume"] = 6
        same(config.int(forKey: "player.volume"), 6)
        same(config.snapshot().int(forKey: "player.volume"), 6)
    }

    /// Unreadable text in the store, and a value that violates the rule.
    @Test(arguments: ["hunter2", 1234] as [PropertyListValue])
    func issueOfAReadDoesNotShowASecret(value: PropertyListValue) throws {
        let store = PreferenceStore.inMemory(["player.volume": value])
        let issues = IssueLog(of: store)
        let provider = PreferenceStoreProvider(store, for: PlayerPreferences.self, secretsSpecifier: .all)
        try same(provider.value(forKey: "player.volume", type: .int).value?.content, .int(5))
        same(issues.all.count, 1)
        let text = "\(issues.all)"
        #expect(text.contains("player.volume") && text.contains("<redacted>"))
        #expect(!text.contains("hunter2") && !text.contains("1234"))
    }

    @Test(arguments: [false, true])
    func storeThatCannotBeOpenedIsNotAbsent(isDeclared: Bool) throws {
        let backend = FaultInjectingBackend(["player.volume": 7])
        let failing = PreferenceStore(backend: backend)
        failing.issueHandler = { _ in }
        backend.failNext(.load, count: 100)
        let store = PreferenceStore.layered([.inMemory(["above": 1]), failing, .inMemory(["below": 1])])
        let provider =
            isDeclared ? PreferenceStoreProvider(store, for: PlayerPreferences.self) : PreferenceStoreProvider(store)
        for name in ["player.volume", "below"] as [AbsoluteConfigKey] {
            expectUnavailable { try provider.value(forKey: name, type: .int) }
            expectUnavailable { try provider.snapshot().value(forKey: name, type: .int) }
        }
        try same(provider.value(forKey: "above", type: .int).value, 1)
        let config = ConfigReader(providers: [provider, InMemoryProvider(values: ["player.volume": 1])])
        same(config.int(forKey: "player.volume"), nil)
    }

    @Test
    func descriptionOpensNothing() throws {
        let provider = PreferenceStoreProvider(PreferenceStore(backend: FaultInjectingBackend(["a": 7])))
        same("\(provider)", "PreferenceStoreProvider[0 values]")
        same(String(reflecting: provider), "PreferenceStoreProvider[0 values: ]")
        try same(provider.value(forKey: "a", type: .int).value, 7)
        same("\(provider)", "PreferenceStoreProvider[1 values]")
    }

    @Test
    func fetchOpensTheStoreOrThrows() async throws {
        let backend = FaultInjectingBackend(["volume": 7])
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let provider = PreferenceStoreProvider(store)
        backend.failNext(.load, count: 2)
        expectUnavailable { try provider.value(forKey: "volume", type: .int) }
        await #expect(throws: PreferenceError.self) { try await provider.fetchValue(forKey: "volume", type: .int) }
        try await same(provider.fetchValue(forKey: "volume", type: .int).value, 7)
    }
}
#endif
