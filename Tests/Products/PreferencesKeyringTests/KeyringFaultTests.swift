import Foundation
import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// Calls of a keyring that fail or don't return.
struct KeyringFaultTests {
    private let keyring = MemoryKeyring()

    private static let sets: [[String: PropertyListValue?]] = [
        ["a": "1"], ["a": "2", "b": "1"], ["a": nil], ["a": "3", "b": nil, "c": "1"], ["c": "2"], ["b": "2", "c": nil],
    ]

    /// Each call fails in turn, before or after it took effect.
    @Test(arguments: [MemoryKeyring.Fault.before, .after])
    func failedCallLosesNothing(fault: MemoryKeyring.Fault) async throws {
        for number in 0..<24 {
            let keyring = MemoryKeyring()
            let store = PreferenceStore.testing(keyring)
            try await store.load()
            keyring.fail(call: number, fault)
            for changes in Self.sets {
                let before = keyring.texts
                do {
                    try await store.transaction { transaction in
                        for (name, value) in changes { transaction[name] = value }
                    }
                    let expected = before.mapValues { .string($0) }.merging(changes) { $1 }.compactMapValues(\.self)
                    same(store.contents, expected, "call \(number)")
                } catch PreferenceError.outcomeUnknown {
                    same(fault, .after)
                } catch {
                    same(keyring.texts, before, "call \(number): \(error)")
                }
                // After an unknown outcome, the next read calls the keyring.
                same(store.contents, keyring.texts.mapValues { .string($0) }, "call \(number)")
            }
        }
    }

    /// Short, as tests wait for it; on a busy machine, a call without a fault may exceed it, too.
    private static let limits = KeyringLimits(call: .milliseconds(100))

    @Test
    func callThatHangsEndsAtItsDeadlineLikeThoseBehindIt() async throws {
        keyring.texts = ["token": "1"]
        let store = PreferenceStore.testing(keyring, limits: Self.limits)
        await eventually { (try? store.write("1", for: "token")) != nil }
        keyring.forgetCalls()
        keyring.hold()
        for _ in 0..<3 {
            let error = #expect(throws: PreferenceError.self) { try store.write("2", for: "token") }
            same(error?.code, .unavailable)
        }
        // One thread hangs, and the rejected changes aren't made later.
        #expect(keyring.calls.count <= 1)
        keyring.goOn()
        await eventually { (try? store.write("3", for: "other")) != nil }
        same(keyring.texts, ["token": "1", "other": "3"])
    }

    @Test
    func hangingCallHoldsUpNoOtherStore() throws {
        let store = PreferenceStore.testing(keyring)
        let other = MemoryKeyring()
        let outcome = Condition<PreferenceError.Code?>(nil)
        keyring.hold()
        let isStarted = Pool.startThread {
            do throws(PreferenceError) {
                try store.write("1", for: "token")
                outcome.signal { $0 = .misuse }
            } catch {
                outcome.signal { $0 = error.code }
            }
        }
        #expect(isStarted)
        keyring.waitForCall()
        try PreferenceStore.testing(other).write("1", for: "token")
        same(other.texts, ["token": "1"])
        same(outcome.withLock { $0 }, nil)
        keyring.goOn()
        same(outcome.wait { $0.map { .done($0) } ?? .until(nil) }, .misuse)
    }

    /// Waits until another thread makes a condition true.
    private func eventually(_ isTrue: () -> Bool) async {
        while !isTrue() { await Task.yield() }
    }
}
