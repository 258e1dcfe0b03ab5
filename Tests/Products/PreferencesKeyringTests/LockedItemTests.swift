import TestSupport
import Testing

@testable import Preferences

/// Items that the keyring locks one by one: they are unavailable, not absent.
struct LockedItemTests {
    private let keyring = MemoryKeyring(["account": #"{"name":"jo","key":"real","later":1}"#, "open": "1"])

    private struct Account: PreferenceGroup {
        struct Login: Codable, Equatable, Sendable {
            var name = ""
            var key = ""
        }
        @Preference("account") var account = Login()
        @Preference("open") var open = 0
    }

    private func makeStore() -> PreferenceStore {
        keyring.lock(["account"])
        return .testing(keyring)
    }

    @Test
    func resetOfAGroupReportsTheLockedItem() async throws {
        let store = makeStore()
        let reports = Reports(of: store)
        try await store.load()
        let group = Account(in: store)
        group.reset()
        // The first one of reading the locked item, the second one of the reset.
        same(reports.codes, [.unavailable, .unavailable])
        same(keyring.texts.keys.sorted(), ["account", "open"], "all or nothing")
        keyring.lock([])
        try await store.load()
        group.reset()
        try await store.flush()
        #expect(keyring.texts.isEmpty)
    }

    @Test(arguments: ["preference", "name", "all"])
    func transactionThatOnlyReadsFails(way: String) async throws {
        let store = makeStore()
        try await store.load()
        let group = Account(in: store)
        let error = await #expect(throws: PreferenceError.self) {
            try await store.transaction { transaction in
                switch way {
                case "preference": _ = transaction[group.$account]
                case "name": _ = transaction["account"]
                default: _ = transaction.contents
                }
            }
        }
        same(error?.code, .unavailable)
        try await same(store.transaction { $0[group.$open] }, 1)
        keyring.lock([])
        try await store.load()
        try await same(store.transaction { $0[group.$account].key }, "real")
    }
}
