import TestSupport
import Testing

@testable import Preferences

/// Bodies of updates and transactions that change the store whose turn they have.
struct MisuseTests {
    private let store: PreferenceStore
    private let volume: Preference<Int>
    private let other: Preference<Int>
    private let issues: Recorder<PreferenceError>

    init() {
        store = .inMemory(["volume": 3])
        issues = store.recordIssues()
        volume = Preference("volume", default: 0, in: store)
        other = Preference("other", default: 0, in: store)
    }

    private func expectMisuse(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: PreferenceError.self, sourceLocation: location) { try body() }
        #expect(error?.code == .misuse, sourceLocation: location)
        same(store.contents, ["volume": 3])
    }

    @Test
    func callsThatWaitForTheirOwnTurnAreMisuse() {
        expectMisuse { try volume.update { _ in try volume.update { $0 += 10 } } }
        expectMisuse { try volume.update { _ in try other.write(1) } }
        expectMisuse { try store.transaction { _ in try other.update { $0 += 1 } } }
        expectMisuse { try store.transaction { _ in try store.scoped(prefix: "a.").write(1, for: "x") } }
        expectMisuse { try volume.update { _ in try store.transaction { $0["other"] = 1 } } }
    }

    @Test
    func loadAndMigrationInABodyAreMisuse() throws {
        let store = PreferenceStore(backend: TableBackend(TableBackend.Table()))
        let calls: [() throws -> Void] = [
            { try store.load() }, { try store.migrate(to: 1, steps: [.init(1, onNewStores: true) { $0["a"] = 1 }]) },
        ]
        for call in calls {
            let error = #expect(throws: PreferenceError.self) { try store.transaction { _ in try call() } }
            same(error?.code, .misuse)
        }
        same(store.contents, [:])
    }

    @Test
    func anUpdateNamesItsPreference() {
        let error = #expect(throws: PreferenceError.self) {
            try store.transaction { _ in try volume.update { $0 += 1 } }
        }
        same(error?.name, "volume")
    }

    @Test
    func aBodyGoesOnAfterAMisuseThatItCatches() throws {
        try volume.update { value in
            do { try other.write(9) } catch {}
            store.reset(other)
            value += 1
        }
        #expect(store.contents == ["volume": 4] && issues.elements.map(\.code) == [.misuse])
    }

    @Test
    func propertiesAndOtherStoresMayBeSet() throws {
        let elsewhere = Preference("volume", default: 0, in: .inMemory())
        let observation = other.observe { [volume] change in volume.value = change.new }
        try store.transaction { transaction in
            other.value = 9
            try elsewhere.update { $0 += 1 }
            transaction["third"] = 1
            #expect(store.isWritable)
        }
        same(store.contents, ["volume": 9, "other": 9, "third": 1])
        #expect(elsewhere.value == 1 && issues.elements.isEmpty)
        withExtendedLifetime(observation) {}
    }
}
