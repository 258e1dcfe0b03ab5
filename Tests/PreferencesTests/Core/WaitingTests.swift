import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Calls of stores over places that wait: a database that another program has locked, and a server that doesn't answer.
@Suite(.timeLimit(.minutes(5)))
struct WaitingTests {
    /// More than the threads that Swift's tasks share.
    private static let many = 64

    /// A place that a test keeps from going on.
    enum Place: CaseIterable { case database, server }

    private let database = Database()
    private let server = Server()

    private func store(_ place: Place, timeout: Duration = .seconds(3_600)) -> PreferenceStore {
        switch place {
        case .database: PreferenceStore(backend: LockedBackend(database, timeout: timeout))
        case .server: PreferenceStore(backend: NetworkBackend(server, timeout: timeout))
        }
    }

    private func close(_ place: Place) {
        switch place {
        case .database: #expect(database.tryLock())
        case .server: server.setSilent(true)
        }
    }

    private func open(_ place: Place) {
        switch place {
        case .database: database.unlock()
        case .server: server.setSilent(false)
        }
    }

    private func stored(_ place: Place) -> [String: PropertyListValue] {
        place == .database ? database.read().rows : server.values
    }

    @Test(arguments: Place.allCases)
    func tasksThatWaitHoldUpNoOtherTask(place: Place) async throws {
        let store = store(place)
        try await store.load()
        close(place)
        let writers = startWriters(Self.many, to: store)
        let source = store.core.layers[0].source
        // One waits for the place, the others for that one.
        await eventually { source.tasks.waitingCount == Self.many - 1 }
        await Task { for _ in 0..<1_000 { await Task.yield() } }.value
        same(source.tasks.waitingCount, Self.many - 1, "all of them still wait")
        same(store.contents, [:], "an open store is read without waiting")
        open(place)
        for writer in writers { try await writer.value }
        same(store.contents.count, Self.many)
        same(stored(place).count, Self.many)
    }

    @Test
    func tasksThatOpenAStoreHoldUpNoOtherTask() async throws {
        server.setSilent(true)
        let store = store(.server)
        let readers = (0..<Self.many).map { _ in Task { try await store.load() } }
        await eventually { server.waiting == 1 && store.core.layers[0].source.tasks.waitingCount == Self.many - 1 }
        server.setSilent(false)
        for reader in readers { try await reader.value }
    }

    @Test(arguments: Place.allCases)
    func callThatCanNotBeMadeInItsTimeThrowsAndIsNeverMade(place: Place) async throws {
        let store = store(place, timeout: .milliseconds(50))
        try await persist { try await store.load() }
        close(place)
        let late = (0..<8).map { index in Task { try await store.write(.integer(index), for: "late") } }
        for task in late { await expectError(.busy) { try await task.value } }
        await expectError(.busy) { try await Preference("late", default: 0, in: store).update { $0 += 1 } }
        await expectError(.busy) { try await store.transaction { $0["late"] = 1 } }
        let codes = Recorder<PreferenceError.Code>()
        await onThreads(4) { thread in
            do throws(PreferenceError) { try store.write(1, for: "\(thread)") } catch { codes.record(error.code) }
        }
        same(codes.elements, Array(repeating: .busy, count: 4))
        open(place)
        try await persist { try await store.write(2, for: "last") }
        same(stored(place), ["last": 2])
        same(store.contents, ["last": 2])
    }

    @Test(arguments: Place.allCases)
    func cancelledTaskThatHasNotBegunThrowsAtOnce(place: Place) async throws {
        let store = store(place)
        try await store.load()
        close(place)
        let source = store.core.layers[0].source
        let first = Task { try await store.write(1, for: "first") }
        await eventually { source.tasks.isTaken }
        let second = Task { try await store.write(1, for: "second") }
        await eventually { source.tasks.waitingCount == 1 }
        second.cancel()
        await expectError(.unavailable) { try await second.value }
        let third = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.write(1, for: "third")
        }
        await expectError(.unavailable) { try await third.value }
        // A call that has begun runs to its end.
        first.cancel()
        open(place)
        try await first.value
        same(stored(place), ["first": 1])
    }

    @Test(arguments: Place.allCases)
    func tasksAreServedInTheirOrder(place: Place) async throws {
        let store = store(place)
        try await store.load()
        let order = Recorder<Int>()
        close(place)
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<20 {
            tasks.append(
                Task {
                    try await store.transaction { transaction in
                        transaction["last"] = .integer(Int64(index))
                        order.record(index)
                    }
                }
            )
            let source = store.core.layers[0].source
            await eventually { source.tasks.isTaken && source.tasks.waitingCount == index }
        }
        open(place)
        for task in tasks { try await task.value }
        same(order.elements, Array(0..<20))
        same(stored(place), ["last": 19])
    }

    private enum Local { @TaskLocal static var name = "none" }

    /// The task goes on with its values and priority wherever the place is called.
    @Test(arguments: Place.allCases)
    func taskLocalValuesReachTheObservers(place: Place) async throws {
        try await PreferenceStore.withIsolatedStores {
            PreferenceStore.standard["shared"] = 7
            let store = store(place)
            try await store.load()
            let seen = Recorder<String>()
            let observe: @Sendable (PreferenceChange<Int>) -> Void = { _ in
                seen.record("\(Local.name) \(String(describing: PreferenceStore.standard["shared"]))")
            }
            let observation = Preference("a", default: 0, in: store).observe(observe)
            close(place)
            let write = Local.$name.withValue("mine") { Task { try await store.write(1, for: "a") } }
            await eventually { store.core.layers[0].source.tasks.isTaken }
            open(place)
            try await write.value
            same(seen.elements, ["mine \(String(describing: PropertyListValue?.some(7)))"])
            withExtendedLifetime(observation) {}
        }
    }

    @Test(arguments: Place.allCases)
    func taskThatWaitsIsAnnouncedOnce(place: Place) async throws {
        let count = Preference("count", default: 0, in: store(place))
        try await count.store.load()
        let (early, seen) = (Recorder<Int>(), Recorder<Int>())
        let observations = [
            count.observe(at: .willSet) { early.record($0.new) }, count.observe { seen.record($0.new) },
        ]
        close(place)
        let write = Task { try await count.write(1) }
        await eventually { count.store.core.layers[0].source.tasks.isTaken }
        open(place)
        try await write.value
        for value in 2...20 { try await count.write(value) }
        same(seen.elements, Array(1...20))
        same(early.elements, Array(1...20))
        withExtendedLifetime(observations) {}
    }

    @Test @MainActor
    func bodiesRunOnTheCallersActor() async throws {
        let count = Preference("count", default: 0, in: store(.server))
        var calls = 0
        try await count.update { value in
            MainActor.assertIsolated()
            calls += 1
            value += 1
        }
        let result = try await count.store.transaction { transaction in
            MainActor.assertIsolated()
            calls += 1
            transaction[count] += 1
            return calls
        }
        same(result, 2)
        same(count.value, 2)
    }

    /// If nothing has to wait, no thread is switched.
    @Test(arguments: StoreKind.allCases + [nil]) @MainActor
    func observersOfStoresThatNeedNotWaitAreCalledOnTheTasksThread(kind: StoreKind?) async throws {
        func check(_ store: PreferenceStore) async throws {
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
        if let kind { return try await kind.withStore(check) }
        let remote = PreferenceStore(backend: NetworkBackend(server), name: "remote", isReadOnly: true)
        let store = PreferenceStore.layered([remote, .inMemory()])
        try await store.load()
        try await check(store)
    }

    struct Failure: Error {}

    @Test(arguments: Place.allCases)
    func errorsOfBodiesAndRulesPassThrough(place: Place) async throws {
        let store = store(place)
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        await #expect(throws: Failure.self) { try await volume.update { _ in throw Failure() } }
        await #expect(throws: Failure.self) { try await store.transaction { _ in throw Failure() } }
        await expectError(.invalid) { try await volume.write(11) }
        await expectError(.invalid) { try await volume.update { $0 = 11 } }
        #expect(stored(place).isEmpty)
    }

    @Test
    func racingUpdatesOfTasksAndThreadsAreAllCounted() async throws {
        let stores = (0..<2).map { _ in store(.server) }
        let counts = stores.map { Preference("count", default: 0, in: $0) }
        let each = rounds(2_000) / 8
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                let count = counts[task % 2]
                group.addTask {
                    for _ in 0..<each {
                        if task < 2 {
                            try await count.update { $0 += 1 }
                        } else {
                            try await count.store.transaction { $0[count] += 1 }
                        }
                    }
                }
            }
            group.addTask {
                await onThreads(2) { thread in for _ in 0..<each { insist { try counts[thread].update { $0 += 1 } } } }
            }
            try await group.waitForAll()
        }
        for store in stores { try await store.load() }
        same(counts.map(\.value), [8 * each, 8 * each])
    }

    // MARK: Deadlines

    /// A backend that notes the deadlines of its calls.
    private final class Clock: PreferenceBackend {
        let place = "a clock"
        let timeout = Duration.seconds(1_000)
        let deadlines = Recorder<String>()

        private func note(_ deadline: PreferenceDeadline) {
            deadlines.record("\(deadline)")
            // The clock has ticks of some milliseconds; a deadline that began after this would be another one.
            pauseThread(for: .milliseconds(10))
        }

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
            note(deadline)
            return [StoredChange("volume", 3)]
        }

        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
            note(deadline)
            return .none
        }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            note(deadline)
            _ = try body(.none)
        }
    }

    private typealias Call = @Sendable (PreferenceStore, Preference<Int>) async throws -> Void

    /// Calls that use the backend of a store more than once, at least to open it.
    private static let calls: [String: Call] = [
        "load": { store, _ in try store.load() },
        "load, async": { store, _ in try await store.load() },
        "write": { _, volume in try volume.write(7) },
        "write, async": { _, volume in try await volume.write(7) },
        "value": { _, volume in volume.value = 7 },
        "reset": { _, volume in volume.reset() },
        "update": { _, volume in try volume.update { $0 += 1 } },
        "update, async": { _, volume in try await volume.update { $0 += 1 } },
        "transaction": { store, volume in try store.transaction { $0[volume] += 1 } },
        "transaction, async": { store, volume in try await store.transaction { $0[volume] += 1 } },
        "removeAll": { store, _ in store.removeAll() },
        "migrate": { store, _ in try store.migrate(to: 2, steps: steps) },
        "migrate, async": { store, _ in try await store.migrate(to: 2, steps: steps) },
        "migrate a preference": { _, volume in volume.migrate(from: "former") },
        "migrate from the store": { _, volume in
            Preference("volume", default: 5, in: .inMemory()).migrate(from: volume)
        },
    ]

    private static let steps: [PreferenceMigration] = [
        .init(1) { $0["moved"] = $0["volume"] }, .init(2) { $0["moved"] = nil },
    ]

    @Test(arguments: [false, true])
    func callHasOneDeadlineHoweverOftenItUsesTheBackend(isLayered: Bool) async throws {
        for (name, call) in Self.calls {
            let clock = Clock()
            let place = PreferenceStore(backend: clock)
            let store = isLayered ? PreferenceStore.layered([.inMemory().readOnly(), place]) : place
            try await call(store, Preference("volume", default: 5, in: store))
            let deadlines = Set(clock.deadlines.elements)
            #expect(deadlines.count == 1 && !deadlines.contains { $0.contains("-") }, "\(name): \(deadlines)")
        }
    }

    /// A read is no call that can throw.
    @Test
    func readThatWaitsTooLongGivesTheDefaultAndTheValueIsAChange() async throws {
        _ = try server.store([StoredChange("count", 5)], ifRevisionIs: 0, within: .seconds(1))
        server.setSilent(true)
        let count = Preference("count", default: 0, in: store(.server, timeout: .milliseconds(50)))
        let (issues, seen) = (count.store.recordIssues(), Recorder<Int>())
        #expect(count.value == 0 && count.value == 0)
        same(issues.elements.map(\.code), [.busy])
        let observation = count.observe { seen.record($0.new) }
        server.setSilent(false)
        try await persist { try await count.store.load() }
        await eventually { seen.elements == [5] }
        same(count.value, 5)
        withExtendedLifetime(observation) {}
    }

    /// Two stores, whose bodies each write to the other one.
    @Test
    func crossingBodiesEnd() async {
        let databases = [Database(), Database()]
        let stores = databases.map { PreferenceStore(backend: LockedBackend($0, timeout: .milliseconds(200))) }
        for store in stores { insist { try store.load() } }
        let (inside, codes) = (Counter(), Recorder<PreferenceError.Code?>())
        await onThreads(2) { thread in
            insist {
                try stores[thread].transaction { transaction in
                    transaction["own"] = 1
                    inside.next()
                    while inside.value < 2 { pauseThread(for: .microseconds(50)) }
                    do throws(PreferenceError) {
                        try stores[1 - thread].write(1, for: "other")
                        codes.record(nil)
                    } catch { codes.record(error.code) }
                }
            }
        }
        #expect(codes.elements.contains(.busy) && codes.elements.count == 2)
        for database in databases { same(database["own"], 1) }
    }

    @Test
    func bodyThatRunsLongIsReported() throws {
        for place in Place.allCases {
            let store = store(place)
            let issues = store.recordIssues()
            try store.transaction { $0["a"] = 1 }
            #expect(issues.elements.isEmpty)
            store.core.layers[0].source.longBody = 0
            try store.transaction { _ in #expect(issues.elements.isEmpty) }
            same(issues.elements.map(\.code), [.misuse])
        }
    }

    // MARK: Sets

    /// Another program has the database in a body while this one sets.
    @Test
    func setReturnsWhileAnotherProgramHasThePlace() async throws {
        let (first, second) = (store(.database), store(.database))
        try await second.load()
        let issues = second.recordIssues()
        let volume = Preference("volume", default: 5, in: second)
        let isSet = Condition(false)
        try first.update("count") { count in
            #expect(
                Pool.startThread {
                    volume.value = 7
                    volume.value = 8
                    isSet.signal { $0 = true }
                }
            )
            isSet.wait { $0 ? .done(()) : .until(nil) }
            #expect(volume.value == 8 && database["volume"] == nil)
            count = 1
        }
        await eventually { database["volume"] == 8 }
        same(database["count"], 1)
        #expect(issues.elements.isEmpty)
    }

    /// A server that needs longer than a set waits, also to open the store.
    @Test(arguments: [false, true])
    func setOfASlowPlaceIsStoredLater(isOpen: Bool) async throws {
        let store = store(.server)
        let issues = store.recordIssues()
        if isOpen { try await store.load() }
        server.setSlowness(.seconds(1))
        let volume = Preference("volume", default: 5, in: store)
        for value in 1...3 { volume.value = value }
        same(volume.value, 3)
        await eventually { server.values == ["volume": 3] }
        try await store.flush()
        #expect(issues.elements.isEmpty)
    }

    /// The store is released before the place can store.
    @Test(arguments: Place.allCases)
    func setOfAStoreThatIsGoneIsStored(place: Place) async throws {
        do {
            let store = store(place)
            try await store.load()
            close(place)
            store["volume"] = 7
        }
        open(place)
        await eventually { stored(place) == ["volume": 7] }
    }

    /// Others' changes show while a set waits for the place, but not over it.
    @Test
    func keptValueIsNewerThanExternalChanges() async throws {
        let store = store(.database)
        let above = PreferenceStore.layered([.inMemory().readOnly(), store])
        try await store.load()
        close(.database)
        store["volume"] = 7
        database.store([StoredChange("volume", 9), StoredChange("other", 1)])
        await eventually { store["other"] == 1 }
        #expect(store["volume"] == 7 && above["volume"] == 7)
        open(.database)
        await eventually { database["volume"] == 7 }
        try await store.load()
        same(store.contents, ["volume": 7, "other": 1])
    }
}

extension PreferenceStore {
    fileprivate func update(_ name: String, _ body: (inout Int) -> Void) throws {
        try Preference(name, default: 0, in: self).update(body)
    }
}
