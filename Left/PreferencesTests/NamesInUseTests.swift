import FileTestSupport
import Observation
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct NamesInUseTests {
    private let backend = UnlistedBackend(["a": 1, "b": 2, "others": 3])

    @Test
    func staleNamesAreQueriedAgain() async {
        let backend = UnlistedBackend(["count": 1])
        let store = PreferenceStore(backend: backend)
        let count = Preference("count", default: 0, in: store)
        let seen = Recorder<Int>()
        let observation = count.observe { seen.record($0.new) }
        same(count.value, 1)
        backend.changeSilently("count", to: 2)
        same(count.value, 2)
        backend.changeSilently("count", to: nil)
        same(count.value, 0)
        // On another thread, because a reader may hold a lock.
        await eventually { seen.elements == [2, 0] }
        withExtendedLifetime(observation) {}
    }

    @Test
    func onlyDeclaredAndSetNamesAreListed() {
        let store = PreferenceStore(backend: backend)
        let a = Preference("a", default: 0, in: store)
        store["new"] = 4
        same(store.contents, ["a": 1, "new": 4])
        same(a.value, 1)
        same(store["others"], 3)
        same(store.names, ["a", "new", "others"])
    }

    @Test
    func declaringQueriesNothing() {
        let store = PreferenceStore(backend: backend)
        let a = Preference("a", default: 0, in: store)
        same(backend.queried, [])
        same(a.value + a.value, 2)
        same(backend.queried, ["a"])
    }

    @Test
    func eachNameIsQueriedOnce() throws {
        let store = PreferenceStore(backend: backend)
        let layered = PreferenceStore.layered([.inMemory(), store])
        for _ in 1...3 {
            for store in [store, layered] {
                let (a, new) = (Preference("a", default: 0, in: store), Preference("new", default: 0, in: store))
                a.observe { _ in }.cancel()
                #expect(a.value == 1 && new.value == 0)
                same(store.contents["a"], 1)
                try store.transaction { same($0["others"], 3) }
            }
            backend.change("new", to: nil)
        }
        same(backend.queried.sorted(), ["a", "new", "others"])
    }

    @Test
    func backendOverAnotherQueriesThatOne() {
        let store = PreferenceStore(backend: FaultInjectingBackend(over: backend))
        same(Preference("a", default: 0, in: store).value, 1)
        same(backend.queried, ["a"])
    }

    @Test
    func namesThatWereNotQueriedAreIgnored() {
        let store = PreferenceStore(backend: ExcessiveBackend())
        #expect(store["a"] == 1 && store.names == ["a"])
    }

    /// A removal reaches the backend even if that was never queried for the name.
    @Test
    func firstSetAfterAFailedLoadQueriesItsName() throws {
        let faulty = FaultInjectingBackend(over: backend)
        faulty.failNext(.load)
        let store = PreferenceStore(backend: faulty)
        store.issueHandler = { _ in }
        same(store["other"], nil)
        store["a"] = nil
        #expect(backend.queried.contains("a"))
        same(store["a"], nil)
    }

    @Test
    func backendThatLoadsAllValuesHasNothingMoreByDefault() {
        let store = PreferenceStore(backend: MemoryBackend(["a": 1]))
        #expect(store["a"] == 1 && store["b"] == nil && store.names == ["a"])
        same(store.core.layers.writable?.isPrepared, true, "a read of a new name doesn't wait")
    }

    @Test
    func everyWayOfUsingAPreferenceFindsItsValue() throws {
        let uses: [(Preference<Int>) throws -> Int?] = [
            { $0.value },
            { try $0.read() },
            { $0.isSet ? 1 : nil },
            { $0.storedValue == 1 ? 1 : nil },
            { $0.source == .store ? 1 : nil },
            { try $0.update { $0 } },
            { a in try a.store.transaction { $0[a] } },
            { a in try a.store.transaction { $0["a"] == 1 ? 1 : nil } },
            { a in try a.store.transaction { $0.contents["a"] == 1 ? 1 : nil } },
        ]
        for use in uses {
            let store = PreferenceStore(backend: UnlistedBackend(["a": 1]))
            try same(use(Preference("a", default: 0, in: store)), 1)
            let below = PreferenceStore(backend: UnlistedBackend(["a": 1]))
            try same(use(Preference("a", default: 0, in: .layered([below]))), 1)
        }
    }

    @Test
    func firstReadIsNoChange() {
        let store = PreferenceStore(backend: backend)
        let a = Preference("a", default: 0, in: store)
        let changes = Lock<[Int]>([])
        let observation = a.observe { change in changes.withLock { $0 += [change.old, change.new] } }
        same(a.value, 1)
        a.value = 5
        same(changes.withLock { $0 }, [1, 5])
        observation.cancel()
    }

    @Test
    func externalChangeReachesLayersAbove() {
        let layered = PreferenceStore.layered([PreferenceStore(backend: backend), .inMemory(["a": 9, "c": 9])])
        let a = Preference("a", default: 0, in: layered)
        let c = Preference("c", default: 0, in: layered)
        #expect((a.value, c.value) == (1, 9))
        backend.change("a", to: nil)
        backend.change("c", to: 7)
        #expect((a.value, c.value) == (9, 7))
    }

    @Test
    func allDeclaredNamesAreRemoved() {
        for store in [PreferenceStore(backend: backend), .layered([PreferenceStore(backend: backend)])] {
            backend.change("a", to: 1)
            let a = Preference("a", default: 0, in: store)
            store.removeAll()
            #expect(!a.isSet)
            same(backend.stored["a"], nil)
            same(backend.stored["others"], 3)
        }
    }

    @Test
    @MainActor
    func namesThatWereOnlyReadAreForgotten() async {
        let store = PreferenceStore.inMemory(["name 7": 7])
        let notified = Recorder<String>()
        for number in 0..<20_000 {
            let preference = Preference("name \(number)", default: 0, in: store)
            withObservationTracking {
                same(preference.value, number == 7 ? 7 : 0)
            } onChange: {
                notified.record("name \(number)")
            }
            if number == 10_000 {
                let kept = Preference("kept", default: 0, in: store)
                same(kept.value, 0)
            }
        }
        #expect(store.core.state.withLock { $0.nodeCount } < 10_000)
        // A view that shows a forgotten name reads it again, and hears of its next change.
        await eventually { notified.elements.contains("name 7") }
        let preference = Preference("name 7", default: 0, in: store)
        let changed = countSignals { _ = preference.value }
        preference.value = 8
        same(changed.value, 1)
    }

    @Test
    func cancelledObserversAmongManyAreTheOnesThatAreNotCalled() {
        let store = PreferenceStore.inMemory()
        let preference = Preference("volume", default: 0, in: store)
        let (seen, seenOfAll) = (Recorder<Int>(), Recorder<Int>())
        let observations = (0..<500).map { number in preference.observe { _ in seen.record(number) } }
        let ofAll = (0..<500).map { number in store.subscribe { _ in seenOfAll.record(number) } }
        var generator = SeededGenerator(seed: 7)
        let cancelled = Set((0..<500).shuffled(using: &generator).prefix(400))
        for number in cancelled.shuffled(using: &generator) {
            observations[number].cancel()
            observations[number].cancel()
            ofAll[number].cancel()
        }
        preference.value = 1
        let expected = (0..<500).filter { !cancelled.contains($0) }
        #expect(seen.elements == expected && seenOfAll.elements == expected)
    }

    @Test
    func storeThatCouldNotBeLoadedReportsItsValuesOnceItCan() {
        backend.fail(true)
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let below = Preference("a", default: 0, in: store)
        let above = Preference("b", default: 0, in: .layered([store]))
        #expect((below.value, above.value) == (0, 0))
        #expect(throws: PreferenceError.self) { try below.write(5) }
        backend.fail(false)
        #expect((below.value, above.value) == (1, 2))
    }

    @Test
    func loadThatReportsCallsAndFailsIsTriedNoMoreThanTwice() {
        let backend = FailingBackend()
        let store = PreferenceStore(backend: backend)
        let issues = Lock<[PreferenceError.Code]>([])
        store.issueHandler = { issue in issues.withLock { $0.append(issue.code) } }
        same(store["a"], nil)
        #expect((1...2).contains(backend.loads.withLock { $0 }))
        same(Set(issues.withLock { $0 }), [.damaged, .unavailable])
    }
}

/// A backend that calls its host from a load that fails.
private final class FailingBackend: PreferenceBackend {
    let loads = Lock(0)

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        loads.withLock { $0 += 1 }
        host.report(PreferenceError(.damaged, "a part"))
        host.changed()
        throw PreferenceError(.unavailable, "the rest")
    }

    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        PreferenceBackendCommit(isStored: false)
    }
}

/// A backend that returns more values than it is queried for.
private struct ExcessiveBackend: PreferenceBackend {
    let listsAllNames = false

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] { [:] }
    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        PreferenceBackendCommit(isStored: true)
    }
    func values(for names: Set<String>) -> [String: PropertyListValue] { names.isEmpty ? [:] : ["a": 1, "b": 2] }
}
