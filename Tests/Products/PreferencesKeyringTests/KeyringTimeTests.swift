import TestSupport
import Testing

@testable import DurableFile
@testable import Preferences
@testable import PreferencesKeyring

/// What a store reads again after a time.
struct KeyringTimeTests {
    private let keyring = MemoryKeyring()

    private struct Login: Codable, Equatable, Sendable {
        var name = ""
        var key = ""
    }

    @Test(arguments: ["read", "list"])
    func externalChangesAreSeenAfterTheTimeToLive(way: String) async throws {
        keyring.texts = ["kept": "1", "changed": "1", "removed": "1"]
        let timer = WorkerQueue(isManual: true)
        let store = PreferenceStore.testing(keyring, timer: timer)
        same(store["changed"], .string("1"))
        var changes = store.changes.makeAsyncIterator()
        keyring.texts = ["kept": "1", "changed": "2", "new": "1"]
        same(store["new"], nil)
        same(keyring.calls, ["items!"])
        #expect(timer.runNextJob())
        #expect(!timer.runNextJob())
        // A read doesn't prompt, and reads all items, so all of them are up to date.
        if way == "read" { same(store["changed"], .string("2")) } else { same(store.names.count, 3) }
        same(store["removed"], nil)
        same(store["new"], .string("1"))
        same(keyring.calls, ["items!", "items"])
        await same(changes.next()?.names, ["changed", "removed", "new"])
    }

    @Test
    func failedLookKeepsTheValuesAndIsReportedOnce() async throws {
        keyring.texts = ["token": "old"]
        let timer = WorkerQueue(isManual: true)
        let store = PreferenceStore.testing(keyring, timer: timer)
        let reports = Reports(of: store)
        same(store["token"], .string("old"))
        keyring.texts = ["token": "new"]
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        for _ in 0..<3 {
            #expect(timer.runNextJob())
            same(store["token"], .string("old"))
        }
        same(reports.codes, [.unavailable])
        await #expect(throws: PreferenceError.self) { try await store.load() }
        keyring.failAll(with: nil)
        same(store["token"], .string("old"))
        #expect(timer.runNextJob())
        same(store["token"], .string("new"))
    }

    @Test
    func secretsOfALockedKeyringAreReadAfterTheUnlock() async throws {
        keyring.texts = ["token": "old"]
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        let timer = WorkerQueue(isManual: true)
        let store = PreferenceStore.testing(keyring, timer: timer)
        let reports = Reports(of: store)
        let token = Preference<String?>("token", default: nil, in: store)
        let seen = Lock<[String?]>([])
        let observation = token.observe { change in seen.withLock { $0.append(change.new) } }
        same(token.value, nil)
        for _ in 1...3 {
            #expect(timer.runNextJob())
            same(token.value, nil)
        }
        same(keyring.calls, ["items!", "items", "items", "items"], "only the first one may ask the user")
        same(reports.codes, [.unavailable])
        keyring.failAll(with: nil)
        #expect(timer.runNextJob())
        same(token.value, "old")
        same(seen.withLock { $0 }, ["old"])
        // From now on it is read again as any keyring is.
        keyring.texts = ["token": "new"]
        #expect(timer.runNextJob())
        same(token.value, "new")
        withExtendedLifetime(observation) {}
    }

    @Test
    func writeThatHangsIsOfUnknownOutcome() async throws {
        let timer = WorkerQueue(isManual: true)
        let store = PreferenceStore.testing(keyring, limits: KeyringLimits(call: .milliseconds(100)), timer: timer)
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
        // A read that waited for the hanging call is repeated when the values are stale.
        await eventually {
            _ = timer.runNextJob()
            return store["token"] == "1"
        }
    }

    /// Of another one, each read would otherwise have to find that it can be read.
    @Test
    func lockedItemIsReadAgainByItself() async throws {
        keyring.texts = ["account": #"{"name":"jo","key":"real","later":1}"#, "open": "1"]
        keyring.lock(["account"])
        let timer = WorkerQueue(isManual: true)
        let store = PreferenceStore.testing(keyring, timer: timer)
        let account = Preference("account", default: Login(), in: store)
        try await store.load()
        let seen = Lock<[String]>([])
        let observation = account.observe { change in seen.withLock { $0.append(change.new.key) } }
        keyring.forgetCalls()
        // Each time, one job marks the values as stale and another one reads them.
        for _ in 1...4 { #expect(timer.runNextJob()) }
        #expect(keyring.calls.count >= 2 && !keyring.calls.contains("items!"))
        keyring.lock([])
        while timer.runNextJob(), seen.withLock({ $0.isEmpty }) {}
        same(seen.withLock { $0 }, ["real"])
        observation.cancel()
    }

    /// Waits until another thread makes a condition true.
    private func eventually(_ isTrue: () -> Bool) async {
        while !isTrue() { await Task.yield() }
    }
}
