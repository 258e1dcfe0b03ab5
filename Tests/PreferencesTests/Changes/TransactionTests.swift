import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Updates and transactions: atomic across threads and processes, all or nothing.
struct TransactionTests {
    private struct Failure: Error {}

    @Test(arguments: StoreKind.allCases)
    func updatesOfManyThreadsAddUp(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (count, other) = (
                Preference("count", default: 0, in: store), Preference("other", default: 0, in: store)
            )
            await onThreads(4) { thread in
                for _ in 0..<rounds(2_500) {
                    insist { thread < 2 ? try count.update { $0 += 1 } : try store.transaction { $0[count] += 1 } }
                    other.value = thread
                }
            }
            same(count.value, 4 * rounds(2_500))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatCantBeStoredChangesNothing(kind: StoreKind) throws {
        try kind.withStore { store in
            let volume = Preference("volume", default: 5, .range(0...9), in: store)
            let foreign = Preference("count", default: 0, in: .inMemory())
            store["unreadable"] = "text"
            let unreadable = Preference("unreadable", default: 0, in: store)
            let before = store.contents
            let all = store.subscribe { _ in Issue.record("nothing changes") }
            same(refusal(in: store) { $0[volume] = 10 }, .invalid)
            same(refusal(in: store) { $0[foreign] = 1 }, .wrongStore)
            same(refusal(in: store) { _ = $0[foreign] }, .wrongStore)
            same(refusal(in: store) { $0.reset(foreign) }, .wrongStore)
            same(refusal(in: store) { $0[unreadable] += 1 }, .unreadable)
            same(refusal(in: store) { $0[""] = 1 }, .invalidName)
            #expect(store.contents == before && foreign.value == 0)
            all.cancel()
            try store.transaction { $0[unreadable] = 1 }
            same(unreadable.value, 1, "only written")
        }
    }

    @Test
    func bodyThatThrowsChangesNothing() {
        let count = Preference("count", default: 0, in: .inMemory())
        #expect(throws: Failure.self) { try count.store.transaction { try Self.setAndThrow(&$0[count]) } }
        #expect(throws: Failure.self) { try count.update(Self.setAndThrow) }
        #expect(!count.isSet)
    }

    private static func setAndThrow(_ value: inout Int) throws {
        value = 7
        throw Failure()
    }

    /// The reason why a transaction that also sets `count` is rejected.
    private func refusal(
        in store: PreferenceStore,
        _ body: (inout PreferenceTransaction) -> Void
    ) -> PreferenceError.Code? {
        do {
            try store.transaction { transaction in
                transaction["count"] = 7
                body(&transaction)
            }
            return nil
        } catch {
            return (error as? PreferenceError)?.code
        }
    }

    @Test
    func transactionReadsItsOwnWrites() throws {
        let store = PreferenceStore.inMemory(["a": 1])
        let (a, b) = (Preference("a", default: 0, in: store), Preference("b", default: 9, in: store))
        let result = try store.transaction { transaction in
            transaction[a] += 1
            transaction[b] = transaction[a]
            transaction.reset(a)
            return (transaction[a], transaction[b], transaction.names)
        }
        #expect(result.0 == 0 && result.1 == 2 && result.2 == ["b"])
        same(store.contents, ["b": 2])
    }

    /// A task's body runs again if another program changes what it has read.
    @Test(arguments: StoreKind.allCases)
    func onlyWhatATasksBodyHasReadIsCompared(kind: StoreKind) async throws {
        try await kind.withStore { store in
            func runs(_ body: (inout PreferenceTransaction) -> Void) async throws -> Int {
                store["b"] = nil
                var runs = 0
                try await store.transaction { transaction in
                    body(&transaction)
                    transaction["a"] = .integer(.random(in: 0 ... .max))
                    runs += 1
                    if runs == 1 { store["b"] = 1 }
                }
                return runs
            }
            try await same(runs { _ in }, 1)
            try await same(runs { $0["b"] = 2 }, 1, "only written")
            try await same(runs { _ = $0["c"] }, 1)
            try await same(runs { _ = $0["b"] }, 2, "an absent name that was read")
            try await same(
                runs {
                    $0["b"] = 3
                    _ = $0["b"]
                },
                1,
                "its own write was read"
            )
            try await same(runs { _ = $0.names }, 2)
            try await same(runs { _ = $0.contents }, 2)
        }
    }
}
