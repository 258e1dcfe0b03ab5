import TestSupport
import Testing

@testable import Preferences

extension MigrationTableTests {
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
