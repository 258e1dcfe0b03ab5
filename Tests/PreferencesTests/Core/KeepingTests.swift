import FileTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Preferences

/// What a property sets while its store can't be changed is shown at once, and stored as soon as it can be.
struct KeepingTests {
    /// A place in memory that stores, rejects or fails, as it is told.
    private final class Place: Backend {
        enum Answer: UInt8, AtomicRepresentable { case stores, rejects, fails }

        let answer = Atomic(Answer.stores)
        let stored = Lock<[String: PropertyListValue]>([:])
        let place = "a place of a test"
        let mayWait = false
        let saysWhenItWaits = true

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { [] }
        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            let changes = try body(.none)
            if changes.isEmpty { return }
            switch answer.load(ordering: .acquiring) {
            case .stores: stored.withLock { stored in for change in changes { stored[change.name] = change.value } }
            case .rejects:
                // One value of several: the others are stored.
                if changes.contains(where: { $0.name == "volume" }) {
                    throw PreferenceError(.tooLarge, "the value is too large; nothing was changed")
                }
                stored.withLock { stored in for change in changes { stored[change.name] = change.value } }
            case .fails: throw PreferenceError(.noSpace, "no space is left; nothing was changed")
            }
        }
    }

    private let place = Place()
    private let store: PreferenceStore
    private let volume: Preference<Int>
    private let issues = Recorder<PreferenceError.Code>()

    init() {
        store = PreferenceStore(Layer(source: Source(place)))
        volume = Preference("volume", default: 5, in: store)
        store.issueHandler = { [issues] in issues.record($0.code) }
    }

    @Test
    func setInATransactionOfTheStoreIsStoredAfterIt() throws {
        let seen = Recorder<Int>()
        let observation = volume.observe { seen.record($0.new) }
        try store.transaction { transaction in
            volume.value = 7
            same(volume.value, 7)
            same(place.stored.withLock { $0["volume"] }, nil)
            transaction["other"] = 1
        }
        same(place.stored.withLock { $0 }, ["volume": 7, "other": 1])
        same(seen.elements, [7])
        #expect(issues.elements.isEmpty)
        withExtendedLifetime(observation) {}
    }

    @Test
    func setInATransactionThatThrowsIsStored() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try store.transaction { transaction in
                transaction["other"] = 1
                volume.value = 7
                throw Failure()
            }
        }
        same(place.stored.withLock { $0 }, ["volume": 7])
    }

    @Test
    func setWinsOverTheTransactionThatItIsMadeIn() throws {
        try store.transaction { transaction in
            volume.value = 7
            transaction[volume] = 8
        }
        same(volume.value, 7)
        same(place.stored.withLock { $0["volume"] }, 7)
    }

    @Test
    func setOfAnotherThreadDoesNotWaitForABody() throws {
        let isSet = Counter()
        try store.transaction { [store, volume] transaction in
            let other = Preference("other", default: 0, in: store)
            #expect(
                Pool.startThread {
                    other.value = 3
                    isSet.next()
                }
            )
            // It has waited for a tenth of a second, and shows the value.
            while isSet.value == 0 { pauseThread(for: .microseconds(100)) }
            same(other.value, 3)
            same(place.stored.withLock { $0["other"] }, nil)
            transaction[volume] = 1
        }
        same(place.stored.withLock { $0 }, ["volume": 1, "other": 3])
    }

    @Test
    func rejectedValueIsReportedAndNotShown() {
        volume.value = 6
        place.answer.store(.rejects, ordering: .releasing)
        volume.value = 7
        same(volume.value, 6)
        same(issues.elements, [.tooLarge])
    }

    @Test
    func keptValueThatIsRejectedLaterShowsWhatIsStored() throws {
        volume.value = 6
        let seen = Recorder<Int>()
        let observation = volume.observe { seen.record($0.new) }
        try store.transaction { _ in
            volume.value = 7
            Preference("other", default: 0, in: store).value = 1
            place.answer.store(.rejects, ordering: .releasing)
        }
        same(volume.value, 6)
        same(store.contents, ["volume": 6, "other": 1])
        same(place.stored.withLock { $0 }, ["volume": 6, "other": 1])
        same(seen.elements, [7, 6])
        same(issues.elements, [.tooLarge])
        withExtendedLifetime(observation) {}
    }

    @Test
    func placeThatFailsIsReportedOnceAndGetsTheLastValueWhenItIsMended() throws {
        place.answer.store(.fails, ordering: .releasing)
        for value in 1...3 { volume.value = value }
        same(volume.value, 3)
        same(issues.elements, [.noSpace])
        #expect(throws: PreferenceError.self) { try store.flush() }
        #expect(throws: PreferenceError.self) { try volume.write(4) }
        same(volume.value, 3)
        place.answer.store(.stores, ordering: .releasing)
        try store.flush()
        same(place.stored.withLock { $0 }, ["volume": 3])
    }

    @Test
    func writeStoresWhatIsKept() throws {
        place.answer.store(.fails, ordering: .releasing)
        volume.value = 1
        place.answer.store(.stores, ordering: .releasing)
        try store.write(2, for: "other")
        same(place.stored.withLock { $0 }, ["volume": 1, "other": 2])
    }

    @Test
    func keptValuesAreStoredByThemselvesWhenThePlaceIsMended() async {
        place.answer.store(.fails, ordering: .releasing)
        volume.value = 1
        place.answer.store(.stores, ordering: .releasing)
        // After a second.
        while place.stored.withLock({ $0 }) != ["volume": 1] { await Task.yield() }
    }

    /// An observer runs when the thread has no turn any more, so it may use any form of any store.
    @Test
    func observerOfAnotherStoresSetInABodyRunsAfterIt() throws {
        struct Failure: Error {}
        let other = Preference("other", default: 0, in: .inMemory())
        let events = Recorder<String>()
        let observation = other.observe { [volume] change in
            events.record("other \(change.new), volume \(volume.value)")
            insist { try volume.update { $0 += change.new } }
        }
        try volume.update { value in
            value = 1
            other.value = 10
            events.record("body")
        }
        same(volume.value, 11)
        // Also three deep, and if the body throws.
        #expect(throws: Failure.self) {
            try volume.update { _ in
                try Preference("third", default: 0, in: .inMemory()).update { third in
                    third = 1
                    other.value = 20
                }
                throw Failure()
            }
        }
        same(volume.value, 31)
        same(events.elements, ["body", "other 10, volume 1", "other 20, volume 11"])
        withExtendedLifetime(observation) {}
    }

    /// Two stores, whose bodies change each other's.
    @Test
    func crossingBodiesEnd() async {
        let other = PreferenceStore.inMemory()
        let count = Counter()
        await onThreads(2) { [store] (thread) -> Void in
            let (first, second) = thread == 0 ? (store, other) : (other, store)
            for _ in 0..<rounds(200) {
                do {
                    try first.transaction { _ in
                        second["a"] = 1
                        count.next()
                    }
                } catch { Issue.record(error) }
            }
        }
        same(count.value, 2 * rounds(200))
        same(other["a"], 1)
    }
}
