import PreferencesEditing
import TestSupport
import Testing

@testable import Preferences

/// Drafts of items that the keyring locks one by one.
struct LockedDraftTests {
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
}
