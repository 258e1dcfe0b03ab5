import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// The locks of sources that some store shows together are one, whenever they become so.
struct ConnectedSetTests {
    /// Stores connect sources while other threads set and observe them; no change is lost, comes twice or out of order.
    @Test
    func setsThatBecomeOneLoseNoChange() async {
        for _ in 0..<rounds(40) {
            let bases = (0..<8).map { _ in PreferenceStore.inMemory() }
            let seen = Recorder<[Int]>()
            let observations = bases.enumerated().map { index, base in
                Preference("count", default: 0, in: base).observe { seen.record([index, $0.old, $0.new]) }
            }
            let last = 50
            await onThreads(4) { thread in
                for number in 1...last {
                    for index in stride(from: thread % 2, to: bases.count, by: 2) where thread < 2 {
                        bases[index]["count"] = .integer(Int64(number))
                    }
                    guard thread >= 2 else { continue }
                    let (first, second) = (bases[number % 8], bases[(number * 3 + thread) % 8])
                    let layered = PreferenceStore.layered([first.readOnly(), second])
                    _ = Preference("count", default: 0, in: layered).value
                }
            }
            for (index, base) in bases.enumerated() {
                same(base["count"], .integer(Int64(last)))
                let changes = seen.elements.filter { $0[0] == index }
                same(changes.map { $0[1] }, Array(0..<last))
                same(changes.map { $0[2] }, Array(1...last))
            }
            withExtendedLifetime(observations) {}
        }
    }

    /// What a layered store shows changes in one step with each of its layers.
    @Test
    func layeredStoreIsNeverBehind() async {
        let (upper, lower) = (PreferenceStore.inMemory(), PreferenceStore.inMemory())
        let count = Preference("count", default: 0, in: .layered([upper.readOnly(), lower]))
        let wrong = Counter()
        await onThreads(2) { thread in
            for number in 1...rounds(20_000) where thread == 0 {
                lower["count"] = .integer(Int64(number))
                if count.value != number { wrong.next() }
            }
            for _ in 1...rounds(20_000) where thread == 1 { upper["other"] = upper["other"] == nil ? 1 : nil }
        }
        same(wrong.value, 0)
    }

    /// No set, opening, observation or cancelling becomes slower with the number of stores: counted by what they leave behind.
    @Test
    func storesLeaveNothingBehind() {
        let base = PreferenceStore.inMemory()
        for index in 0..<1_000 {
            let store = PreferenceStore.layered([base.scoped(prefix: "\(index)."), base])
            let observation = Preference("count", default: 0, in: store).observe { _ in }
            store["count"] = 1
            observation.cancel()
            store["count"] = nil
        }
        let table = base.core.layers[0].source
        same(table.publishing.withLock { table.table.count }, 0)
        var entries = 0
        table.publishing.withLock { table.table.forEach { _ in entries += 1 } }
        same(entries, 0)
    }

    /// As of a view, which declares its preferences whenever it is drawn.
    @Test
    func declarationsLeaveNothingBehind() {
        final class Box: Sendable {
            let count: Counter
            init(_ count: Counter) { self.count = count }
            deinit { count.next() }
        }
        let (store, released) = (PreferenceStore.inMemory(["count": 1]), Counter())
        let coding = PreferenceCoding<Box>("boxed") { _ in
            1
        } decode: { _ in
            Box(released)
        }
        for _ in 0..<1_000 {
            _ = Preference("count", default: Box(Counter()), coding: coding, .check { _ in true }, in: store).value
        }
        #expect(released.value > 980)
    }

    /// One change reaches every store, on a small stack.
    @Test
    func changeReachesTenThousandStores() async {
        let base = PreferenceStore.inMemory()
        let stores = (0..<10_000).map { PreferenceStore.layered([base.scoped("account", id: "\($0)"), base]) }
        let count = Counter()
        let observations = stores.map { store in
            Preference("theme", default: 0, in: store).observe { _ in count.next() }
        }
        await onThread(stackSize: 512 << 10) { base["theme"] = 1 }
        same(count.value, stores.count)
        withExtendedLifetime(observations) {}
    }
}
