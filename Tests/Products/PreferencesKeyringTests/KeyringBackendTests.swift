import Foundation
import TestSupport
import Testing

@testable import DurableFile
@testable import Preferences
@testable import PreferencesKeyring

/// A store over a keyring in memory.
struct KeyringBackendTests {
    private let keyring = MemoryKeyring()

    @Test
    func keyringIsInMemoryInTests() {
        let token = Preference<String?>("token", default: nil, in: .keyring)
        token.value = "hunter2"
        same(token.value, "hunter2")
    }

    @Test
    func stringIsStoredAsItsText() throws {
        let token = Preference<String>("token", default: "", in: .testing(keyring))
        try token.write("{\"a\": 1}")
        same(keyring.texts, ["token": "{\"a\": 1}"])
        same(token.value, "{\"a\": 1}")
        token.reset()
        #expect(keyring.texts.isEmpty)
    }

    @Test(arguments: ["12345678", "true", "{\"$data\":\"AA==\"}", "[1]", "", "null"])
    func textIsReadAsAString(text: String) {
        keyring.texts = ["token": text]
        same(Preference<String>("token", default: "default", in: .testing(keyring)).value, text)
    }

    @Test
    func textOfAnotherProgramIsReadByTheDeclaredType() {
        keyring.texts = ["pin": "12345678", "on": "true", "when": "2026-11-20T22:00:00Z", "list": "[1, 2]"]
        let store = PreferenceStore.testing(keyring)
        same(Preference<Int>("pin", default: 0, in: store).value, 12_345_678)
        #expect(Preference<Bool>("on", default: false, in: store).value)
        same(
            Preference<Date>("when", default: .distantPast, in: store).value,
            Date(timeIntervalSince1970: 1_795_212_000)
        )
        same(Preference<[Int]>("list", default: [], in: store).value, [1, 2])
    }

    @Test
    func bytesThatAreNoTextAreData() {
        keyring["key"] = [0xFF, 0x00]
        same(Preference<Data?>("key", default: nil, in: .testing(keyring)).value, Data([0xFF, 0x00]))
    }

    @Test
    func equalValueOfAnotherKindIsNoChange() async throws {
        let store = PreferenceStore.testing(keyring)
        try await store.write(.integer(5), for: "number")
        keyring.forgetCalls()
        try await store.load()
        same(store["number"], .integer(5))
        try await store.write(.string("5"), for: "number")
        same(keyring.calls, ["items!", "items!"])
        same(store["number"], .string("5"))
    }

    @Test
    func externalChangesAreSeenByRefresh() async throws {
        keyring.texts = ["kept": "1", "changed": "1", "removed": "1"]
        let store = PreferenceStore.testing(keyring)
        same(store.names.sorted(), ["changed", "kept", "removed"])
        var changes = store.changes.makeAsyncIterator()
        keyring.texts = ["kept": "1", "changed": "2", "new": "1"]
        same(store["changed"], .string("1"))
        try await store.load()
        same(store.contents, ["kept": .string("1"), "changed": .string("2"), "new": .string("1")])
        let change = await changes.next()
        same(change?.names, ["changed", "removed", "new"])
        same(change?.origin, .external)
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
    func storeThatCouldNotBeOpenedTriesAgainAtAWrite() throws {
        keyring.texts = ["token": "old"]
        keyring.failAll(with: PreferenceError(.unavailable, "locked"))
        let store = PreferenceStore.testing(keyring)
        let reports = Reports(of: store)
        for _ in 0..<3 { same(store["token"], nil) }
        same(keyring.calls, ["items!"])
        same(reports.codes, [.unavailable])
        #expect(throws: PreferenceError.self) { try store.write("new", for: "other") }
        keyring.failAll(with: nil)
        try store.write("new", for: "other")
        same(store["token"], .string("old"))
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
    func updateSeesWhatAnotherProgramStored() throws {
        keyring.texts = ["count": "1"]
        let count = Preference<Int>("count", default: 0, in: .testing(keyring))
        same(count.value, 1)
        keyring.texts = ["count": "5"]
        try count.update { $0 += 1 }
        same(keyring.texts, ["count": "6"])
    }

    @Test
    func failedSetOfSeveralIsRolledBack() {
        keyring.texts = ["a": "1", "b": "1"]
        let store = PreferenceStore.testing(keyring)
        same(store["a"], .string("1"))
        // `items`, `set a`, `remove b`, and `set c`, which fails.
        keyring.fail(call: 3, .before)
        #expect(throws: PreferenceError.self) {
            try store.transaction { ($0["a"], $0["b"], $0["c"]) = ("2", nil, "2") }
        }
        same(keyring.texts, ["a": "1", "b": "1"])
        same(store.contents, ["a": "1", "b": "1"])
    }

    @Test
    func outcomeIsUnknownIfSeveralCannotBeRolledBack() {
        let store = PreferenceStore.testing(keyring)
        keyring.fail(call: 3, .before)
        keyring.fail(call: 4, .before)
        let error = #expect(throws: PreferenceError.self) {
            try store.transaction { ($0["a"], $0["b"]) = ("2", "2") }
        }
        same(error?.code, .outcomeUnknown)
        same(keyring.texts, ["a": "2"])
        same(store.contents, ["a": "2"])
    }
}
