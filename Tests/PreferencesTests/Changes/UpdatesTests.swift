import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// The asynchronous sequences.
struct UpdatesTests {
    let store = PreferenceStore.inMemory()
    private let count: Preference<Int>
    private let name: Preference<String>

    init() {
        count = Preference("count", default: 0, in: store)
        name = Preference("name", default: "Pitt", in: store)
    }

    @Test
    func everyIteratorIsOnItsOwnAndLosesNothing() async {
        var first = count.updates.makeAsyncIterator()
        for value in 1...1_000 { count.value = value }
        var second = count.updates(includingCurrent: false).makeAsyncIterator()
        count.value = -1
        for value in 0...1_000 { await same(first.next(), value) }
        await same(first.next(), -1)
        await same(second.next(), -1)
    }

    @Test(arguments: [(PreferenceBuffering.newest(1), 1), (.newest(3), 3), (.newest(0), 1)])
    func onlyTheNewestWait(buffering: PreferenceBuffering, count kept: Int) async {
        var updates = count.updates(buffering: buffering).makeAsyncIterator()
        for value in 1...10 { count.value = value }
        for value in (11 - kept)...10 { await same(updates.next(), value) }
        count.value = 11
        await same(updates.next(), 11)
    }

    @Test(.timeLimit(.minutes(60)))
    func cancellationEndsTheLoop() async {
        for isEarly in [true, false] {
            let seen = Counter()
            let consumer = Task {
                for await _ in count.updates { seen.next() }
                return "ended"
            }
            if !isEarly { await waitUntil { seen.value == 1 } }
            consumer.cancel()
            await same(consumer.value, "ended")
            same(store.subscriptionCount(of: "count"), 0)
        }
    }

    @Test
    func releaseOfTheIteratorEndsTheSubscription() async {
        var updates: PreferenceUpdates<Int>.Iterator? = count.updates.makeAsyncIterator()
        let both: PreferenceUpdates<(Int, String)>.Iterator? = PreferenceStore.updates(of: count, name)
            .makeAsyncIterator()
        await same(updates?.next(), 0)
        same(store.subscriptionCount(of: "count"), 2)
        updates = nil
        same(store.subscriptionCount(of: "count"), 1)
        withExtendedLifetime(both) {}
    }

    @Test
    @MainActor
    func loopOnTheMainActorStaysThere() async {
        count.value = 0
        let writer = Task.detached { for value in 1...200 { count.value = value } }
        for await value in count.updates {
            MainActor.preconditionIsolated()
            if value == 200 { break }
        }
        await writer.value
    }

    @Test
    func loopOnAnActorStaysThere() async {
        actor Consumer {
            var last = 0
            func consume(_ updates: PreferenceUpdates<Int>) async {
                for await value in updates {
                    preconditionIsolated()
                    last = value
                    if value == 200 { break }
                }
            }
        }
        let consumer = Consumer()
        let writer = Task.detached { for value in 1...200 { count.value = value } }
        await consumer.consume(count.updates)
        await writer.value
        await same(consumer.last, 200)
    }

    @Test
    func severalAreSeenTogether() async throws {
        let flag = Preference("flag", default: false, in: .inMemory())
        var two = PreferenceStore.updates(of: count, name).makeAsyncIterator()
        var three = PreferenceStore.updates(of: count, name, flag).makeAsyncIterator()
        try await store.transaction { transaction in
            transaction[count] = 1
            transaction[name] = "François"
            transaction["unrelated"] = 1
        }
        flag.value = true
        store["unrelated"] = 2
        count.reset()
        for expected in [(0, "Pitt"), (1, "François"), (0, "François")] {
            await same(two.next().map { $0 == expected }, true)
        }
        for expected in [(0, "Pitt", false), (1, "François", false), (1, "François", true), (0, "François", true)] {
            await same(three.next().map { $0 == expected }, true)
        }
    }

    @Test
    func storeNotifiesOfEachChangeOnce() async throws {
        var changes = store.changes.makeAsyncIterator()
        count.value = 1
        count.value = 1
        try await store.transaction { transaction in
            transaction[count] = 2
            transaction[name] = "François"
        }
        store.removeAll()
        let seen = [await changes.next(), await changes.next(), await changes.next()].compactMap(\.self)
        same(seen.map(\.names), [["count"], ["count", "name"], ["count", "name"]])
        same(seen.map(\.old), [[:], ["count": 1], ["count": 2, "name": "François"]])
        same(seen.map(\.new), [["count": 1], ["count": 2, "name": "François"], [:]])
        #expect(seen.allSatisfy { $0.origin == .local })
    }

    /// The consumer leaves many values waiting; reading one must not access all of them.
    @Test
    func longQueueIsReadInTime() async {
        var updates = count.updates.makeAsyncIterator()
        let last = rounds(100_000)
        for value in 1...last { count.value = value }
        for value in 0...last where await updates.next() != value { Issue.record("not \(value)") }
    }

    @Test
    func externalChangeNotifiesOnlyOfChangedNames() async throws {
        let backend = FaultInjectingBackend(["a": 1, "b": 1])
        let store = PreferenceStore(backend: backend)
        var changes = store.changes.makeAsyncIterator()
        backend.changeOutside(["a": 1])
        backend.changeOutside(["a": 2, "b": nil])
        let change = try #require(await changes.next())
        #expect(change.names == ["a", "b"] && change.new == ["a": 2] && change.origin == .external)
    }
}
