import DurableFile
import Testing

@testable import Preferences

struct DeclarationCostTests {
    /// As a view does that declares its preferences each time it is rendered.
    @Test(arguments: [true, false])
    func repeatedDeclarationsKeepNothing(isValidated: Bool) throws {
        let store = PreferenceStore.inMemory()
        for _ in 0..<1_000 {
            let count =
                isValidated
                ? Preference("count", default: 5, in: store, range: 0...9) : Preference("count", default: 5, in: store)
            #expect(count.value == 5)
        }
        let state = store.core.state.withLock { $0 }
        let nodes = try #require(Mirror(reflecting: state).descendant("nodes") as? [String: PreferenceNode])
        let slots = try #require(Mirror(reflecting: nodes["count", default: PreferenceNode()]).descendant("slots"))
        #expect((1..<20).contains(Mirror(reflecting: slots).children.count))
    }

    @Test
    func layeredStoresThatAreGoneAreForgotten() {
        let layer = PreferenceStore.inMemory(["count": 1])
        for _ in 0..<1_000 {
            #expect(PreferenceStore.layered([.inMemory(), layer])["count"] == 1)
        }
        #expect(layer.core.layers.layers[0].source.cores.isEmpty)
    }
}
