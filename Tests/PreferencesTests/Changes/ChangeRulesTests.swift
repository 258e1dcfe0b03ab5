import Observation
import TestSupport
import Testing

@testable import Preferences

/// The rules of change delivery, each on every kind of store.
@Suite
struct ChangeRulesTests {
    /// Rule 1: when a local set returns, its value is visible and its observers have been called.
    @Test(arguments: StoreKind.allCases)
    func rule1SetIsVisibleAndObservedWhenItReturns(kind: StoreKind) throws {
        try kind.withStore { store in
            let count = Preference("count", default: 0, in: store)
            let seen = Recorder<Int>()
            let observation = count.observe { [count] change in
                same(count.value, change.new)
                seen.record(change.new)
            }
            for value in 1...100 {
                count.value = value
                same(count.value, value)
                same(seen.elements.last, value)
            }
            observation.cancel()
        }
    }

    /// Rule 1: a set made inside an observer is delivered next, after the observers of the first have been called.
    @Test(arguments: StoreKind.allCases)
    func rule1SetInsideAnObserverIsDeliveredNext(kind: StoreKind) throws {
        try kind.withStore { store in
            let (first, second) = (Preference("a", default: 0, in: store), Preference("b", default: 0, in: store))
            let seen = Recorder<String>()
            let one = first.observe { [second] change in
                seen.record("first observer: a = \(change.new)")
                second.value = change.new
                seen.record("b is \(second.value)")
            }
            let two = first.observe { seen.record("second observer: a = \($0.new)") }
            let three = second.observe { seen.record("b = \($0.new)") }
            first.value = 7
            same(seen.elements, ["first observer: a = 7", "b is 7", "second observer: a = 7", "b = 7"])
            withExtendedLifetime((one, two, three)) {}
        }
    }

    /// Rule 2: observers see one preference's changes in the store's order, chained, ending with the store's value.
    @Test(arguments: StoreKind.allCases)
    func rule2ChangesAreChainedAndEndWithTheValue(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = Preference("count", default: 0, in: store)
            let seen = Recorder<(old: Int, new: Int)>()
            let observation = count.observe { seen.record(($0.old, $0.new)) }
            await withTaskGroup(of: Void.self) { group in
                for thread in 1...4 {
                    group.addTask { for value in 0..<200 { count.value = thread * 1000 + value } }
                }
            }
            await waitUntil { seen.elements.last?.new == count.value }
            var last = 0
            for change in seen.elements {
                same(change.old, last)
                last = change.new
            }
            same(last, count.value)
            observation.cancel()
        }
    }

    /// Rule 3: setting an equal value notifies no observer.
    @Test(arguments: StoreKind.allCases)
    func rule3EqualValueNotifiesNobody(kind: StoreKind) throws {
        try kind.withStore { store in
            let name = Preference("name", default: "Pitt", in: store)
            name.value = "François"
            let seen = Recorder<String>()
            let observation = name.observe { seen.record($0.new) }
            let everything = store.subscribe { _ in seen.record("store") }
            name.value = "François"
            store["name"] = .string("François")
            store["other"] = nil
            try store.transaction { $0[name] = "François" }
            #expect(seen.elements.isEmpty)
            withExtendedLifetime((observation, everything)) {}
        }
    }

    /// Rule 4: no lock is held while an observer runs: it may read, write, observe, cancel, reset and run transactions.
    @Test(arguments: StoreKind.allCases)
    func rule4ObserverMayDoAnything(kind: StoreKind) throws {
        try kind.withStore { store in
            let (count, other) = (
                Preference("count", default: 0, in: store), Preference("other", default: 0, in: store)
            )
            let seen = Recorder<Int>()
            let inner = Recorder<PreferenceObservation>()
            let own = Recorder<PreferenceObservation>()
            let observation = count.observe { [count, other] change in
                seen.record(change.new)
                inner.record(other.observe { seen.record(100 + $0.new) })
                other.value += 1
                do {
                    try store.transaction { transaction in transaction[other] += 1 }
                    try other.update { $0 += 1 }
                } catch {
                    Issue.record(error)
                }
                other.reset()
                own.elements.first?.cancel()
                _ = count.value
            }
            own.record(observation)
            count.value = 1
            count.value = 2
            same(seen.elements, [1, 101, 102, 103, 100], "nothing after the observer cancelled itself")
        }
    }

    /// Rule 4: after cancel returns, no call begins.
    @Test(arguments: StoreKind.allCases)
    func rule4NoCallBeginsAfterCancel(kind: StoreKind) throws {
        try kind.withStore { store in
            let count = Preference("count", default: 0, in: store)
            let seen = Recorder<Int>()
            let second = Recorder<PreferenceObservation>()
            let first = count.observe { _ in second.elements.first?.cancel() }
            second.record(count.observe { seen.record($0.new) })
            count.value = 1
            #expect(seen.elements.isEmpty, "cancelled by an observer that was called before")
            var third: PreferenceObservation? = count.observe { seen.record($0.new) }
            withExtendedLifetime(third) {}
            third = nil
            count.value = 2
            #expect(seen.elements.isEmpty, "release cancels")
            first.cancel()
        }
    }

    /// Rule 5: a transaction is one notification, and no observer sees only part of it.
    @Test(arguments: StoreKind.allCases)
    func rule5TransactionIsOneNotification(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, second) = (Preference("a", default: 0, in: store), Preference("b", default: 0, in: store))
            let seen = Recorder<(Int, Int)>()
            let batches = Recorder<Set<String>>()
            let observation = first.observe { [first, second] _ in seen.record((first.value, second.value)) }
            let everything = store.subscribe { batches.record(Set($0.entries.map(\.name))) }
            var both = PreferenceStore.updates(of: first, second).makeAsyncIterator()
            for value in 1...50 {
                try await store.transaction { transaction in
                    transaction[first] = value
                    transaction[second] = -value
                }
            }
            same(seen.elements.map(\.0), Array(1...50))
            #expect(seen.elements.allSatisfy { $0.0 == -$0.1 })
            same(batches.elements, Array(repeating: ["a", "b"], count: 50))
            for value in 0...50 { await same(both.next().map { $0 == (value, -value) }, true) }
            withExtendedLifetime((observation, everything)) {}
        }
    }

    /// Rule 6: a subscription gets the current value and then every change after it, without gap or repetition.
    @Test(arguments: StoreKind.allCases)
    func rule6SubscriptionHasNoGapAndNoRepeat(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = Preference("count", default: 0, in: store)
            let writer = Task.detached { for value in 1...2_000 { count.value = value } }
            for _ in 0..<20 {
                var last: Int?
                for await value in count.updates {
                    if let last { same(value, last + 1) }
                    last = value
                    if value == 2_000 || value % 50 == 49 { break }
                }
            }
            await writer.value
            var end = count.updates.makeAsyncIterator()
            await same(end.next(), 2_000)
        }
    }

    /// Rule 7: `.willSet` is called before the new value is readable, on the setting thread.
    @Test(arguments: StoreKind.allCases)
    func rule7WillSetComesBeforeTheValueIsReadable(kind: StoreKind) throws {
        try kind.withStore { store in
            let name = Preference("name", default: "Pitt", in: store)
            let seen = Recorder<String>()
            let will = name.subscribe(timing: .willSet) { _, new, _ in
                seen.record("will: \(new), property: \(name.value)")
            }
            let did = name.subscribe { _, new, _ in
                seen.record("did: \(new), property: \(name.value)")
            }
            name.value = "François"
            name.value = "François"
            name.reset()
            same(
                seen.elements,
                [
                    "will: François, property: Pitt", "did: François, property: François",
                    "will: Pitt, property: François", "did: Pitt, property: Pitt",
                ]
            )
            withExtendedLifetime((will, did)) {}
        }
    }

    /// Rule 8: Observation is notified after the new value can be read, also of a change made on another thread.
    @Test(.timeLimit(.minutes(60)), arguments: StoreKind.allCases)
    func rule8ObservationIsToldWhenTheValueIsReadable(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = Preference("count", default: 0, in: store)
            let other = Preference("other", default: 0, in: store)
            let seen = Recorder<Int>()
            // Notified once each time it is armed; a signal may come twice, so it is armed again each time, as in a view.
            @Sendable func track() {
                withObservationTracking {
                    _ = count.value
                } onChange: {
                    seen.record(count.value)
                    track()
                }
            }
            track()
            other.value = 1
            #expect(seen.elements.isEmpty, "only what was read is tracked")
            for round in 1...50 {
                await Task.detached { count.value = round }.value
                // The main actor may be repeating the signal of the previous round now, and then sends this one, too.
                await waitUntil { seen.elements.last == round }
            }
            // A single check, as the main actor may still repeat the last signal.
            let elements = seen.elements
            same(elements, elements.sorted(), "never an old value after a new one")
        }
    }
}

/// Waits, yielding to other tasks, until a condition that must become true does.
func waitUntil(_ condition: () -> Bool) async {
    while !condition() {
        await Task.yield()
        // Leaves the processor to the thread that must act.
        pauseThread(for: .microseconds(100))
    }
}
