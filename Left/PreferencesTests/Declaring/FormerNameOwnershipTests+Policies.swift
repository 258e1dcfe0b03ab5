import TestSupport
import Testing

@testable import Preferences

extension FormerNameOwnershipTests {
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
