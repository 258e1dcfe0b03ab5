import TestSupport
import Testing

@testable import Preferences

/// What a store has before and after the steps of a program, by the history of the store.
struct MigrationTableTests {
    struct Player: PreferenceGroup {
        @Preference("volume", .range(0...100), .formerly("vol")) var volume = 5
        @Preference("color") var color: String?
    }

    /// A store before the program starts, and its own values afterwards.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var own: [String: PropertyListValue] = [:]
        var system: [String: PropertyListValue] = [:]
        let after: [String: PropertyListValue]
        var reports = 0
    }

    static let rows: [Row] = [
        .init(testDescription: "new", after: ["preferences.version": 3]),
        .init(
            testDescription: "new, over an administrator's values and version",
            system: ["volume": 3, "colour": "red", "preferences.version": 1],
            after: ["preferences.version": 3]
        ),
        .init(
            testDescription: "new, with the record of an import",
            own: ["preferences.imported": ["app"]],
            after: ["preferences.imported": ["app"], "preferences.version": 3]
        ),
        .init(
            testDescription: "old",
            own: ["volume": 7, "colour": "red", "junk": 1],
            system: ["preferences.version": 9],
            after: ["volume": 70, "color": "red", "preferences.version": 3]
        ),
        .init(
            testDescription: "old, under a former name",
            own: ["vol": 7],
            after: ["volume": 70, "preferences.version": 3]
        ),
        .init(
            testDescription: "old, without the values that are migrated",
            own: ["other": 1],
            system: ["volume": 3, "colour": "red"],
            after: ["other": 1, "preferences.version": 3]
        ),
        .init(
            testDescription: "old, with a value that breaks the new rule",
            own: ["volume": -2],
            after: ["volume": -2],
            reports: 0
        ),
        .init(
            testDescription: "old, with values that can't be decoded or are unset",
            own: ["volume": "loud", "color": ["$unset": true], "colour": "red"],
            after: ["volume": "loud", "color": ["$unset": true], "colour": "red", "preferences.version": 3],
            reports: 1
        ),
        .init(
            testDescription: "half-migrated",
            own: ["volume": 7, "colour": "red", "preferences.version": 1],
            after: ["volume": 70, "colour": "red", "preferences.version": 3]
        ),
        .init(
            testDescription: "migrated",
            own: ["volume": 7, "colour": "red", "preferences.version": 3],
            after: ["volume": 7, "colour": "red", "preferences.version": 3]
        ),
        .init(
            testDescription: "emptied after a migration",
            own: ["preferences.version": 1],
            after: ["preferences.version": 3]
        ),
        .init(
            testDescription: "newer",
            own: ["volume": 7, "preferences.version": 4],
            after: ["volume": 7, "preferences.version": 4]
        ),
    ]

    static func steps(_ player: Player) -> [PreferenceMigration] {
        [
            .init(1) { $0.move(from: "colour", to: "color") },
            .init(2) { $0["junk"] = nil },
            .init(3) { $0[player.$volume]? *= 10 },
        ]
    }

    static let kinds: [String] = ["memory", "scope"]

    static func store(_ kind: String, _ row: Row) -> (PreferenceStore, own: () -> [String: PropertyListValue]) {
        let system = PreferenceStore.inMemory(row.system).readOnly(named: "system")
        switch kind {
        case "scope":
            let own = Dictionary(uniqueKeysWithValues: row.own.map { ("a." + $0, $1) })
            let base = PreferenceStore.inMemory(own.merging(["volume": 1]) { $1 })
            let scope = base.scoped(prefix: "a.")
            return (.layered([scope, system]), { scope.contents })
        default:
            let own = PreferenceStore.inMemory(row.own)
            return (.layered([own, system]), { own.contents })
        }
    }

    @Test(arguments: kinds, rows)
    func stepsOfAProgram(kind: String, row: Row) throws {
        let (store, own) = Self.store(kind, row)
        try check(row, store, own)
    }

    /// - Parameter isListed: Whether the store lists names that no step has read.
    func check(
        _ row: Row,
        _ store: PreferenceStore,
        _ own: () -> [String: PropertyListValue],
        isListed: Bool = true
    ) throws {
        let reports = store.recordIssues()
        let player = Player(in: store)
        let steps = Self.steps(player)
        let isNewer = row.own["preferences.version"] == 4
        // Only what is set has to meet the rule.
        let breaksRule = row.own["volume"] == -2
        for isTrial in [true, false, false] {
            let before = own()
            do {
                let change = try store.migrate(to: 3, steps: steps, dryRun: isTrial)
                #expect(!isNewer && !breaksRule)
                let names = Set(before.keys).union(row.after.keys).filter { before[$0] != row.after[$0] }
                if isListed { same(change.names, names, "\(change)") }
                same(own(), isTrial ? before : row.after)
            } catch let error as PreferenceError {
                same(error.code, isNewer ? .newerVersion : .invalid)
                if breaksRule { same(own()["volume"], -2) } else { same(own(), row.after) }
            }
        }
        same(reports.elements.count, row.reports)
    }

    @Test
    func stepForNewStoresRunsOnAnyStoreOnce() throws {
        for own in [[:], ["other": 1]] as [[String: PropertyListValue]] {
            let store = PreferenceStore.inMemory(own)
            let steps: [PreferenceMigration] = [
                .init(1, onNewStores: true) { $0["id"] = .integer($0.names.contains("id") ? 2 : 1) },
                .init(2) { $0["id"] = 3 },
            ]
            try store.migrate(to: 2, steps: steps)
            try store.migrate(to: 2, steps: steps)
            same(store["id"], own.isEmpty ? 1 : 3)
            same(store["preferences.version"], 2)
        }
    }

    @Test
    func migrationOfANewStoreIsOneChange() throws {
        let store = PreferenceStore.inMemory()
        let changes = Recorder<PreferenceStoreChange>()
        let observation = store.subscribe { changes.record(PreferenceStoreChange($0)) }
        try store.migrate(
            to: 2,
            steps: [.init(1, onNewStores: true) { $0["a"] = 1 }, .init(2, onNewStores: true) { $0["b"] = 1 }]
        )
        same(changes.elements.map(\.names), [["a", "b", "preferences.version"]])
        withExtendedLifetime(observation) {}
    }

    @Test
    func valueBelowItsNewRuleIsMigratedIntoIt() throws {
        let store = PreferenceStore.inMemory(["scale": 2])
        let scale = Preference("scale", default: 100, .range(10...1000), in: store)
        try store.migrate(to: 1, steps: [.init(1) { $0[scale]? *= 10 }])
        same(scale.value, 20)
    }

    @Test
    func stepsModifyMoveAndList() throws {
        struct Frame: Codable, Equatable { var width = 1 }
        let store = PreferenceStore.inMemory(["frame": ["width": 2, "later": 3], "a": 1, "b": 2, "gone": 5])
        let frame = Preference("frame", default: Frame(), in: store)
        let color = Preference<String?>("color", default: nil, in: store)
        let gone = Preference<Int?>("gone", default: 7, in: store)
        try store.migrate(
            to: 1,
            steps: [
                .init(1) {
                    same($0.names, ["a", "b", "frame", "gone"])
                    $0.modify(frame) { $0.width += 1 }
                    $0.modify(color) { $0 = "red" }
                    #expect($0[color] == nil && $0[gone] == 5)
                    $0[gone] = nil
                    $0.move(from: "a", to: "b")
                    $0.move(from: "b", to: "c")
                    $0.move(from: "none", to: "d")
                }
            ]
        )
        same(store.contents, ["frame": ["width": 3, "later": 3], "a": 1, "c": 2, "preferences.version": 1])
    }

    @Test
    func undecodableValueStaysWhateverAFormerNameHas() throws {
        let own: [String: PropertyListValue] = ["volume": "x", "vol": 7]
        let store = PreferenceStore.inMemory(own)
        let reports = store.recordIssues()
        let volume = Preference("volume", default: 5, .formerly("vol"), in: store)
        try store.migrate(
            to: 1,
            steps: [
                .init(1) {
                    $0[volume]? *= 10
                    $0.modify(volume) { $0 *= 10 }
                    $0[volume] = nil
                }
            ]
        )
        same(store.contents, own.merging(["preferences.version": 1]) { $1 })
        same(reports.elements.map(\.code), [.unreadable])
    }

    struct Place: Codable, Equatable {
        struct Size: Codable, Equatable { var width = 5, height = 6 }
        enum CodingKeys: String, CodingKey { case x, y, size, depth = "z" }
        var x = 1, y = 2, size = Size(), depth = 3
    }

    /// No default of a member is stored by a step.
    @Test
    func memberThatIsNotStoredIsNil() throws {
        let own: PropertyListValue = ["x": 4, "y": "bad", "size": ["width": 7], "later": 9]
        let store = PreferenceStore.inMemory(["place": own])
        store.issueHandler = { _ in }
        let place = Preference("place", default: Place(), in: store)
        try store.migrate(
            to: 1,
            steps: [
                .init(1) {
                    #expect($0[place[\.y]] == nil && $0[place[\.depth]] == nil)
                    #expect($0[place[\.size][\.height]] == nil && $0[place[\.size][\.width]] == 7)
                    $0[place[\.y]]? *= 10
                    $0[place[\.depth]]? *= 10
                    $0[place[\.size][\.height]]? *= 10
                }
            ]
        )
        same(store["place"], own)
        try store.migrate(to: 2, steps: [.init(2) { $0[place[\.x]]? *= 10 }])
        same(place.value.x, 40)
        store["place"] = ["x": 1, "y": 2, "size": ["width": 3, "height": 4], "z": 8]
        try store.migrate(to: 3, steps: [.init(3) { $0[place[\.depth]]? *= 10 }])
        same(place.value.depth, 80)
    }

    @Test
    func nilOfAMemberLeavesTheRestOfTheValue() throws {
        struct Frame: Codable { var x = 3, y = 0 }
        let store = PreferenceStore.inMemory(["frame": ["x": 1, "y": 2, "later": 4], "preferences.version": 1])
        let frame = Preference("frame", default: Frame(), in: store)
        try store.migrate(to: 2, steps: [.init(2) { $0[frame[\.x]] = nil }])
        same(store["frame"], ["x": 3, "y": 2, "later": 4])
    }

    /// A scope that was migrated first says nothing about the store that it is in.
    @Test
    func recordOfAScopeIsNoValue() throws {
        let store = PreferenceStore.inMemory()
        let step = PreferenceMigration(1) { $0["old"] = 1 }
        try store.scoped(prefix: "ada.").migrate(to: 1, steps: [step])
        try store.migrate(to: 1, steps: [step])
        same(store.contents, ["ada.preferences.version": 1, "preferences.version": 1])
    }

    @Test(arguments: rows)
    func stepsOfAProgramWhoseStoreIsAskedByName(row: Row) throws {
        let backend = KeyedBackend(row.own)
        let system = PreferenceStore.inMemory(row.system).readOnly(named: "system")
        let own = PreferenceStore(Layer(source: Source(backend)))
        try check(row, .layered([own, system]), { backend.stored }, isListed: false)
    }

    /// A store that is asked name by name shows by all steps what an older version had.
    @Test(arguments: [true, false])
    func stepAfterOneThatFailsShowsAnOldStore(isTrial: Bool) async throws {
        struct Missing: Error {}
        let steps: [PreferenceMigration] = [
            .init(1) { if $0["first"] == nil { throw Missing() } }, .init(2) { $0.move(from: "colour", to: "color") },
        ]
        let (backend, other) = (KeyedBackend(["colour": "red"]), KeyedBackend(["colour": "red"]))
        func migrate() throws {
            try PreferenceStore(Layer(source: Source(backend))).migrate(to: 2, steps: steps, dryRun: isTrial)
        }
        #expect(throws: Missing.self) { try migrate() }
        await #expect(throws: Missing.self) {
            try await PreferenceStore(Layer(source: Source(other))).migrate(to: 2, steps: steps, dryRun: isTrial)
        }
        #expect(backend.stored == ["colour": "red"] && other.stored == ["colour": "red"])
    }

    @Test
    func stepThatFailsWithoutAValueRunsWhenThePlaceWasAskedForIt() async throws {
        struct Missing: Error {}
        let steps: [PreferenceMigration] = [.init(2) { if $0["a"] == nil { throw Missing() } }]
        func store() -> PreferenceStore {
            let store = PreferenceStore(Layer(source: Source(KeyedBackend(["a": 1, "preferences.version": 1]))))
            same(store["preferences.version"], 1)
            return store
        }
        func migrate() throws { try store().migrate(to: 2, steps: steps) }
        try migrate()
        try await store().migrate(to: 2, steps: steps)
    }
}

/// A place that is asked for single names, and lists none.
private final class KeyedBackend: Backend {
    let place = "keys"
    let isKeyed = true
    // Tasks wait for threads that other tests use.
    let timeout = Duration.seconds(3600)
    private let contents: Lock<[String: PropertyListValue]>

    init(_ contents: [String: PropertyListValue]) { self.contents = Lock(contents) }

    var stored: [String: PropertyListValue] { contents.withLock { $0 } }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { [] }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func values(for names: [String]?) -> [StoredChange] {
        contents.withLock { contents in (names ?? []).map { StoredChange($0, contents[$0]) } }
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        let changes = try body(.none)
        contents.withLock { contents in for change in changes { contents[change.name] = change.value } }
    }
}
