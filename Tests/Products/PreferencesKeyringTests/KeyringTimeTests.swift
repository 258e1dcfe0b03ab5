import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// What a store reads again after a time.
struct KeyringTimeTests {
    private let keyring = MemoryKeyring()
    /// What was read is never up to date.
    private let limits = KeyringLimits(call: .seconds(3600), timeToLive: .zero, pauseAfterFailure: .zero)

    private struct Login: Codable, Equatable, Sendable {
        var name = ""
        var key = ""
    }

    @Test
    func readsWithinTheTimeToLiveDoNotCall() {
        keyring.texts = ["token": "1"]
        let store = PreferenceStore.testing(keyring)
        for _ in 1...3 { same(store["token"], "1") }
        same(keyring.calls, ["items!"])
    }

    @Test(arguments: ["value", "name", "list"])
    func externalChangesAreSeenAfterTheTimeToLive(way: String) async throws {
        keyring.texts = ["kept": "1", "changed": "1", "removed": "1"]
        let store = PreferenceStore.testing(keyring, limits: limits)
        let changed = Preference("changed", default: "", in: store)
        same(changed.value, "1")
        var changes = store.changes.makeAsyncIterator()
        keyring.texts = ["kept": "1", "changed": "2", "new": "1"]
        switch way {
        case "value": same(changed.value, "2")
        case "name": same(store["changed"], "2")
        default: same(store.names, ["changed", "kept", "new"])
        }
        await same(changes.next()?.names, ["changed", "removed", "new"])
        // A read doesn't prompt.
        same(keyring.calls.filter { $0 == "items!" }, ["items!"])
    }

    @Test
    func failedLookKeepsTheValuesAndIsReportedOnce() async throws {
        keyring.texts = ["token": "old"]
        let store = PreferenceStore.testing(keyring, limits: limits)
        let reports = Reports(of: store)
        same(store["token"], "old")
        keyring.texts = ["token": "new"]
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        for _ in 0..<3 { same(store["token"], "old") }
        same(reports.codes, [.unavailable])
        await #expect(throws: PreferenceError.self) { try await store.load() }
        keyring.failAll(with: nil)
        same(store["token"], "new")
    }

    @Test
    func readsDoNotCallForAWhileAfterAFailure() throws {
        keyring.texts = ["token": "old"]
        let store = PreferenceStore.testing(keyring, limits: KeyringLimits(call: .seconds(3600), timeToLive: .zero))
        same(store["token"], "old")
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        same(store["token"], "old")
        keyring.forgetCalls()
        for _ in 1...3 { same(store["token"], "old") }
        same(keyring.calls, [])
    }

    @Test
    func secretsOfALockedKeyringAreReadAfterTheUnlock() async throws {
        keyring.texts = ["token": "old"]
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        let timer = ManualTimer()
        let store = PreferenceStore.testing(keyring, timer: timer)
        let reports = Reports(of: store)
        let token = Preference<String?>("token", default: nil, in: store)
        let seen = Lock<[String?]>([])
        let observation = token.observe { change in seen.withLock { $0.append(change.new) } }
        same(token.value, nil)
        for count in 2...4 {
            await eventually { timer.runNextJob() }
            await eventually { keyring.calls.count == count }
            same(token.value, nil)
        }
        same(keyring.calls, ["items!", "items", "items", "items"], "only the first one may ask the user")
        same(reports.codes, [.unavailable])
        keyring.failAll(with: nil)
        await eventually { timer.runNextJob() }
        await eventually { seen.withLock { $0 } == ["old"] }
        same(token.value, "old")
        withExtendedLifetime(observation) {}
    }

    @Test
    func writeThatHangsIsOfUnknownOutcome() async throws {
        let store = PreferenceStore.testing(keyring, limits: KeyringLimits(call: .milliseconds(100)))
        keyring.hangAfterWriting()
        var code: PreferenceError.Code?
        repeat {
            // A write that only reached the read before it has changed nothing.
            #expect(keyring.texts.isEmpty)
            let error = await #expect(throws: PreferenceError.self) { try await store.write("1", for: "token") }
            code = error?.code
        } while code == .unavailable
        same(code, .outcomeUnknown)
        same(keyring.texts, ["token": "1"])
        keyring.goOn()
        // The next read calls the keyring, after a failure a later one.
        await eventuallyLoaded(store) { store["token"] == "1" }
    }

    @Test
    func lockedItemIsReadAgainByItself() async throws {
        keyring.texts = ["account": #"{"name":"jo","key":"real","later":1}"#, "open": "1"]
        keyring.lock(["account"])
        let timer = ManualTimer()
        let store = PreferenceStore.testing(keyring, timer: timer)
        let account = Preference("account", default: Login(), in: store)
        try await store.load()
        let seen = Lock<[String]>([])
        let observation = account.observe { change in seen.withLock { $0.append(change.new.key) } }
        keyring.forgetCalls()
        for count in 1...3 {
            await eventually { timer.runNextJob() }
            await eventually { keyring.calls.count == count }
        }
        #expect(!keyring.calls.contains("items!"))
        keyring.lock([])
        await eventually { timer.runNextJob() }
        await eventually { seen.withLock { $0 } == ["real"] }
        observation.cancel()
    }

    /// Waits until another thread makes a condition true.
    private func eventually(_ isTrue: () -> Bool) async {
        while !isTrue() { await Task.yield() }
    }

    private func eventuallyLoaded(_ store: PreferenceStore, _ isTrue: () -> Bool) async {
        while !isTrue() { try? await store.load() }
    }
}
