import Preferences
import PreferencesTesting
import TestSupport
import Testing

struct FaultInjectingBackendTests {
    private let backend = FaultInjectingBackend(["count": 1])
    private let store: PreferenceStore
    private let count: Preference<Int>

    init() {
        store = PreferenceStore(backend: backend)
        count = Preference("count", default: 0, in: store)
    }

    @Test
    func orderedNumberOfWritesFailsWithTheGivenError() throws {
        backend.failNext(.apply, count: 2, with: PreferenceError(.busy, "held"))
        for _ in 1...2 {
            let error = #expect(throws: PreferenceError.self) { try count.write(5) }
            same(error?.code, .busy)
            same(count.value, 1)
        }
        try count.write(5)
        same(count.value, 5)
    }

    @Test
    func failureIsCancelled() throws {
        backend.failNext(.apply)
        backend.failNext(.apply, count: 0)
        try count.write(5)
        same(count.value, 5)
    }

    @Test
    func failedLoadGivesDefaultsUntilAWriteLoads() throws {
        backend.failNext(.load)
        store.issueHandler = { same($0.code, .unavailable) }
        same(count.value, 0)
        Preference("other", default: 0, in: store).value = 2
        same(count.value, 1)
    }

    @Test
    func failedFlushThrows() async {
        // A store that was never used has nothing to flush.
        count.value = 2
        backend.failNext(.sync, count: .max)
        await #expect(throws: PreferenceError.self) { try await store.flush() }
        store.issueHandler = { _ in }
    }

    @Test
    func externalChangeIsReadAndNotifiedWhenTheCallReturns() async {
        var updates = count.updates.makeAsyncIterator()
        var changes = store.changes.makeAsyncIterator()
        backend.changeOutside(["count": 2, "other": "new"])
        same(count.value, 2)
        same(store["other"], "new")
        await same(updates.next(), 1)
        await same(updates.next(), 2)
        await same(changes.next()?.origin, .external)
        backend.changeOutside(["count": nil])
        #expect(!count.isSet)
    }

    @Test
    func outsideChangeBeforeTheFirstReadIsLoaded() {
        backend.changeOutside(["count": 2])
        same(count.value, 2)
    }

    @Test
    func externalChangeInABodyIsSeenAfterIt() async throws {
        func changeInABody() throws {
            try store.transaction { transaction in
                transaction[count] += 1
                backend.changeOutside(["count": 10, "other": 3])
            }
        }
        try changeInABody()
        while store.contents != ["count": 10, "other": 3] { await Task.yield() }
    }

    @Test
    func externalChangeDuringAFailedWriteIsNotifiedLater() {
        _ = count.value
        backend.failNext(.refresh)
        backend.failNext(.apply)
        store.issueHandler = { _ in }
        backend.changeOutside(["count": 2])
        same(count.value, 1, "the store could not look")
        #expect(throws: PreferenceError.self) { try count.write(5) }
        #expect(throws: Never.self) { try store.load() }
        same(count.value, 2)
    }

    @Test
    func unreadableValueGivesTheDefaultForEveryType() throws {
        backend.makeUnreadable("count")
        store.issueHandler = { same($0.code, .unreadable) }
        same(count.value, 0)
        #expect(count.isSet)
        #expect(throws: PreferenceError.self) { try count.read() }
        #expect(throws: PreferenceError.self) { try Preference("count", default: "", in: store).read() }
        #expect(throws: PreferenceError.self) { try Preference<[Int]>("count", default: [], in: store).read() }
        #expect(throws: PreferenceError.self) { try Preference("count", default: Options(), in: store).read() }
    }

    private struct Options: Codable {
        var isEnabled: Bool?
    }

    @Test
    func heldFlushWaitsUntilItIsReleased() async throws {
        count.value = 3
        backend.holdFlushes()
        let flush = Task {
            try await store.flush()
            return count.value
        }
        await backend.waitForHeldFlush()
        count.value = 2
        backend.releaseFlushes()
        try await same(flush.value, 2)
        try await store.flush()
    }

    @Test
    func heldFlushesBlockNoThreadOfTasks() async throws {
        let places = (1...4).map { _ in
            let backend = FaultInjectingBackend()
            backend.holdFlushes()
            return (backend, store: PreferenceStore(backend: backend))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (_, store) in places {
                store["a"] = 1
                // One each: a second one would wait for the first, which takes as long as the machine is busy.
                group.addTask { try await store.flush() }
            }
            for (backend, _) in places { await backend.waitForHeldFlush() }
            await Task.detached {}.value
            for (backend, _) in places { backend.releaseFlushes() }
            try await group.waitForAll()
        }
    }

    @Test
    func faultsAreMadeOverAnotherBackend() async throws {
        let place = MemoryPlace()
        let backend = FaultInjectingBackend(over: MemoryPlaceBackend(place))
        let store = PreferenceStore(backend: backend)
        let neighbour = PreferenceStore(backend: MemoryPlaceBackend(place))
        store["a"] = 1
        same(neighbour["a"], 1)
        backend.changeOutside(["a": 2])
        same(store["a"], 2)
        try await neighbour.load()
        same(neighbour["a"], 2)
        try await neighbour.write(3, for: "b")
        backend.changeOutside(["c": 4])
        // A thread might be looking for the neighbour's change.
        try await store.load()
        same(store.contents, ["a": 2, "b": 3, "c": 4])
        try await PreferenceBackendContract.verify {
            let place = MemoryPlace()
            return PreferenceBackendPlace { FaultInjectingBackend(over: MemoryPlaceBackend(place)) }
        }
    }
}
