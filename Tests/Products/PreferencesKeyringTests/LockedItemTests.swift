import PreferencesEditing
import TestSupport
import Testing

@testable import DurableFile
@testable import Preferences

/// Items that the keyring locks one by one: they are unavailable, not absent.
struct LockedItemTests {
    private let keyring = MemoryKeyring(["account": #"{"name":"jo","key":"real","later":1}"#, "open": "1"])
    private let timer = WorkerQueue(isManual: true)

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
        return .testing(keyring, timer: timer)
    }

    /// An edit begins with the default there, so it would replace the parts of the stored value.
    @Test
    func draftOfALockedItemIsUnavailable() async throws {
        let store = makeStore()
        try await store.load()
        let draft = store.draft()
        let group = Account(in: draft.store)
        #expect(throws: PreferenceError.self) { try group.$account.read() }
        #expect(throws: PreferenceError.self) { try group.$account.write(Account.Login(key: "edited")) }
        group.account.name = "edited"
        group.open = 2
        same(draft.changes.names, ["open"])
        keyring.lock([])
        try await store.load()
        try await draft.apply()
        same(Account(in: store).account, Account.Login(name: "jo", key: "real"))
        same(keyring.texts["account"], #"{"name":"jo","key":"real","later":1}"#)
        group.account.key = "edited"
        try await draft.apply()
        same(store["account"], ["name": "jo", "key": "edited", "later": 1])
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
        group.reset()
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

    /// Of another one, each read would otherwise have to find that it can be read.
    @Test
    func lockedItemIsReadAgainByItself() async throws {
        let store = makeStore()
        let group = Account(in: store)
        try await store.load()
        let seen = Lock<[String]>([])
        let observation = group.$account.observe { change in seen.withLock { $0.append(change.new.key) } }
        keyring.forgetCalls()
        // Each time, one job marks the values as stale and another one reads them.
        for _ in 1...4 { #expect(timer.runNextJob()) }
        #expect(keyring.calls.count >= 2 && !keyring.calls.contains("items!"))
        keyring.lock([])
        while timer.runNextJob(), seen.withLock({ $0.isEmpty }) {}
        same(seen.withLock { $0 }, ["real"])
        observation.cancel()
    }
}
