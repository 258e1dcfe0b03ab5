import FileTestSupport
import Observation
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

@testable import Preferences

/// The first use of a store, also if it fails or if several threads use it at once.
struct LoadingTests {
    @Test
    func valuesOfAStoreThatOpensLaterAreReadAndNotified() throws {
        let backend = FaultInjectingBackend(["count": 5])
        backend.failNext(.load)
        let store = PreferenceStore(backend: backend)
        let issues = store.recordIssues()
        let above = PreferenceStore.layered([store, .inMemory()])
        let count = Preference("count", default: 0, in: store)
        let countAbove = count.bound(to: above)
        let seen = Recorder<Int>()
        let observations = [count, countAbove].map { $0.observe { seen.record($0.new) } }
        same(count.value, 0)
        same(countAbove.value, 0)
        same(issues.elements.map(\.code), [.unavailable])
        let tracked = Recorder<Int>()
        withObservationTracking {
            _ = countAbove.value
        } onChange: {
            tracked.record(count.value)
        }

        store["other"] = 1
        same(count.value, 5)
        same(countAbove.value, 5)
        same(seen.elements, [5, 5])
        same(tracked.elements, [5])
        same(issues.elements.count, 1)
        withExtendedLifetime(observations) {}
    }

    /// Else each load would cause the next one.
    @Test
    func loadThatNotifiesItsStoreAndFailsIsNotRepeated() {
        final class Place: PreferenceBackend {
            let place = "a place of a test"
            let loads = Counter()

            func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
                loads.next()
                host.report(PreferenceError(.damaged, "a part"))
                host.changed()
                throw PreferenceError(.unavailable, "the rest")
            }
            func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }
            func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            }
        }
        let place = Place()
        let store = PreferenceStore(backend: place)
        let issues = store.recordIssues()
        same(store["a"], nil)
        same(store.core.layers[0].source.isLookQueued.load(ordering: .acquiring), false)
        same(place.loads.value, 1)
        same(Set(issues.elements.map(\.code)), [.damaged, .unavailable])
    }

    /// No thread may see a store that another thread has loaded only in part.
    @Test(arguments: [1, 3])
    func threadsThatUseAStoreFirstAllSeeItsValues(layers: Int) async {
        for _ in 0..<rounds(300) {
            let contents: [String: PropertyListValue] = Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", 7) })
            let lowest = PreferenceStore.inMemory(contents)
            let store = layers == 1 ? lowest : .layered((1..<layers).map { _ in .inMemory() } + [lowest])
            let wrong = Counter()
            await onThreads(8) { thread in
                let count = Preference("\(thread % 2)", default: 0, in: store)
                if count.value != 7 || count.value != 7 || store["\(thread)"] != 7 { wrong.next() }
            }
            same(wrong.value, 0)
        }
    }

    @Test
    func externalChangeIsNotLostDuringOtherCalls() async {
        let backend = FaultInjectingBackend()
        let store = PreferenceStore(backend: backend)
        let count = Preference("count", default: 0, in: store)
        store["count"] = 0
        let isDone = Lock(false)
        let missed = Counter()
        await onThreads(2) { thread in
            guard thread == 0 else {
                while !isDone.withLock({ $0 }) { _ = count.source }
                return
            }
            for value in 1...rounds(50_000) {
                backend.changeOutside(["count": .integer(Int64(value))])
                if count.value != value { missed.next() }
            }
            isDone.withLock { $0 = true }
        }
        same(missed.value, 0)
    }
}
