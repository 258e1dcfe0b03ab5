import Foundation
import Observation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// The names under which a preference's value was stored before.
struct FormerNameTests {
    struct Player: PreferenceGroup {
        @Preference("volume", .range(0...10), .formerly("loudness", "vol")) var volume = 5
        @Preference("name") var name = "Pitt"
    }

    /// Creates a store of two layers, the stronger of which is writable.
    func layered(
        _ user: [String: PropertyListValue],
        _ system: [String: PropertyListValue]
    ) -> PreferenceStore {
        .layered([.inMemory(user), .inMemory(system).readOnly(named: "system")])
    }

    // MARK: Reading

    @Test(
        arguments: [
            (["volume": 1, "loudness": 2, "vol": 3], 1), (["loudness": 2, "vol": 3], 2), (["vol": 3], 3), ([:], 5),
            // A value that can't be used gives way to the next one.
            (["volume": 99, "loudness": "loud", "vol": 3], 3),
        ] as [([String: PropertyListValue], Int)]
    )
    func nameComesBeforeItsFormerNames(stored: [String: PropertyListValue], value: Int) {
        let store = PreferenceStore.inMemory(stored)
        store.issueHandler = { _ in }
        let player = Player(in: store)
        same(player.volume, value)
        same(player.$volume.isSet, !stored.isEmpty)
        same(player.$volume.source, stored.isEmpty ? .default : .store)
        same(player.$volume.storedValue, stored.isEmpty ? nil : .integer(Int64(value)))
    }

    @Test
    func strongerLayerComesBeforeAStrongerName() {
        let player = Player(in: layered(["vol": 3], ["volume": 1]))
        same(player.volume, 3)
        same(Player(in: layered(["name": "x"], ["vol": 4])).$volume.source.description, "system")
    }

    @Test
    func argumentsAndVariablesKnowThem() {
        let user = PreferenceStore.inMemory(["volume": 1])
        same(Player(in: .layered([.arguments(["--vol", "7"]), user])).volume, 7)
        let store = PreferenceStore.layered([.environment(["APP_LOUDNESS": "8"], prefix: "APP"), user])
        let issues = store.recordIssues()
        let player = Player(in: store)
        for _ in 0..<3 {
            same(player.volume, 8)
            user["name"] = nil
            store.core.dropCachedValues()
        }
        same(issues.elements.map(\.code), [.deprecated])
        same(
            issues.elements.first?.message,
            "the value is used under the former name \"APP_LOUDNESS\" (environment layer); rename it to \"APP_VOLUME\""
        )
        #expect(player.problems.allSatisfy { $0.code != .invalidName })
    }

    @Test
    func namesThatALayerSpellsAlikeAreOne() throws {
        let environment = PreferenceStore.environment(["APP_EDITOR_FONT": "Mono", "APP_VOLUME": "7"], prefix: "APP")
        let user = PreferenceStore.inMemory(["Volume": 2])
        let store = PreferenceStore.layered([user, environment])
        store.issueHandler = { Issue.record($0) }
        let font = Preference("editor-font", default: "Sans", .formerly("editor.font", "editor_font"), in: store)
        same(font.value, "Mono")
        same(store.candidateCount(of: "editor-font"), 1)
        let volume = Preference("volume", default: 5, .formerly("Volume"), in: store)
        try volume.update { $0 += 1 }
        #expect(volume.value == 3 && user.contents == ["volume": 3])
        volume.reset()
        same(volume.value, 7)
    }

    @Test
    func onlyTheValueThatIsUsedIsReported() {
        let arguments = PreferenceStore.arguments(["--vol", "7", "--volume", "3"])
        let stores = [
            .layered([arguments, .inMemory()]), PreferenceStore.layered([.inMemory(["volume": 1]), arguments]),
        ]
        for (store, value) in zip(stores, [3, 1]) {
            store.issueHandler = { Issue.record($0) }
            same(Player(in: store).volume, value)
        }
    }

    @Test
    func unknownNameSuggestsNone() {
        let store = PreferenceStore.layered([.arguments(["--vool", "3", "--volum", "3"]), .inMemory()])
        let messages = Player(in: store).problems.map(\.message)
        same(messages.map { $0.contains("did you mean \"volume\"?") }, [true, false])
        #expect(messages.allSatisfy { !$0.contains("\"vol\"") })
    }

    // MARK: Writing

    @Test(arguments: StoreKind.allCases)
    func writeStoresTheNameAloneInOneStep(kind: StoreKind) async throws {
        try await kind.withStore { store in
            store.issueHandler = { _ in }
            let player = Player(in: store)
            let blocking: [(Player) throws -> Void] = [
                { $0.volume = 7 }, { try $0.$volume.write(7) }, { try $0.$volume.update { $0 = 7 } },
                { player in try store.transaction { $0[player.$volume] = 7 } },
                { try AnyPreference($0.$volume).write(7) },
            ]
            let suspending: [(Player) async throws -> Void] = [
                { try await $0.$volume.write(7) }, { try await $0.$volume.update { $0 = 7 } },
                { player in try await store.transaction { $0[player.$volume] = 7 } },
            ]
            let writes = blocking.map { write in { (player: Player) async throws in try write(player) } } + suspending
            for write in writes {
                store["volume"] = nil
                store["loudness"] = 2
                store["vol"] = 3
                var changes = store.changes.makeAsyncIterator()
                try await write(player)
                same(store.contents, ["volume": 7])
                let change = await changes.next()
                #expect(change?.old == ["loudness": 2, "vol": 3] && change?.new == ["volume": 7])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func resetRemovesAll(kind: StoreKind) throws {
        try kind.withStore { store in
            store.issueHandler = { _ in }
            let player = Player(in: store)
            let resets: [() throws -> Void] = [
                { player.$volume.reset() }, { player.reset() }, { AnyPreference(player.$volume).reset() },
                { try AnyPreference(player.$volume).write(nil) },
                { try store.transaction { $0.reset(player.$volume) } },
            ]
            for reset in resets {
                try store.transaction {
                    $0["volume"] = 1; $0["loudness"] = 2; $0["vol"] = 3; $0["other"] = 4
                }
                try reset()
                #expect(store.contents == ["other": 4] && player.volume == 5 && !player.$volume.isSet)
            }
        }
    }

    // MARK: Managed values

    @Test
    func policyUnderAFormerNameHolds() throws {
        let managed = PreferenceStore(backend: MemoryBackend(["vol": 0]), isManaged: true)
        let store = PreferenceStore.layered([managed, .inMemory(["volume": 9])])
        store.issueHandler = { _ in }
        let player = Player(in: store)
        #expect(player.volume == 0 && player.$volume.isManaged && player.$volume.source.isManaged)
        let error = #expect(throws: PreferenceError.self) { try player.$volume.write(3) }
        #expect(error?.code == .managed && error?.name == "volume")
        #expect(throws: PreferenceError.self) { try player.$volume.update { $0 = 3 } }
        #expect(throws: PreferenceError.self) { try store.transaction { $0[player.$volume] = 3 } }
        #expect(throws: PreferenceError.self) { try store.write(3, for: "volume") }
        player.reset()
        #expect(store["volume"] == 9 && player.volume == 0)
    }

    @Test
    func setBelowAFormerNameIsReportedAsHidden() {
        let store = PreferenceStore.layered([.arguments(["--vol", "7"]), .inMemory()])
        let issues = store.recordIssues()
        Player(in: store).volume = 3
        same(issues.elements.map(\.code), [.hidden])
    }

    // MARK: Observing

    @Test
    func updatesOfSeveralPreferencesSeeAFormerName() async {
        let store = PreferenceStore.inMemory(["vol": 3])
        let player = Player(in: store)
        var pairs = PreferenceStore.updates(of: player.$volume, player.$name).makeAsyncIterator()
        await same(pairs.next()?.0, 3)
        store["vol"] = 4
        await same(pairs.next()?.0, 4)
        player.$name.value = "Ella"
        await same(pairs.next()?.1, "Ella")
    }

    @Test
    func trackedReadIsNotifiedOfAFormerName() {
        let store = PreferenceStore.inMemory()
        let player = Player(in: store)
        let tracked = Recorder<Int>()
        func track() {
            withObservationTracking {
                _ = player.volume
            } onChange: {
                tracked.record(player.volume)
            }
        }
        track()
        store["vol"] = 3
        same(tracked.elements, [3])
        track()
        player.volume = 3
        same(tracked.elements, [3])
        store["volume"] = 8
        same(tracked.elements, [3, 8])
    }

    // MARK: Scopes, members, secrets, isolation

    @Test
    func memberIsReadAndWrittenWithTheWholeValue() throws {
        struct Frame: Codable { var x = 0, y = 0 }
        let store = PreferenceStore.inMemory(["window": ["x": 1, "y": 2]])
        let frame = Preference("frame", default: Frame(), .formerly("window"), in: store)
        let x = frame[\.x]
        let seen = Recorder<Int>()
        let observation = x.observe { seen.record($0.new) }
        same(x.value, 1)
        store["window"] = ["x": 5, "y": 2]
        x.value = 7
        #expect(seen.elements == [5, 7] && store.contents == ["frame": ["x": 7, "y": 2]])
        withExtendedLifetime(observation) {}
    }

    @Test
    func formerValueOfASecretIsASecret() {
        let store = PreferenceStore.inMemory(["pin": "planted"])
        let code = Preference<String?>("code", .secret, .formerly("pin"), in: store)
        #expect(code.value == "planted" && store.isSecret("pin") && !"\(code)".contains("planted"))
    }

    // MARK: Migrating

    @Test
    func migrationFromAFormerNameMovesItsValue() {
        let migrations: [(Player) -> Void] = [
            { $0.$volume.migrate(from: "vol") },
            { $0.$volume.migrate(from: Preference<Int>("vol", default: 0, in: $0.$volume.store)) },
            { player in
                player.$volume.migrate(from: Preference("vol", default: "", in: player.$volume.store)) { Int($0) ?? 0 }
            },
        ]
        for (migrate, stored) in zip(migrations, [3, 3, "3"] as [PropertyListValue]) {
            let store = PreferenceStore.inMemory(["vol": stored])
            let player = Player(in: store)
            for _ in 0..<2 { migrate(player) }
            #expect(store.contents == ["volume": 3] && player.volume == 3)
        }
    }

    @Test(arguments: [true, false])
    func migrationOfAPreferenceRemovesItsFormerNames(isInSameStore: Bool) {
        let store = PreferenceStore.inMemory(["loudness": 2, "vol": 3])
        let player = Player(in: store)
        let target = Preference("gain", default: 0, in: isInSameStore ? store : .inMemory())
        for _ in 0..<2 {
            target.migrate(from: player.$volume)
            #expect(target.value == 2 && player.volume == 5 && !player.$volume.isSet)
            same(store.contents, isInSameStore ? ["gain": 2] : [:])
        }
        target.value = 8
        store["vol"] = 3
        target.migrate(from: player.$volume)
        #expect(target.value == 8 && player.volume == 3)
    }

    @Test
    func valueInAFileIsReportedOnceAndThatInMemoryNever() throws {
        try withTemporaryFolder { folder in
            let store = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            store["vol"] = 3
            let issues = store.recordIssues()
            for _ in 0..<3 {
                same(Player(in: store).volume, 3)
                store.core.dropCachedValues()
            }
            #expect(issues.elements.map(\.code) == [.deprecated] && issues.elements.map(\.name) == ["volume"])
            #expect(
                issues.elements.allSatisfy {
                    $0.message.contains("former name \"vol\"") && $0.message.contains("preferences.jsonl")
                }
            )
        }
        let store = PreferenceStore.inMemory(["vol": 3])
        store.issueHandler = { Issue.record($0) }
        same(Player(in: store).volume, 3)
    }

    @Test
    func unreadableValueIsReportedWithItsName() throws {
        try withTemporaryFolder { folder in
            let store = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            store["vol"] = "loud"
            let issues = store.recordIssues()
            let player = Player(in: store)
            same(player.volume, 5)
            let unreadable = issues.elements.filter { $0.code == .unreadable }
            #expect(unreadable.count == 1 && unreadable[0].name == "volume")
            #expect(unreadable[0].message.contains("as \"vol\""))
            #expect(throws: PreferenceError.self) { try player.$volume.read() }
            #expect(throws: PreferenceError.self) { try player.$volume.update { $0 += 1 } }
            same(store["vol"], "loud")
            store["vol"] = 3
            same(player.volume, 3)
            store["vol"] = "loud"
            same(player.volume, 5)
            same(issues.elements.filter { $0.code == .unreadable }.count, 2)
        }
    }

    @Test
    func messageOfAScopeHasWholeNamesAndIsReportedOnce() throws {
        try withTemporaryFolder { folder in
            let store = try PreferenceStore.file(at: folder.appending(path: "preferences.jsonl"))
            store["a.vol"] = 3
            let issues = store.recordIssues()
            let scope = store.scoped(prefix: "a.")
            for _ in 0..<3 { same(Player(in: scope).volume, 3) }
            #expect(issues.elements.count == 1 && issues.elements[0].name == "a.volume")
            #expect(issues.elements.allSatisfy { $0.message.contains("former name \"a.vol\"") })
            #expect(issues.elements.allSatisfy { $0.message.hasSuffix("rename it to \"a.volume\"") })
            store["a.vol"] = "loud"
            same(Player(in: scope).volume, 5)
            #expect(issues.elements.count == 2 && issues.elements[1].message.contains("as \"a.vol\""))
        }
    }

    @Test(arguments: [true, false])
    func migrationFromAFormerNameLeavesItOne(hasMapping: Bool) {
        let managed = FaultInjectingBackend()
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([PreferenceStore(backend: managed, isManaged: true), user])
        store.issueHandler = { Issue.record($0) }
        let player = Player(in: store)
        // The old preference may be declared as long as the program runs, and in a layer's store.
        let old = Preference("vol", default: "", in: hasMapping ? user : .inMemory())
        for _ in 0..<2 {
            if hasMapping {
                player.$volume.migrate(from: old) { Int($0) ?? 0 }
            } else {
                player.$volume.migrate(from: "vol")
            }
            user["vol"] = 7
            same(player.volume, 7)
            player.volume = 5
            same(user.contents, ["volume": 5])
            player.reset()
        }
        managed.changeOutside(["vol": 0])
        #expect(player.volume == 0 && player.$volume.isManaged)
    }

    @Test
    func updateSeesTheFormerValueAndAChangeOfIt() async throws {
        let store = PreferenceStore.inMemory(["vol": 3])
        let player = Player(in: store)
        var runs: [Int] = []
        try await player.$volume.update { volume in
            runs.append(volume)
            // An older program sets the name that it knows.
            if runs.count == 1 { store["vol"] = 6 }
            volume += 1
        }
        #expect(runs == [3, 6] && store.contents == ["volume": 7])
    }

    @Test
    func transactionReadsTheFormerValue() throws {
        let store = PreferenceStore.inMemory(["vol": 3])
        let player = Player(in: store)
        try store.transaction { transaction in
            same(transaction[player.$volume], 3)
            transaction[player.$volume] += 1
            same(transaction[player.$volume], 4)
            same(transaction["vol"], nil)
            transaction.reset(player.$volume)
            same(transaction[player.$volume], 5)
            transaction["loudness"] = 8
            same(transaction[player.$volume], 8)
        }
        same(store.contents, ["loudness": 8])
    }
}
