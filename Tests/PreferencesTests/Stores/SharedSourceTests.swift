import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Several stores that show one source, alone or among other layers.
struct SharedSourceTests {
    private let user = PreferenceStore.inMemory()
    private let other = PreferenceStore.inMemory()

    /// The user's layer alone, over another, below a read-only one, and below a writable one.
    private var stores: [PreferenceStore] {
        [user, .layered([user, other]), .layered([.arguments([]), user]), .layered([.inMemory(["z": 1]), user])]
    }

    @Test
    func setIsVisibleAndNotifiedInEveryStoreAtOnce() {
        let counts = stores.dropLast().map { Preference("count", default: 0, in: $0) }
        let seen = Recorder<[Int]>()
        let observations = counts.enumerated().map { index, count in
            count.observe { change in seen.record([index, change.old, change.new] + counts.map(\.value)) }
        }
        for (index, count) in counts.enumerated() {
            count.value = index + 1
            same(counts.map(\.value), [index + 1, index + 1, index + 1])
        }
        for step in 0..<3 {
            let told = seen.elements[(step * 3)..<(step * 3 + 3)]
            same(Set(told.map { $0[0] }), [0, 1, 2])
            same(
                told.map { Array($0[1...]) },
                Array(repeating: [step] + Array(repeating: step + 1, count: 4), count: 3)
            )
        }
        same(seen.elements.count, 9)
        withExtendedLifetime(observations) {}
    }

    @Test
    func setIsAnnouncedInEveryStoreBeforeItIsReadable() {
        let counts = stores.dropLast().map { Preference("count", default: 0, in: $0) }
        let seen = Recorder<[Int]>()
        let observations = counts.map { count in
            count.subscribe(timing: .willSet) { _, new, _ in seen.record([new, count.value]) }
        }
        counts[0].value = 1
        same(seen.elements, [[1, 0], [1, 0], [1, 0]])
        withExtendedLifetime(observations) {}
    }

    /// Two names that are always set together are never read as of different moments, in any store.
    @Test
    func noStoreShowsHalfOfATransaction() async {
        let stores = [user, .layered([user, other]), .layered([other, user])]
        let torn = Counter()
        await onThreads(4) { thread in
            for round in 1...rounds(20_000) {
                if thread < 2 {
                    let value = PropertyListValue.integer(Int64(round * 2 + thread))
                    do {
                        try stores[round % 2].transaction {
                            $0["a"] = value
                            $0["b"] = value
                        }
                    } catch { Issue.record(error) }
                } else {
                    let contents = stores[round % 3].contents
                    if contents["a"] != contents["b"] { torn.next() }
                }
            }
        }
        same(torn.value, 0)
    }

    /// A thread that reads the layers of a store while their sources change must not wait for these in another order.
    @Test
    func transactionsThatReadAllRaceWithTheLayersBelow() async {
        let store = PreferenceStore.layered([user, other])
        let ended = Counter()
        await onThreads(3) { thread in
            guard thread > 0 else {
                // Until the other threads have ended: a fixed number of sets would be over before they begin.
                var round: Int64 = 0
                repeat {
                    round += 1
                    other["below"] = .integer(round)
                } while ended.value < 2
                return
            }
            for _ in 1...rounds(10_000) {
                do { try store.transaction { $0["count"] = .integer(Int64($0.names.count)) } } catch {
                    same((error as? PreferenceError)?.code, .conflict)
                }
            }
            ended.next()
        }
        same(store.names.count, 2)
    }

    /// A thread that has seen a value in one store sees that or a newer one in all other stores.
    @Test
    func valueSeenInOneStoreIsSeenInTheOthers() async {
        let counts = stores.map { Preference("count", default: 0, in: $0) }
        let stale = Counter()
        let last = rounds(50_000)
        await onThreads(3) { thread in
            guard thread > 0 else {
                for value in 1...last { counts[value % 3].store["count"] = .integer(Int64(value)) }
                return
            }
            var newest = 0
            var round = thread
            while newest < last {
                let value = counts[round % counts.count].value
                if value < newest { stale.next() }
                newest = max(newest, value)
                round += 1
            }
        }
        same(stale.value, 0)
    }

    @Test
    func layersInOppositeOrderNeverWaitForEachOther() async throws {
        let (left, right) = (PreferenceStore.inMemory(), PreferenceStore.inMemory())
        let stores = [left, right, PreferenceStore.layered([left, right]), .layered([right, left])]
        let counts = stores.map { Preference("count", default: 0, in: $0) }
        let seen = counts.map { _ in Recorder<PreferenceChange<Int>>() }
        let observations = zip(counts, seen).map { count, seen in count.observe { seen.record($0) } }
        await onThreads(4) { thread in
            for value in 1...rounds(10_000) {
                counts[thread].value = value * 4 + thread
                if value % 3 == 0 { counts[(thread + value) % 4].reset() }
                do { try counts[thread].update { $0 += 4 } } catch {
                    // Other threads may be faster each time; the test only requires that no thread waits forever.
                    same((error as? PreferenceError)?.code, .conflict)
                }
            }
        }
        for (index, count) in counts.enumerated() {
            // A thread of the library may still deliver.
            await waitUntil { seen[index].elements.last?.new == count.value }
            let changes = seen[index].elements
            #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old }, "chained")
        }
        same(counts[2].value, left["count"].map { _ in counts[0].value } ?? counts[1].value)
        withExtendedLifetime(observations) {}
    }

    /// Stores that observers create and release are attached and detached while the sources change.
    @Test
    func observersMayMakeAndReleaseStores() async {
        let count = Preference("count", default: 0, in: user)
        let wrong = Counter()
        let observation = count.observe { [user, other] change in
            let above = PreferenceStore.layered([.inMemory(["other": 1]), user, other])
            let preference = Preference("count", default: -1, in: above)
            let inner = preference.observe { _ in withExtendedLifetime(above) {} }
            if preference.value < change.new, change.new != 0 { wrong.next() }
            above["own"] = 1
            inner.cancel()
        }
        await onThreads(2) { thread in
            if thread == 0 { for value in 1...rounds(5_000) { count.value = value } }
            for _ in 0..<rounds(5_000) {
                let own = PreferenceStore.layered([user])
                let value = count.value
                if own["count"] == nil, value != 0 { wrong.next() }
            }
        }
        same(wrong.value, 0)
        same(user.storeCount, 1)
        withExtendedLifetime(observation) {}
    }

    /// The last reference to a store may be released inside an observer, while the store's source publishes.
    @Test
    func storeMayEndWhileItsSourceIsBeingChanged() {
        let held = Lock<PreferenceStore?>(.layered([.inMemory(), user]))
        _ = held.withLock { $0?["count"] }
        let observation = Preference("count", default: 0, in: user).observe { _ in
            let last = held.withLock { exchange(&$0, with: nil) }
            withExtendedLifetime(last) {}
        }
        user["count"] = 1
        user["count"] = 2
        same(user.storeCount, 1)
        withExtendedLifetime(observation) {}
    }

    @Test
    func scopesLeaveNothingBehindInALayerThatIsNotShared() {
        let own = PreferenceStore.inMemory()
        let layered = PreferenceStore.layered([own, .standard])
        for _ in 0..<100 {
            PreferenceStore.withIsolatedStores { _ = layered["isolation.count"] }
        }
        #expect(own.storeCount <= 2)
    }
}
