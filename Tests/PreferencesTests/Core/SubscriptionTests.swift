import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

struct SubscriptionTests {
    /// Any order of additions and removals leaves the others in their order.
    @Test
    func orderStaysWhateverIsRemoved() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<rounds(1_000) {
            var subscriptions = Subscriptions()
            var expected: [Subscription] = []
            for number in 1...40 as ClosedRange<UInt64> {
                let subscription = Subscription(.didSet, number, after: 0, []) { _ in }
                subscriptions.add(subscription)
                expected.append(subscription)
                while Bool.random(using: &generator), !expected.isEmpty {
                    subscriptions.remove(expected.remove(at: .random(in: expected.indices, using: &generator)))
                }
                same(subscriptions.all.compactMap { $0?.number }, expected.map(\.number))
                same(subscriptions.isEmpty, expected.isEmpty)
            }
            // One that isn't there.
            subscriptions.remove(Subscription(.didSet, 20, after: 0, []) { _ in })
            same(subscriptions.all.compactMap { $0?.number }, expected.map(\.number))
        }
    }

    /// Some are equal only canonically.
    @Test
    func namesAreFoundWhateverIsRemoved() {
        var generator = SeededGenerator(seed: 2)
        var table = NameTable<Named>()
        var expected: Set<String> = []
        for round in 0..<rounds(100_000) {
            let form = ["", "e\u{301}", "\u{e9}"].pick(&generator)
            let name = "\(form)\(Int.random(in: 0..<150, using: &generator))"
            if Int.random(in: 0..<3, using: &generator) == 0 {
                table.remove(name)
                expected.remove(name)
            } else {
                same(table.find(name) { Named($0) }.name, name)
                expected.insert(name)
            }
            guard round % 100 == 0 else { continue }
            var found: Set<String> = []
            table.forEach { found.insert($0.name) }
            same(found, expected)
            same(table.count, expected.count)
            for name in expected { same(table[name]?.name, name) }
        }
    }
}
