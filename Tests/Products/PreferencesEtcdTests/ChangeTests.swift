#if Etcd
import EtcdTestSupport
import FileTestSupport
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Changes of a store that hasn't received what another one has changed: they are stored if what their body has read is unchanged.
@Suite(needsEtcd)
struct ChangeTests {
    private let store: PreferenceStore
    private let other: PreferenceStore
    private let transport: TestTransport
    private let runs = Counter()

    init() throws {
        let (suite, configuration) = (freshSuite(), EtcdConfiguration.testing(try SharedNode.get().endpoints))
        transport = try TestTransport()
        // It delivers nothing, as if it were slow.
        transport.cutStreams()
        store = try PreferenceStore(etcd: suite, configuration, over: transport)
        other = try .etcd(suite, configuration)
        try other.transaction { ($0["read"], $0["removed"]) = (1, 1) }
        try store.load()
    }

    /// Stores a name by what `body` returns.
    private func set(_ body: (inout PreferenceTransaction) -> PropertyListValue?) throws {
        try store.transaction { transaction in
            runs.next()
            transaction["made"] = body(&transaction)
        }
    }

    @Test
    func bodyRunsAgainIfANameThatItHasReadWasChanged() throws {
        try other.write(5, for: "read")
        try set { $0["read"] }
        #expect(store["made"] == 5 && store["read"] == 5 && runs.value == 2)
        // The change of others comes with the answer, and isn't the store's own.
        try set { $0["removed"] }
        #expect(store["made"] == 1 && runs.value == 3)
        try other.write(nil, for: "removed")
        try set { $0["removed"] ?? "none" }
        #expect(store["made"] == "none" && store["removed"] == nil && runs.value == 5)
    }

    @Test
    func changesOfOtherNamesAreNoConflict() throws {
        try other.transaction { ($0["another"], $0["removed"]) = (1, nil) }
        try set { $0["read"] }
        #expect(store["made"] == 1 && runs.value == 1 && transport.writeCount == 1)
        same(store.names, ["made", "read", "removed"])
    }

    @Test
    func nameThatWasReadAsAbsentMustBeAbsent() throws {
        try other.write(7, for: "new")
        try set { $0["new"] ?? 0 }
        #expect(store["made"] == 7 && runs.value == 2)
    }

    @Test
    func bodyThatReadsAllNamesRunsAgainAfterAnyChange() throws {
        try other.write(1, for: "new")
        try set { .integer(Int64($0.names.count)) }
        #expect(store["made"] == 3 && runs.value == 2)
        store.removeAll()
        #expect(store.contents.isEmpty)
        try other.load()
        #expect(other.contents.isEmpty)
    }

    @Test
    func taskRunsItsBodyAgainIfANameThatItHasReadWasChanged() async throws {
        try await other.write(5, for: "read")
        try await store.transaction { transaction in
            runs.next()
            transaction["made"] = transaction["read"]
        }
        #expect(store["made"] == 5 && runs.value == 2)
        try await other.write(6, for: "another")
        let before = transport.writeCount
        try await store.transaction { $0["made"] = $0["removed"] }
        same(transport.writeCount, before + 1)
    }

    /// A body that changes nothing is compared, too: else it could return what it has read long after that was changed.
    @Test
    func bodyThatOnlyReadsSeesWhatIsStored() throws {
        try other.write(5, for: "read")
        try same(store.transaction { $0["read"] }, 5)
        // Nor does a value count as stored that no longer is.
        try other.write(6, for: "read")
        try store.write(5, for: "read")
        try other.load()
        same(other["read"], 5)
    }

    @Test
    func errorOfABodyStoresNothing() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.transaction { transaction in
                transaction["made"] = 1
                throw Stop()
            }
        }
        #expect(store["made"] == nil && transport.writeCount == 0)
    }
}
#endif
