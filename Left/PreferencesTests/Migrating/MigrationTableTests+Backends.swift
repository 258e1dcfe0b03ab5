import TestSupport
import Testing

@testable import Preferences

extension MigrationTableTests {
    @Test(arguments: rows)
    func stepsOfAProgramWhoseStoreIsAskedByName(row: Row) throws {
        let backend = UnlistedBackend(row.own)
        let system = PreferenceStore.inMemory(row.system).readOnly(named: "system")
        let store = PreferenceStore.layered([PreferenceStore(backend: backend), system])
        try check(row, store, { backend.stored }, isListed: false)
    }

    /// A store that is asked name by name shows by all steps what an older version had.
    @Test
    func stepAfterOneThatFailsShowsAnOldStore() throws {
        let backend = UnlistedBackend(["colour": "red"])
        let store = PreferenceStore(backend: backend)
        struct Missing: Error {}
        let steps: [PreferenceMigration] = [
            .init(1) { if $0["first"] == nil { throw Missing() } }, .init(2) { $0.move(from: "colour", to: "color") },
        ]
        #expect(throws: Missing.self) { try store.migrate(to: 2, steps: steps) }
        same(backend.stored, ["colour": "red"])
    }
}
