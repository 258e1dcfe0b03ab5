import TestSupport
import Testing

@testable import Preferences

/// Migrations, versions and `removeAll()` look at the values that a store itself has, and not at those of its other layers.
struct OwnValueTests {
    /// Returns a memory store over another one with these values.
    private func store(
        over lower: [String: PropertyListValue],
        _ own: [String: PropertyListValue] = [:]
    ) -> (PreferenceStore, own: PreferenceStore) {
        let store = PreferenceStore.inMemory(own)
        return (.layered([store, .inMemory(lower).readOnly(named: "system")]), store)
    }

    @Test
    func removeAllKeepsTheRecordsOfMigrationsAndImports() throws {
        let steps: [PreferenceMigration] = [
            .init(1) { t in if case .integer(let volume)? = t["volume"] { t["volume"] = .integer(volume * 10) } }
        ]
        let imported: PropertyListValue = .array(["player"])
        let records = [
            "preferences.version", "preferences.imported", "other.preferences.version", "preferences.versions",
        ]
        for isScoped in [false, true] {
            let base = PreferenceStore.inMemory(["volume": 4, "account.volume": 4, "preferences.imported": imported])
            let store = isScoped ? base.scoped(prefix: "account.") : base
            store["preferences.imported"] = imported
            for name in records[2...] { store[name] = 1 }
            try store.migrate(to: 1, steps: steps)
            store.removeAll()
            same(store.names, ["preferences.imported", "preferences.version"])
            store["volume"] = 7
            try store.migrate(to: 1, steps: steps)
            same(store["volume"], 7)
            same(base["volume"], isScoped ? 4 : 7)
        }
    }

    @Test
    func valueOfALowerLayerDoesNotStopAMigration() throws {
        for hasDestination in [false, true] {
            let (store, own) = store(
                over: ["new": 1, "old": 2],
                ["old": 5].merging(hasDestination ? ["new": 6] : [:]) { $1 }
            )
            Preference("new", default: 0, in: store).migrate(from: "old")
            same(own.contents, ["new": hasDestination ? 6 : 5].merging(hasDestination ? ["old": 5] : [:]) { $1 })
        }
        let (source, ownSource) = store(over: ["old": 2], ["old": 5])
        let (target, ownTarget) = store(over: ["new": 1])
        Preference("new", default: 0, in: target).migrate(from: Preference("old", default: 0, in: source))
        #expect(ownSource.contents == [:] && ownTarget.contents == ["new": 5])
        // Nothing of its own: nothing to move.
        let (lower, ownLower) = store(over: ["old": 2])
        Preference("new", default: 0, in: lower).migrate(from: "old")
        #expect(ownLower.contents == [:] && lower["old"] == 2)
    }

    @Test
    func transactionReadsWhatIsShownAfterAReset() throws {
        let (store, own) = store(over: ["volume": 3, "vol": 2], ["volume": 7])
        let volume = Preference("volume", default: 5, .formerly("vol"), in: store)
        let read = try store.transaction { t in
            t.reset(volume)
            return t[volume]
        }
        #expect(read == volume.value && read == 3)
        same(own.contents, [:])
        let afterUnset = try store.transaction { t in
            t["volume"] = nil
            return t["volume"]
        }
        same(afterUnset, store["volume"])
    }
}
