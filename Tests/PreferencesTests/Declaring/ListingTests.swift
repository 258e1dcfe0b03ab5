import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

private enum ListedTheme: String, CaseIterable { case light, dark }

private struct Sound: PreferenceGroup {
    @Preference("sound.volume", .range(0...10), .description("How loud it is.")) var volume = 5
    let balance = Preference("sound.balance", default: 0.0, .range(-1...1))
}

private struct Settings: PreferenceGroup {
    @Preference("nickname", .length(1...8)) var nickname: String?
    @Preference("theme") var theme = ListedTheme.light
    @Preference("side", .choices(["left", "right"])) var side = "left"
    @Preference("port", .check { $0 != 80 }) var port = 8080
    let sound = Sound()
}

struct ListingTests {
    let store = PreferenceStore.inMemory(["theme": "dark", "sound.volume": 11])

    @Test
    func groupListsItsPreferencesInTheirOrder() {
        let preferences = Settings(in: store).preferences
        same(preferences.map(\.name), ["nickname", "theme", "side", "port", "sound.volume", "sound.balance"])
        same(
            preferences.map { "\($0.valueType)" },
            ["Optional<String>", "ListedTheme", "String", "Int", "Int", "Double"]
        )
        same(preferences.map(\.declaredDescription), [nil, nil, nil, nil, "How loud it is.", nil])
    }

    @Test
    func rulesHaveTheirKindAndStoredBounds() {
        let rules = Settings(in: store).preferences.flatMap(\.rules)
        same(rules.map(\.kind), [.length, .choices, .choices, .check, .range, .range])
        same(rules.map(\.minimum), [1, nil, nil, nil, 0, -1.0])
        same(rules.map(\.maximum), [8, nil, nil, nil, 10, 1.0])
        same(rules.map(\.choices), [[], ["light", "dark"], ["left", "right"], [], [], []])
        same(
            rules.map(\.description),
            [
                "length 1...8", "\"light\", \"dark\"", "\"left\", \"right\"", "checked by the program", "0...10",
                "-1.0...1.0",
            ]
        )
    }

    @Test
    func descriptionHasNameValueAndSource() throws {
        let settings = Settings(in: .layered([.arguments(["-sound.balance", "0.5"]), store]))
        settings.nickname = "Pitt"
        same(
            settings.preferences.map(\.description),
            [
                "nickname = Pitt (store)", "theme = dark (store)", "side = left (default)", "port = 8080 (default)",
                "sound.volume = 5 (default)", "sound.balance = 0.5 (arguments)",
            ]
        )
        settings.nickname = nil
        same("\(settings.$nickname)", "nickname = nil (default)")
    }

    @Test
    func listedPreferenceIsTheDeclaredOne() throws {
        let settings = Settings(in: store)
        let volume = try #require(settings.preferences.first { $0.name == "sound.volume" })
        same(volume, AnyPreference(settings.sound.$volume))
        same(volume.storedValue, 11)
        #expect(volume.isSet)
        same(volume.source, .default, "11 breaks the rule")
        volume.reset()
        same(store["sound.volume"], nil)
        #expect(!volume.isSet)
    }

    @Test
    func writeOfAStoredFormAppliesTheRule() throws {
        let settings = Settings(in: store)
        let volume = AnyPreference(settings.sound.$volume)
        try volume.write(7)
        same(settings.sound.volume, 7)
        let error = #expect(throws: PreferenceError.self) { try volume.write(99) }
        same(error?.message, "99 is outside 0...10; nothing was changed")
        #expect(throws: PreferenceError.self) { try volume.write("loud") }
        same(settings.sound.volume, 7)
        try AnyPreference(settings.$theme).write("light")
        same(settings.theme, .light)
        try volume.write(nil)
        #expect(!volume.isSet)
    }

    @Test
    func asyncWriteOfAStoredFormDoesWhatTheBlockingOneDoes() async throws {
        struct Frame: Codable, Equatable { var x = 1, y = 2 }
        let settings = Settings(in: store)
        let volume = AnyPreference(settings.sound.$volume)
        try await volume.write(7)
        same(settings.sound.volume, 7)
        for value in [99, "loud"] as [PropertyListValue] {
            await #expect(throws: PreferenceError.self) { try await volume.write(value) }
        }
        same(settings.sound.volume, 7)
        try await volume.write(nil)
        #expect(!volume.isSet)
        let port = AnyPreference(Preference<Int?>("port", default: nil, .required, in: store))
        try await port.write(1)
        let error = await #expect(throws: PreferenceError.self) { try await port.write(["$unset": true]) }
        #expect(error?.code == .invalid && port.storedValue == 1)
        let frame = Preference("frame", default: Frame(), in: store)
        try await frame.write(Frame(x: 5, y: 6))
        try await AnyPreference(frame[\.x]).write(nil)
        same(frame.value, Frame(x: 1, y: 6))
        try await PreferenceStore.withIsolatedStores(["starts": 1]) {
            try await AnyPreference(Preference("starts", default: 0)).write(nil)
            same(PreferenceStore.standard["starts"], nil)
        }
    }

    /// Otherwise the first use of a static group, inside `init(in:)` of another group, would bind it to the store of that group.
    @Test
    func declaredPreferenceKeepsItsStoreInAnotherGroup() {
        enum Shared {
            static let general = General()
            struct General: PreferenceGroup {
                @Preference("listing-tests.volume") var volume = 5
                @Preference("listing-tests.theme") var theme = "light"
            }
        }
        struct Inner: PreferenceGroup {
            @Preference(Shared.general.$volume) var volume
            @Preference("own") var own = 1
        }
        let issues = store.recordIssues()
        let inner = Inner(in: store)
        #expect(inner.$volume.store === PreferenceStore.standard)
        #expect(Shared.general.$theme.store === PreferenceStore.standard)
        #expect(inner.$own.store === store)
        #expect(issues.elements.isEmpty)
    }

    @Test
    func managedBackendIsNamedManagedByDefault() throws {
        let policy = PreferenceStore(backend: MemoryBackend(["b": 2]), isManaged: true)
        let remote = PreferenceStore(backend: MemoryBackend(["c": 3]), isReadOnly: true)
        let layered = PreferenceStore.layered([remote, policy, .inMemory()])
        #expect(Preference("b", default: 0, in: layered).source.isManaged)
        same(Preference("c", default: 0, in: layered).source.name, "read-only")
        let error = #expect(throws: PreferenceError.self) { try remote.write(1, for: "c") }
        same(error?.message, "the read-only store can't be written; nothing was changed")
    }

    @Test
    func groupIsResetInOneStep() async {
        struct Spread: PreferenceGroup {
            @Preference("a") var here = 0
            @Preference("b") var alsoHere = 0
            @Preference("c", in: Spread.other) var there = 0
            static let other = PreferenceStore.inMemory(["c": 1, "kept": 1])
        }
        let store = PreferenceStore.inMemory(["a": 1, "b": 1, "kept": 1])
        let spread = Spread(in: store)
        var changes = store.changes.makeAsyncIterator()
        spread.reset()
        await same(changes.next()?.names, ["a", "b"])
        #expect(store.names == ["kept"] && Spread.other.names == ["kept"])
    }

    @Test
    func resetOfAGroupLeavesManagedPreferences() {
        struct Pair: PreferenceGroup {
            @Preference("a") var free = 0
            @Preference("b") var managed = 0
        }
        let user = PreferenceStore.inMemory(["a": 1, "b": 1])
        let policy = PreferenceStore(backend: MemoryBackend(["b": 2]), name: "policy", isManaged: true)
        let pair = Pair(in: .layered([user, policy]))
        let issues = pair.$free.store.recordIssues()
        pair.reset()
        same(pair.preferences.map(\.isManaged), [false, true])
        same(user.contents, ["b": 1])
        same("\(pair.$managed)", "b = 2 (policy)")
        #expect(issues.elements.isEmpty)
    }

    @Test
    func preferencesAreEqualByStoreNameAndType() {
        let volume = Preference("volume", default: 5, in: store)
        same(volume, Preference("volume", default: 6, .range(0...1), in: store))
        #expect(volume != volume.bound(to: .inMemory()))
        #expect(volume != Preference("other", default: 5, in: store))
        same(Set([volume, Preference("volume", default: 1, in: store)]).count, 1)
        let erased = Set([AnyPreference(volume), AnyPreference(Preference("volume", default: "5", in: store))])
        same(erased.count, 2)
    }

    /// The compiler generates the conformance of a struct with wrapped preferences.
    @Test
    func groupIsEquatableByItsPreferences() {
        struct Group: PreferenceGroup, Hashable {
            @Preference("a") var a = 0
            let b = Preference<String?>("b")
        }
        same(Group(in: store), Group(in: store))
        #expect(Group(in: store) != Group(in: .inMemory()))
        same(Set([Group(in: store), Group(in: store)]).count, 1)
    }

    @Test
    func propertyNamedPreferencesHidesTheList() {
        struct Group: PreferenceGroup {
            @Preference("preferences") var preferences = "own"
        }
        let group = Group(in: store)
        same(group.preferences, "own")
        func names(of group: some PreferenceGroup) -> [String] { group.preferences.map(\.name) }
        same(names(of: group), ["preferences"])
    }

    @Test
    func doubleNeedsNoTypeBeforeAnOperator() {
        same(Preference("x", default: 1.5, in: store).value, 1.5)
        same(Preference("y", default: 1, in: store).value, 1)
    }

    @Test
    func schemaLeavesOutMembersAndReportsNothing() throws {
        struct Pair: Codable { var a = 1, b = 2 }
        struct Group: PreferenceGroup {
            let a = Preference("pair", default: Pair())[\.a]
            @Preference("r", .length(5...10)) var range = 0..<7
        }
        let store = PreferenceStore.inMemory()
        let issues = store.recordIssues()
        try same(
            Group(in: store).jsonSchema(),
            #"{"properties":{"r":{"default":[0,7],"items":{"type":"integer"},"type":"array"}},"type":"object"}"#
        )
        #expect(issues.elements.isEmpty)
    }
}
