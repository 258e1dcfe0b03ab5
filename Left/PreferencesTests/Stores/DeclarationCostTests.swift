import TestSupport
import Testing

@testable import Preferences

struct DeclarationCostTests {
    /// A view declares its preferences like this each time it is rendered.
    @Test(arguments: [true, false])
    func repeatedDeclarationsKeepNothing(isValidated: Bool) throws {
        let store = PreferenceStore.inMemory()
        for _ in 0..<1_000 {
            let count =
                isValidated
                ? Preference("count", default: 5, .range(0...9), in: store) : Preference("count", default: 5, in: store)
            same(count.value, 5)
        }
        let state = store.core.state.withLock { $0 }
        let nodes = try #require(Mirror(reflecting: state).descendant("nodes") as? NodeTable)
        let slots = try #require(Mirror(reflecting: nodes["count"] ?? PreferenceNode()).descendant("slots"))
        #expect((1..<20).contains(Mirror(reflecting: slots).children.count))
    }

    @Test
    func layeredStoresThatWereReleasedAreRemoved() {
        let layer = PreferenceStore.inMemory(["count": 1])
        for _ in 0..<1_000 {
            same(PreferenceStore.layered([.inMemory(), layer])["count"], 1)
        }
        #expect(layer.core.layers.layers[0].source.cores.isEmpty)
    }
}

/// The removal of unused names.
struct UnusedNameTests {
    private let store = PreferenceStore.inMemory()

    private var names: Set<String> { store.core.names(in: store.core.layers.layers[0].source) }

    /// A program may generate a name for each document.
    @Test
    func unusedNamesAreRemoved() {
        for number in 0..<10_000 {
            let count = Preference("document \(number)", default: 0, in: store)
            count.value = number
            if number % 2 == 0 {
                same(count.value, number)
                count.value = 1
                count.reset()
            }
        }
        #expect(names.count <= 128)
        same(store.names.count, 5_000)
    }

    @Test
    func usedAndObservedNamesAreKept() {
        let used = Preference("used", default: 0, in: store)
        let observation = Preference("observed", default: 0, in: store).observe { _ in }
        for number in 0..<1_000 { _ = Preference("\(number)", default: 0, in: store) }
        #expect(names.isSuperset(of: ["used", "observed"]) && names.count <= 128)
        used.value = 1
        same(used.value, 1)
        withExtendedLifetime(observation) {}
    }
}
