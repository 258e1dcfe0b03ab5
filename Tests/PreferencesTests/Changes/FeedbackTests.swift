import Observation
import TestSupport
import Testing

@testable import Preferences

/// Observers that set the preference that they observe.
struct FeedbackTests {
    @Test(arguments: [PreferenceTiming.didSet, .willSet], StoreKind.allCases)
    func preferencesThatFollowEachOtherBecomeEqual(timing: PreferenceTiming, kind: StoreKind) throws {
        try kind.withStore { store in
            store.issueHandler = { Issue.record($0) }
            let (a, b) = (Preference("a", default: 0, in: store), Preference("b", default: 0, in: store))
            let one = a.subscribe(timing: timing) { _, new, _ in b.value = new }
            let two = b.subscribe(timing: timing) { _, new, _ in a.value = new }
            // With `.willSet` the equal value isn't stored yet, so each set of it is another change: only the limit can end that.
            if timing == .willSet { store.issueHandler = { same($0.code, .feedbackLoop) } }
            a.value = 5
            #expect((a.value, b.value) == (5, 5))
            withExtendedLifetime((one, two)) {}
        }
    }

    @Test(arguments: [PreferenceTiming.didSet, .willSet], StoreKind.allCases)
    func preferencesThatOutbidEachOtherAreCut(timing: PreferenceTiming, kind: StoreKind) throws {
        try kind.withStore { store in
            let issues = store.recordIssues()
            let (a, b) = (Preference("a", default: 0, in: store), Preference("b", default: 0, in: store))
            let one = a.subscribe(timing: timing) { _, new, _ in b.value = new + 1 }
            let two = b.subscribe(timing: timing) { _, new, _ in a.value = new + 1 }
            a.value = 1
            same(issues.elements.map(\.code), [.feedbackLoop])
            #expect(issues.elements.first?.name != nil)
            withExtendedLifetime((one, two)) {}
            one.cancel()
            two.cancel()
            a.value = -1
            same(a.value, -1, "the store goes on")
            same(issues.elements.count, 1)
        }
    }

    @Test
    func observersOfTwoStoresAreCut() {
        let issues = Recorder<PreferenceError>()
        let (a, b) = (Preference("a", default: 0, in: .inMemory()), Preference("b", default: 0, in: .inMemory()))
        for store in [a.store, b.store] { store.issueHandler = { issues.record($0) } }
        let one = a.observe { b.value = $0.new + 1 }
        let two = b.observe { a.value = $0.new + 1 }
        a.value = 1
        same(issues.elements.map(\.code), [.feedbackLoop])
        withExtendedLifetime((one, two)) {}
    }

    /// Each thread delivers for one of the stores, and sets a value in the other, which the other thread delivers.
    @Test(.timeLimit(.minutes(60)))
    func observersOfTwoStoresAreCutOnTwoThreads() async {
        let issues = Recorder<PreferenceError>()
        let (a, b) = (Preference("a", default: 0, in: .inMemory()), Preference("b", default: 0, in: .inMemory()))
        for store in [a.store, b.store] { store.issueHandler = { issues.record($0) } }
        let one = a.observe { b.value = $0.new + 1 }
        let two = b.observe { a.value = $0.new + 1 }
        await onThreads(2) { thread in
            if thread == 0 { a.value = 1 } else { b.value = -1_000_000 }
        }
        // A thread that has delivered enough batches of the other hands the rest over to a thread of the store.
        await waitUntil { !issues.elements.isEmpty }
        #expect(issues.elements.allSatisfy { $0.code == .feedbackLoop })
        withExtendedLifetime((one, two)) {}
    }

    @Test
    func manyAnswersToOneChangeAreNoLoop() {
        let (a, b) = (Preference("a", default: 0, in: .inMemory()), Preference("b", default: 0, in: .inMemory()))
        for store in [a.store, b.store] { store.issueHandler = { Issue.record($0) } }
        let observation = a.observe { change in
            for answer in 1...5_000 where change.new == 1 { b.value = answer }
            if change.new < 900 { a.value = change.new + 1 }
        }
        a.value = 1
        #expect((a.value, b.value) == (900, 5_000))
        withExtendedLifetime(observation) {}
    }

    /// All threads start each round together: an observer must never wait for its own delivery.
    @Test(.timeLimit(.minutes(60)), arguments: [PreferenceTiming.didSet, .willSet], StoreKind.allCases)
    func observersMayDoAnythingOnManyThreads(timing: PreferenceTiming, kind: StoreKind) async throws {
        try await kind.withStore { store in
            store.issueHandler = { Issue.record($0) }
            let (count, other) = (
                Preference("count", default: 0, in: store), Preference("other", default: 0, in: store)
            )
            let observation = count.subscribe(timing: timing) { _, new, _ in
                let inner = other.observe { _ in _ = count.value }
                insist { try store.transaction { $0[other] += 1 } }
                insist { try other.update { $0 += 1 } }
                inner.cancel()
                other.reset()
            }
            await onThreads(4) { thread in
                for value in 1...50 { count.value = thread * 100 + value }
            }
            observation.cancel()
        }
    }

    /// On the main actor, so that no signal from there continues the delivery.
    @Test
    @MainActor
    func trackingThatSetsWhatItReadsDoesNotNest() {
        let count = Preference("count", default: 0, in: .inMemory())
        @Sendable func track() {
            withObservationTracking {
                _ = count.value
            } onChange: {
                guard count.value < 20_000 else { return }
                track()
                count.value += 1
            }
        }
        track()
        count.value = 1
        same(count.value, 20_000)
    }
}
