import FileTestSupport
import Observation
import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

extension FormerNameOwnershipTests {
    @Test
    func ignoredNameIsNotInTheSchema() throws {
        struct Chain: PreferenceGroup {
            @Preference("a", .formerly("b", "c")) var a = 1
            @Preference("b", .formerly("d")) var b = 2
        }
        let store = PreferenceStore.inMemory()
        store.issueHandler = { _ in }
        let schema = try Chain(in: store).jsonSchema()
        #expect(schema.contains(#""x-formerly":["c"]"#) && schema.contains(#""x-formerly":["d"]"#))
    }

    @Test
    func policyUnderTheFormerNameOfAScopeHoldsInTheRoot() throws {
        let managed = PreferenceStore(backend: MemoryBackend(["a.vol": 0]), isManaged: true)
        let root = PreferenceStore.layered([managed, .inMemory()])
        let volume = Preference("volume", default: 5, .formerly("vol"), in: root.scoped(prefix: "a."))
        same(volume.value, 0)
        let error = #expect(throws: PreferenceError.self) { try root.write(3, for: "a.volume") }
        #expect(error?.code == .managed && error?.name == "a.volume")
        try root.write(3, for: "volume")
        try root.write(3, for: "b.volume")
    }
}
