import TestSupport
import Testing

@testable import Preferences

/// Stores whose backend doesn't notify of external changes.
struct CatchingUpTests {
    @Test
    func externalChangeIsSeenAfterLoad() async throws {
        let backend = OutsideBackend(["count": 1])
        let store = PreferenceStore(backend: backend)
        let above = PreferenceStore.layered([.inMemory(), store])
        let count = Preference("count", default: 0, in: store)
        let seen = Recorder<Int>()
        let observation = count.observe { seen.record($0.new) }
        same(count.value, 1)
        backend.changeOutside("count", to: 2, isTelling: false)
        same(count.value, 1)
        try await above.load()
        same(count.value, 2)
        same(seen.elements, [2])
        withExtendedLifetime(observation) {}
    }

    @Test
    func loadOpensAStoreThatCouldNotBeRead() async throws {
        let store = PreferenceStore(backend: OutsideBackend(["count": 1], failingLoads: 2))
        let issues = Recorder<PreferenceError>()
        store.issueHandler = { issues.record($0) }
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
