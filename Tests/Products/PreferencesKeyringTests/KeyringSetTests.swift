import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// Properties over a keyring, which never wait for it for long.
struct KeyringSetTests {
    private let keyring = MemoryKeyring(["token": "old"])

    @Test
    func setThatTheKeyringDelaysIsShownAndStoredLater() async throws {
        let store = PreferenceStore.testing(keyring)
        let reports = Reports(of: store)
        let token = Preference("token", default: "", in: store)
        same(token.value, "old")
        keyring.forgetCalls()
        keyring.hold()
        token.value = "new"
        same(token.value, "new")
        same(keyring.texts, ["token": "old"])
        keyring.goOn()
        try await token.store.flush()
        same(keyring.texts, ["token": "new"])
        same(reports.codes, [])
    }

    /// The user would be asked again and again while the keyring stays locked.
    @Test
    func neitherASetNorItsRetriesPrompt() async throws {
        let store = PreferenceStore.testing(keyring)
        let reports = Reports(of: store)
        let token = Preference("token", default: "", in: store)
        same(token.value, "old")
        keyring.forgetCalls()
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        token.value = "new"
        same(token.value, "new")
        // The first retry comes after a second.
        while keyring.calls.count < 2 || reports.codes.isEmpty { await Task.yield() }
        #expect(!keyring.calls.contains("items!"))
        same(reports.codes, [.unavailable])
        #expect(throws: PreferenceError.self) { try token.write("newer") }
        #expect(keyring.calls.contains("items!"))
        keyring.failAll(with: nil)
        try await store.flush()
        same(keyring.texts, ["token": "new"])
    }

    /// What it might have replaced can't be read.
    @Test
    func setOfALockedItemIsRejected() {
        keyring.lock(["token"])
        let store = PreferenceStore.testing(keyring)
        let reports = Reports(of: store)
        let token = Preference("token", default: "", in: store)
        same(token.value, "")
        token.value = "new"
        same(token.value, "")
        same(reports.codes, [.unavailable, .unavailable])
        same(reports.errors.map(\.name), ["token", "token"])
        store.removeAll()
        same(keyring.texts, ["token": "old"])
        same(reports.codes.count, 3)
    }

    @Test
    func setOfALockedItemIsNotShownWhileTheKeyringHangs() {
        keyring.lock(["token"])
        let store = PreferenceStore.testing(keyring)
        let reports = Reports(of: store)
        let token = Preference("token", default: "", in: store)
        same(token.value, "")
        keyring.hold()
        token.value = "new"
        same(token.value, "")
        same(reports.codes, [.unavailable, .unavailable])
        keyring.goOn()
    }

    @Test
    func strictReadOfALockedItemThrows() async throws {
        keyring.texts = ["token": "old", "old": "older"]
        keyring.lock(["token"])
        let store = PreferenceStore.testing(keyring)
        let token = Preference("token", default: "", .formerly("old"), in: store)
        #expect(throws: PreferenceError.self) { try token.read() }
        let stronger = PreferenceStore.inMemory(["token": "strong"])
        let layered = PreferenceStore.layered([stronger, store])
        try same(token.bound(to: layered).read(), "strong")
        stronger["token"] = nil
        #expect(throws: PreferenceError.self) { try token.bound(to: layered).read() }
        keyring.lock([])
        try await store.load()
        try same(token.read(), "old")
        // It keeps its value when it is locked again.
        keyring.lock(["token"])
        try await store.load()
        try same(token.read(), "old")
        #expect(throws: PreferenceError.self) { try token.write("new") }
    }

    @Test
    func secretIsInNoMessage() throws {
        keyring.texts = ["pin": "hunter2"]
        let store = PreferenceStore.testing(keyring)
        let reports = Reports(of: store)
        let pin = Preference("pin", default: 0, in: store)
        same(pin.value, 0)
        let error = #expect(throws: PreferenceError.self) { try pin.read() }
        let texts = reports.errors.map(\.description) + ["\(pin)", error?.description ?? ""]
        #expect(reports.codes == [.unreadable] && !texts.contains { $0.contains("hunter2") }, "\(texts)")
    }
}
