import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// Stores whose backend didn't pass on an external change when it notified of it.
struct CatchingUpTests {
    @Test
    func externalChangeIsSeenAfterLoad() async throws {
        let backend = FaultInjectingBackend(["count": 1])
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let above = PreferenceStore.layered([.inMemory(), store])
        let count = Preference("count", default: 0, in: store)
        let seen = Recorder<Int>()
        let observation = count.observe { seen.record($0.new) }
        same(count.value, 1)
        backend.failNext(.refresh)
        backend.changeOutside(["count": 2])
        same(count.value, 1)
        try await above.load()
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

    @Test
    func loadOfAnOpenSlowBackendSuspends() async throws {
        let backend = GateBackend(["count": 1])
        let store = PreferenceStore(backend: backend)
        try await persist { try await store.load() }
        backend.close(.catchUp)
        async let loaded: Void = store.load()
        await backend.reached(.catchUp)
        #expect(backend.deadline(of: .catchUp) != nil)
        backend.open(.catchUp)
        try await loaded
    }
}
