import Foundation
import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// A store over a keyring in memory.
struct KeyringBackendTests {
    private let keyring = MemoryKeyring()

    @Test
    func stringIsStoredAsItsText() throws {
        let token = Preference<String>("token", default: "", in: .testing(keyring))
        try token.write("{\"a\": 1}")
        same(keyring.texts, ["token": "{\"a\": 1}"])
        same(token.value, "{\"a\": 1}")
        token.reset()
        try token.store.flush()
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
