import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// What the n-th store, scope, observer and external change cost doesn't grow with n: the processor time of the last quarter of many against that
/// of the first.
@Suite(.serialized)
struct ScaleTests {
    /// Runs `body` many times; expects that the last quarter isn't slower than the first by more than a busy machine's caches explain.
    private func expectConstant(_ what: String, _ count: Int, _ body: (Int) -> Void) {
        var times: [Duration] = []
        for quarter in 0..<4 {
            let start = ThreadUsage.time
            for index in 0..<count / 4 { body(quarter * count / 4 + index) }
            times.append(ThreadUsage.time - start)
        }
        #expect(times[3] < times[0] * 4 + .milliseconds(5), "\(what): \(times)")
    }

    @Test
    func nothingGrowsWithTheNumberOfStores() {
        let base = PreferenceStore(backend: TableBackend(TableBackend.Table()))
        var (stores, names): ([PreferenceStore], [Preference<Int>]) = ([], [])
        var observations: [PreferenceObservation] = []
        let seen = Counter()
        expectConstant("connect a source and release it", 8_000) { _ in
            same(PreferenceStore.layered([.inMemory(), base])["x"], nil)
        }
        expectConstant("open a store over a backend", 2_000) { _ in
            stores.append(PreferenceStore(backend: TableBackend(TableBackend.Table())))
            stores[stores.count - 1]["x"] = 1
        }
        stores = []
        expectConstant("open a layered scope", 8_000) { index in
            let store = PreferenceStore.layered([base.scoped("account", id: "\(index)"), base])
            stores.append(store)
            names.append(Preference("general", default: 0, in: store))
            same(names[index].value, 0)
        }
        expectConstant("observe", 8_000) { index in observations.append(names[index].observe { _ in seen.next() }) }
        base["general"] = 1
        same(seen.value, 8_000)
        expectConstant("observe a whole store", 8_000) { index in
            observations.append(base.scoped("account", id: "\(index)").subscribe { _ in })
        }
        expectConstant("set", 8_000) { index in base["other"] = .integer(Int64(index)) }
        expectConstant("cancel", 16_000) { _ in observations.removeLast().cancel() }
        expectConstant("release a layered scope", 8_000) { _ in
            names.removeLast()
            stores.removeLast()
        }
    }
}
