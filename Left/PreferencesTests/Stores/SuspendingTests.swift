import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// The `async` methods of stores over a backend with a timeout: they suspend, within one deadline.
@Suite(.timeLimit(.minutes(2)))
struct SuspendingTests {
    /// More than the threads that Swift's tasks share.
    private static let many = 64

    private func waitingCalls(of store: PreferenceStore) -> Int {
        store.core.layers.waitingSource?.state.withLock { $0.calls }.count ?? 0
    }

    @Test
    func tasksThatWaitForABackendHoldUpNoOtherTask() async throws {
        let backend = GateBackend(closed: [.apply])
        let store = PreferenceStore(backend: backend)
        let writers = startWriters(Self.many, to: store)
        await backend.reached(.apply)
        await eventually { waitingCalls(of: store) == Self.many - 1 }
        await Task { for _ in 0..<1000 { await Task.yield() } }.value
        same(waitingCalls(of: store), Self.many - 1, "all of them still wait")
        backend.open(.apply)
        for writer in writers { try await writer.value }
        same(store.contents.count, Self.many)
    }

    @Test
    func tasksThatOpenAStoreHoldUpNoOtherTask() async throws {
        let backend = GateBackend(["count": 5], closed: [.load])
        let count = Preference("count", default: 0, in: PreferenceStore(backend: backend))
        let readers = (0..<Self.many).map { _ in Task { try await count.store.load() } }
        await backend.reached(.load)
        await eventually { waitingCalls(of: count.store) == Self.many - 1 }
        backend.open(.load)
        for reader in readers { try await reader.value }
        same(count.value, 5)
    }

    /// Opens a store, and keeps a thread in a call of its backend until the gate for `refresh` is opened.
    private func occupy(_ backend: GateBackend, of store: PreferenceStore) async throws {
        try await persist { try await store.load() }
        backend.close(.catchUp)
        #expect(Pool.startThread { backend.notify() })
        await backend.reached(.catchUp)
        same(backend.deadline(of: .catchUp), nil)
    }

    @Test
    func callThatCanNotBeginInItsTimeThrowsAndIsNeverApplied() async throws {
        let backend = GateBackend(timeout: .milliseconds(100))
        let store = PreferenceStore(backend: backend)
        try await occupy(backend, of: store)
        let late = (0..<8).map { index in
            Task { try await Preference("late", default: 0, in: store).write(index) }
        }
        for task in late {
            let error = await #expect(throws: PreferenceError.self) { try await task.value }
            same(error?.code, .unavailable)
            same(error?.name, "late")
        }
        await expectError(.unavailable) { try await Preference("late", default: 0, in: store).update { $0 += 1 } }
        await expectError(.unavailable) { try await store.transaction { $0["late"] = 1 } }
        backend.open(.catchUp)
        try await persist { try await store.write(2, for: "last") }
        same(backend.applied, [["last": 2]])
        same(store.contents, ["last": 2])
    }

    /// Blocked threads wait for their turn no longer, either, and a thread that stops waiting doesn't lose the turn for the
    /// next.
    @Test
    func blockingCallWaitsForItsTurnUntilItsDeadline() async throws {
        let backend = GateBackend(timeout: .milliseconds(100))
        let store = PreferenceStore(backend: backend)
        try await occupy(backend, of: store)
        let codes = Recorder<PreferenceError.Code>()
        await onThreads(4) { thread in
            do throws(PreferenceError) { try store.write(1, for: "\(thread)") } catch { codes.record(error.code) }
        }
        same(codes.elements, Array(repeating: .unavailable, count: 4))
        backend.open(.catchUp)
        try await persist { try await store.write(2, for: "last") }
        same(backend.applied, [["last": 2]])
    }

    @Test
    func backendKnowsTheDeadlineOfTheCall() async throws {
        let backend = GateBackend(timeout: .seconds(1000))
        let store = PreferenceStore(backend: backend)
        let before = ContinuousClock.now
        try await store.write(1, for: "a")
        try await store.flush()
        let after = ContinuousClock.now
        let times = [GateBackend.Operation.load, .apply, .sync].map { backend.deadline(of: $0) }
        for time in times {
            let time = try #require(time)
            #expect(time >= before + .seconds(1000) && time <= after + .seconds(1000))
        }
        same(times[0], times[1], "opening and storing have one deadline")
        same(backend.currentDeadline, nil, "no call is waiting")
        write(2, for: "a", in: store)
        same(backend.deadline(of: .apply).map { $0 >= after + .seconds(1000) }, true)
    }

    private func write(_ value: PropertyListValue, for name: String, in store: PreferenceStore) {
        do throws(PreferenceError) { try store.write(value, for: name) } catch { Issue.record(error) }
    }

    @Test
    func flushHasADeadlineToo() async throws {
        let backend = GateBackend(timeout: .milliseconds(100), closed: [.sync])
        let store = PreferenceStore(backend: backend)
        try await persist { try await store.write(1, for: "a") }
        let first = Task { try await persist { try await store.flush() } }
        await backend.reached(.sync)
        await expectError(.notDurable) { try await store.flush() }
        try await persist { try await store.write(2, for: "a") }  // sets don't wait for a flush
        backend.open(.sync)
        try await first.value
    }

    // MARK: Cancelling

    @Test
    func cancelledTaskThatHasNotBegunThrowsAtOnce() async throws {
        let backend = GateBackend()
        let store = PreferenceStore(backend: backend)
        try await store.load()
        backend.close(.apply)
        let first = Task { try await store.write(1, for: "first") }
        await backend.reached(.apply)
        let second = Task { try await store.write(1, for: "second") }
        await eventually { waitingCalls(of: store) == 1 }
        second.cancel()
        await expectError(.unavailable) { try await second.value }
        let third = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.write(1, for: "third")
        }
        await expectError(.unavailable) { try await third.value }
        // A call that has begun runs to its end.
        first.cancel()
        backend.open(.apply)
        try await first.value
        same(store.contents, ["first": 1])
    }

    // MARK: Exactness and order

    @Test
    func racingUpdatesOfTasksAndThreadsAreAllCounted() async throws {
        let store = PreferenceStore(backend: GateBackend())
        let count = Preference("count", default: 0, in: store)
        let each = rounds(10_000) / 8
        let refused = Counter()
        @Sendable func again(_ body: () async throws -> Void) async throws {
            while true {
                do { return try await body() } catch PreferenceError.conflict { refused.next() }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    for _ in 0..<each {
                        if task.isMultiple(of: 2) {
                            try await again { try await count.update { $0 += 1 } }
                        } else {
                            try await again { try await store.transaction { $0[count] += 1 } }
                        }
                    }
                }
            }
            group.addTask {
                await onThreads(2) { _ in
                    var done = 0
                    while done < each {
                        do {
                            try count.update { $0 += 1 }
                            done += 1
                        } catch PreferenceError.conflict {
                            refused.next()
                        } catch {
                            Issue.record(error)
                            return
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        same(count.value, 8 * each)
    }

    @Test
    func observersAreCalledInOrderBeforeTheWriteReturns() async throws {
        let store = PreferenceStore(backend: GateBackend())
        let count = Preference("count", default: 0, in: store)
        let (early, seen) = (Recorder<Int>(), Recorder<Int>())
        let observations = [
            count.observe(at: .willSet) { early.record($0.new) },
            count.observe { seen.record($0.new) },
        ]
        for value in 1...100 {
            try await count.write(value)
            same(seen.elements.last, value)
        }
        same(seen.elements, Array(1...100))
        same(early.elements, Array(1...100))
        withExtendedLifetime(observations) {}
    }

    /// If nothing has to wait, no thread is switched.
    @Test(arguments: StoreKind.allCases) @MainActor
    func storesWithoutATimeoutCallObserversOnTheMainActorFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = Preference("count", default: 0, in: store)
            var seen: [Int] = []
            let observation = count.observe { seen.append($0.new) }
            try await count.write(1)
            same(seen, [1])
            try await count.update { $0 += 1 }
            same(seen, [1, 2])
            try await store.transaction { $0[count] += 1 }
            same(seen, [1, 2, 3])
            withExtendedLifetime(observation) {}
        }
    }

    @Test @MainActor
    func preparedLayersWithATimeoutLeaveWritesOnTheCallersThread() async throws {
        let store = PreferenceStore.layered([
            PreferenceStore(backend: GateBackend(["other": 1]), name: "remote", isReadOnly: true), .inMemory(),
        ])
        try await store.load()
        let count = Preference("count", default: 0, in: store)
        var seen: [Int] = []
        let observation = count.observe { seen.append($0.new) }
        try await count.write(1)
        same(seen, [1])
        withExtendedLifetime(observation) {}
    }

    @Test @MainActor
    func bodiesRunOnTheCallersActor() async throws {
        let store = PreferenceStore(backend: GateBackend())
        let count = Preference("count", default: 0, in: store)
        var calls = 0
        try await count.update { value in
            MainActor.assertIsolated()
            calls += 1
            value += 1
        }
        let result = try await store.transaction { transaction in
            MainActor.assertIsolated()
            calls += 1
            transaction[count] += 1
            return calls
        }
        same(result, 2)
        same(count.value, 2)
    }

    struct Failure: Error {}

    @Test
    func errorsOfBodiesAndRulesPassThrough() async throws {
        let backend = GateBackend()
        let store = PreferenceStore(backend: backend)
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        await #expect(throws: Failure.self) { try await volume.update { _ in throw Failure() } }
        await #expect(throws: Failure.self) { try await store.transaction { _ in throw Failure() } }
        await expectError(.invalid) { try await volume.write(11) }
        await expectError(.invalid) { try await volume.update { $0 = 11 } }
        #expect(backend.applied.isEmpty)
    }

    /// Observers run on a thread of the library, and see the stores of the task's scope.
    @Test
    func observersSeeTheIsolatedStoresOfTheTask() async throws {
        try await PreferenceStore.withIsolatedStores {
            PreferenceStore.standard["shared"] = 7
            let store = PreferenceStore(backend: GateBackend())
            let seen = Recorder<PropertyListValue?>()
            let a = Preference("a", default: 0, in: store)
            let observe: @Sendable (PreferenceChange<Int>) -> Void = { _ in
                seen.record(PreferenceStore.standard["shared"])
            }
            let observation = a.observe(observe)
            try await a.write(1)
            same(seen.elements, [7])
            withExtendedLifetime(observation) {}
        }
    }

    // MARK: Loading

    @Test
    func loadOpensEveryLayerAndThrowsWhatKeepsOneFromBeingRead() async throws {
        let (upper, lower) = (GateBackend(["a": 1]), GateBackend(["a": 2, "b": 2]))
        upper.failLoads(with: PreferenceError(.unavailable, "not yet"))
        let store = PreferenceStore.layered([
            PreferenceStore(backend: upper, name: "upper", isReadOnly: true), PreferenceStore(backend: lower),
        ])
        let issues = store.recordIssues()
        await expectError(.unavailable) { try await store.load() }
        upper.forbidBlocking()
        lower.forbidBlocking()
        same(store["a"], 2, "reads don't open what could not be opened")
        #expect(issues.elements.isEmpty)
        upper.failLoads(with: nil)
        try await store.load()
        same(store["a"], 1)
        let error = #expect(throws: PreferenceError.self) { try Preference("b", default: "", in: store).read() }
        same(error?.code, .unreadable)
    }

    /// Returns a store that a thread is opening, whose backend waits at the gate for `load`.
    ///
    /// The thread may come too late for that, and one of the library take its place; then another store is tried.
    private func storeThatIsOpening(
        timeout: Duration
    ) async -> (GateBackend, PreferenceStore, opening: Task<Void, Never>) {
        while true {
            let backend = GateBackend(["count": 5], timeout: timeout, closed: [.load])
            let store = PreferenceStore(backend: backend)
            store.issueHandler = { _ in }
            let isDone = Counter()
            let opening = Task {
                await onThreads(1) { _ in _ = store["other"] }
                isDone.next()
            }
            await eventually { backend.isReached(.load) || isDone.value > 0 }
            let isLate = store.core.layers.layers[0].source.failure != nil
            if isDone.value == 0, !isLate { return (backend, store, opening) }
            backend.open(.load)
        }
    }

    /// Opening the store takes longer than a read may: the read gives the default, and observers are notified of the value.
    @Test
    func readThatWaitsTooLongGivesTheDefaultAndTheValueIsAChange() async throws {
        let (backend, store, opening) = await storeThatIsOpening(timeout: .milliseconds(100))
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        let count = Preference("count", default: 0, in: store)
        let (seen, read) = (Recorder<Int>(), Recorder<Int>())
        await onThreads(1) { _ in
            read.record(count.value)
            read.record(count.value)
        }
        let observation = count.observe { seen.record($0.new) }
        same(read.elements, [0, 0])
        same(issues.elements, [.unavailable])
        backend.open(.load)
        await opening.value
        await eventually { seen.elements.count == 1 }
        same(count.value, 5)
        same(seen.elements, [5])
        withExtendedLifetime(observation) {}
    }

    /// The thread of the library that opens the store after that read waits in vain, too.
    @Test
    func readThatWaitsTooLongIsReportedOnce() async throws {
        let (backend, store, opening) = await storeThatIsOpening(timeout: .milliseconds(1))
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        await onThreads(1) { _ in same(store["count"], nil) }
        // This call runs on that thread after it has waited.
        await expectError(.unavailable) { try await store.load() }
        same(issues.elements, [.unavailable])
        backend.open(.load)
        await opening.value
    }

    // MARK: Threads that must not be blocked

    @Test
    func blockingCallsThrowWhereTheThreadMustNotBeBlocked() async throws {
        let backend = GateBackend(["count": 5])
        backend.forbidBlocking()
        let store = PreferenceStore(backend: backend)
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        let count = Preference("count", default: 0, in: store)
        func checkBlockingCalls() {
            expectError(.misuse) { try count.write(1) }
            expectError(.misuse) { try count.update { $0 += 1 } }
            expectError(.misuse) { try store.transaction { $0[count] += 1 } }
            expectError(.misuse) { try store.transaction { $0[count] = 1 } }
            expectError(.misuse) { try store.write(1, for: "a") }
        }
        checkBlockingCalls()
        #expect(issues.elements.isEmpty)
        try await count.update { $0 += 1 }
        same(count.value, 6, "a store that is open is read on any thread")
        checkBlockingCalls()
        count.value = 1
        count.reset()
        store.removeAll()
        same(issues.elements, [.misuse, .misuse, .misuse])
        same(backend.applied, [["count": 6]])
    }

    @Test
    func readWhereTheThreadMustNotBeBlockedGivesTheDefaultAndLoadsElsewhere() async throws {
        let backend = GateBackend(["count": 5], closed: [.load])
        backend.forbidBlocking()
        let store = PreferenceStore(backend: backend)
        let issues = Recorder<PreferenceError.Code>()
        store.issueHandler = { issues.record($0.code) }
        let count = Preference("count", default: 0, in: store)
        let seen = Recorder<PreferenceChange<Int>>()
        let observation = count.observe { seen.record($0) }
        same(count.value, 0)
        same(count.value, 0)
        same(issues.elements, [.misuse])
        backend.open(.load)
        await eventually { count.value == 5 }
        await eventually { seen.elements.count == 1 }
        same(seen.elements[0].new, 5)
        same(seen.elements[0].origin, .external)
        withExtendedLifetime(observation) {}
    }
}

/// Expects that a suspending call throws an error with a code.
func expectError(
    _ code: PreferenceError.Code,
    at location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await #expect(throws: PreferenceError.self, sourceLocation: location) { try await body() }
    #expect(error?.code == code, sourceLocation: location)
}

/// Expects that a blocking call throws an error with a code.
func expectError(
    _ code: PreferenceError.Code,
    at location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    let error = #expect(throws: PreferenceError.self, sourceLocation: location) { try body() }
    #expect(error?.code == code, sourceLocation: location)
}
