import FileTestSupport
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// What a source does by itself: it looks for external changes, syncs after changes, and reports.
@Suite(.timeLimit(.minutes(5)))
struct LookingTests {
    /// A place that counts its syncs, and can hold them; each change reports an issue.
    private final class Place: PreferenceBackend {
        struct State {
            var host: PreferenceBackendHost?
            var (isHolding, held) = (false, 0)
            /// The number of changes, and of those that a sync has seen when it began.
            var (changes, synced) = (0, 0)
            var issue: PreferenceError?
        }

        let place = "a place of a test"
        let saysWhenItWaits = true
        let state = Condition(State())

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
            state.withLock { $0.host = host }
            return []
        }

        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            _ = try body(.none)
            let (host, issue) = state.withLock { state in
                state.changes += 1
                return (state.host, state.issue)
            }
            if let issue { host?.report(issue) }
        }

        func sync(until deadline: PreferenceDeadline) {
            let changes = state.withLock { $0.changes }
            state.withLock { $0.held += 1 }
            state.wait { $0.isHolding ? .until(nil) : .done(()) }
            state.withLock { state in
                state.held -= 1
                state.synced = max(state.synced, changes)
            }
        }
    }

    private let place = Place()
    private let store: PreferenceStore

    init() { store = PreferenceStore(backend: place) }

    @Test
    func changeDuringASyncGetsOneOfItsOwn() async {
        place.state.withLock { $0.isHolding = true }
        store["a"] = 1
        await eventually { place.state.withLock { $0.held == 1 } }
        store["a"] = 2
        place.state.signal { $0.isHolding = false }
        await eventually { place.state.withLock { $0.synced == 2 } }
    }

    @Test
    func changeOfAStoreThatIsGoneIsSynced() async {
        let place = Place()
        PreferenceStore(backend: place)["a"] = 1
        await eventually { place.state.withLock { $0.synced == 1 } }
    }

    @Test
    func storeThatWasNeverUsedHasNothingToFlush() throws {
        place.state.withLock { $0.isHolding = true }
        try store.flush()
    }

    /// Its handler may change the store.
    @Test
    func issueOfABackendIsReportedAfterTheTurn() {
        place.state.withLock { $0.issue = PreferenceError(.damaged, "a part can't be read") }
        let codes = Recorder<PreferenceError.Code?>()
        store.issueHandler = { [store, place] error in
            place.state.withLock { $0.issue = nil }
            do throws(PreferenceError) {
                try store.write(1, for: "b")
                codes.record(nil)
            } catch { codes.record(error.code) }
        }
        store["a"] = 1
        same(codes.elements, [nil])
        store.issueHandler = nil
    }

    @Test
    func changeWhoseLookFailsIsSeenLater() async {
        let backend = FaultInjectingBackend(["count": 1])
        let store = PreferenceStore(backend: backend)
        let issues = store.recordIssues()
        let count = Preference("count", default: 0, in: store)
        same(count.value, 1)
        backend.failNext(.refresh)
        backend.changeOutside(["count": 2])
        same(issues.elements.map(\.code), [.unavailable])
        await eventually { count.value == 2 }
    }

    @Test
    func externalChangeIsSeenAfterLoad() async throws {
        let backend = FaultInjectingBackend(["count": 1])
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let count = Preference("count", default: 0, in: store)
        let seen = Recorder<Int>()
        let observation = count.observe { seen.record($0.new) }
        same(count.value, 1)
        backend.failNext(.refresh)
        backend.changeOutside(["count": 2])
        try await PreferenceStore.layered([.inMemory(), store]).load()
        same(count.value, 2)
        same(seen.elements, [2])
        withExtendedLifetime(observation) {}
    }

    @Test
    func loadOpensAStoreThatCouldNotBeRead() async throws {
        let backend = FaultInjectingBackend(["count": 1])
        backend.failNext(.load, count: 2)
        let store = PreferenceStore(backend: backend)
        let issues = store.recordIssues()
        let count = Preference("count", default: 0, in: store)
        same(count.value, 0)
        await #expect(throws: PreferenceError.self) { try await store.load() }
        same(count.value, 0)
        try await store.load()
        same(count.value, 1)
        same(issues.elements.count, 1)
    }

    /// All layers are opened, and the first error is thrown.
    @Test(arguments: [false, true])
    func loadOpensEveryLayerAndThrowsWhatKeepsOneFromBeingRead(isBlocking: Bool) async throws {
        let (upper, lower) = (FaultInjectingBackend(["a": 1]), FaultInjectingBackend(["a": 2, "b": 2]))
        upper.failNext(.load, with: PreferenceError(.notPermitted, "not yet"))
        let store = PreferenceStore.layered([
            PreferenceStore(backend: upper, name: "upper", isReadOnly: true), PreferenceStore(backend: lower),
        ])
        store.issueHandler = { _ in }
        func load() async throws { if isBlocking { try loadNow() } else { try await store.load() } }
        func loadNow() throws { try store.load() }
        await expectError(.notPermitted) { try await load() }
        #expect(store.core.layers[1].source.isOpen)
        same(store["a"], 2, "reads don't open what could not be opened")
        try await load()
        same(store["a"], 1)
        same(Preference("a", default: 0, in: store).source.name, "upper")
    }
}
