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

    /// The stores of a place that is locked, and of one that compares.
    @Test(arguments: [false, true])
    func updatesOfStoresOverOnePlaceAddUp(isLocked: Bool) async throws {
        let (database, server) = (Database(), Server())
        let stores = (0..<2).map { _ in
            PreferenceStore(backend: isLocked ? LockedBackend(database) : NetworkBackend(server))
        }
        await onThreads(4) { thread in
            let count = Preference("count", default: 0, in: stores[thread % 2])
            for _ in 0..<500 { insist { try count.update { $0 += 1 } } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                let count = Preference("count", default: 0, in: stores[task % 2])
                group.addTask { for _ in 0..<100 { try await count.update { $0 += 1 } } }
            }
            try await group.waitForAll()
        }
        // A write of another name also reads the values that the other store wrote last.
        for (index, store) in stores.enumerated() { try await store.write(1, for: "end \(index)") }
        same(stores.map { $0["count"] }, [2_400, 2_400])
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

    /// A task's body runs again when another one sets `b` after its first run, if it has read that.
    @Test(arguments: StoreKind.allCases)
    func onlyWhatWasReadIsCompared(kind: StoreKind) async throws {
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
            try await same(runs { _ = $0.names }, 2)
            try await same(runs { _ = $0.contents }, 2)
        }
    }

    /// No other change comes between, so the body of a thread runs once; a set of another thread is stored after it.
    @Test(arguments: StoreKind.allCases)
    func bodyOfAThreadRunsOnce(kind: StoreKind) throws {
        try kind.withStore { store in
            var runs = 0
            try store.transaction { transaction in
                runs += 1
                transaction["a"] = transaction["b"] ?? 7
                store["b"] = 1
            }
            #expect(runs == 1 && store.contents == ["a": 7, "b": 1])
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
}
