#if Configuration
import Configuration
import FileTestSupport
import Foundation
import Preferences
import PreferencesConfiguration
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

/// A consumer that requests the next element after each change needs no time limit: it waits until the element comes.
@Suite(.timeLimit(.minutes(5)))
struct ProviderWatchTests {
    @Test
    func watchedValueIsTheCurrentOneThenEachOther() async throws {
        let store = PreferenceStore.inMemory(["b": 1])
        try await PreferenceStoreProvider(store).watchValue(forKey: "a", type: .int) { (updates) async throws in
            var iterator = updates.makeAsyncIterator()
            try await same(iterator.value(), nil)
            store["a"] = 1
            try await same(iterator.value(), 1)
            store["b"] = 2
            store["a"] = 1
            store["a"] = 2
            store["a"] = 3
            // A slow consumer gets the newest, and none twice.
            try await same(iterator.value(), 3)
            store["a"] = 4
            store["a"] = 3
            store["a"] = "loud"
            let result = await iterator.following()
            #expect(throws: PreferenceError.self) { try result?.get() }
            store["a"] = nil
            try await same(iterator.value(), nil)
        }
    }

    @Test
    func valueThatIsBackIsNotGivenTwice() async throws {
        let store = PreferenceStore.inMemory(["a": 1])
        let reads = Counter()
        // Each read checks whether the value is secret: the second one finds 1 again, and only then is 3 set.
        let provider = PreferenceStoreProvider(
            store,
            secretsSpecifier: .dynamic { _, _ in
                if reads.next() == 2 { store["a"] = 3 }
                return false
            }
        )
        try await provider.watchValue(forKey: "a", type: .int) { (updates) async throws in
            var iterator = updates.makeAsyncIterator()
            try await same(iterator.value(), 1)
            store["a"] = 2
            store["a"] = 1
            try await same(iterator.value(), 3)
        }
        same(reads.value, 3)
    }

    @Test
    func transactionIsOneSnapshot() async throws {
        let store = PreferenceStore.inMemory()
        try await PreferenceStoreProvider(store).watchSnapshot { updates in
            var iterator = updates.makeAsyncIterator()
            func next() async throws -> [ConfigValue?] {
                let snapshot = try #require(await iterator.following())
                return try ["a", "b"].map { try snapshot.value(forKey: $0, type: .int).value }
            }
            try await same(next(), [nil, nil])
            try await store.transaction { transaction in
                transaction["a"] = 1
                transaction["b"] = 1
            }
            try await same(next(), [1, 1])
            store["a"] = 2
            try await same(next(), [2, 1])
        }
    }

    @Test
    func readersWatchTheStore() async throws {
        let store = PreferenceStore.inMemory()
        let config = ConfigReader(providers: [PreferenceStoreProvider(store), InMemoryProvider(values: ["a": 0])])
        try await config.watchInt(forKey: "a") { updates in
            var iterator = updates.makeAsyncIterator()
            await same(iterator.following(), 0)
            store["a"] = 1
            await same(iterator.following(), 1)
            store["a"] = nil
            await same(iterator.following(), 0)
        }
    }

    @Test
    func cancellationEndsAWatch() async throws {
        let store = PreferenceStore.inMemory()
        let provider = PreferenceStoreProvider(store)
        let (began, log) = AsyncStream<Void>.makeStream()
        let watch = Task {
            try await provider.watchSnapshot { updates in
                for await _ in updates { log.yield() }
            }
            try await provider.watchValue(forKey: "a", type: .int) { (updates) async throws in
                for await _ in updates {}
            }
        }
        for await _ in began { break }
        watch.cancel()
        try await watch.value
    }

    @Test
    func watchedValuesNeverGoBackWhileManySet() async throws {
        let store = PreferenceStore.inMemory(["a": 0])
        let (last, counter) = (400, Preference("a", default: 0, in: store))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<last / 4 { try counter.update { $0 += 1 } }
                }
            }
            group.addTask {
                try await PreferenceStoreProvider(store).watchValue(forKey: "a", type: .int) { (updates) async throws in
                    var former = -1
                    for await update in updates {
                        guard case .int(let value)? = try update.get().value?.content else { continue }
                        #expect(former < value)
                        former = value
                        if value == last { break }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test
    func storeThatCannotBeOpenedIsTheFirstElement() async throws {
        let backend = FaultInjectingBackend(["a": 1])
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let provider = PreferenceStoreProvider(store)
        backend.failNext(.load, count: 3)
        try await provider.watchValue(forKey: "a", type: .int) { (updates) async throws in
            var iterator = updates.makeAsyncIterator()
            let result = await iterator.following()
            expectUnavailable { try result?.get() }
            await #expect(throws: PreferenceError.self) { try await store.load() }
            await #expect(throws: PreferenceError.self) { try await store.load() }
            try await store.load()
            try await same(iterator.value(), 1)
        }
    }

    /// Of a task of the main actor, whose thread is known.
    @Test(arguments: [false, true])
    @MainActor
    func watchOpensTheStoreOnAnotherThread(ofSnapshots: Bool) async throws {
        let backend = SlowBackend()
        let provider = PreferenceStoreProvider(PreferenceStore(backend: backend))
        if ofSnapshots {
            try await provider.watchSnapshot { updates in
                for await _ in updates { break }
            }
        } else {
            try await provider.watchValue(forKey: "a", type: .int) { (updates) async throws in
                for await update in updates {
                    try same(update.get().value, 1)
                    break
                }
            }
        }
        same(backend.loads.withLock { $0 }, [false])
    }

    @Test
    func watchEndsItsObservation() async throws {
        weak var released: PreferenceStore?
        func watchOnce() async throws {
            let store = PreferenceStore.inMemory(["a": 1])
            released = store
            try await PreferenceStoreProvider(store).watchSnapshot { updates in
                for await _ in updates { break }
            }
        }
        try await watchOnce()
        #expect(released == nil)
    }
}

/// A backend like one over a network, which records whether the main thread loads it.
private final class SlowBackend: PreferenceBackend {
    let loads = Mutex<[Bool]>([])
    let place = "a test"
    let timeout = Duration.seconds(600)

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        loads.withLock { $0.append(Thread.isMainThread) }
        return [StoredChange("a", 1)]
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {}
}
#endif
