import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of the queued writes, their order, and the values that the store shows.
struct WriteQueueTests {
    private var queue = WriteQueue()

    private mutating func append(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition = .none,
        mayBeStored: Bool = false
    ) {
        let write = WriteQueue.Write(changes: changes, condition: condition, mayBeStored: mayBeStored)
        let step = queue.appending(write)
        let expected = queue.count(after: step)
        queue.apply(step)
        same(queue.count, expected)
    }

    /// Removes the first write; returns its changes and the names that no other write sets.
    private mutating func removeFirst() -> ([String: PropertyListValue?], Set<String>)? {
        guard let (number, write) = queue.first else { return nil }
        return (write.changes, queue.apply([number: nil]))
    }

    private mutating func removeAll() -> [[String: PropertyListValue?]] {
        var all: [[String: PropertyListValue?]] = []
        while let (changes, _) = removeFirst() { all.append(changes) }
        return all
    }

    private let onA = PreferenceCondition(values: ["a": 1])

    /// Numbers come from a file, which may have been edited.
    @Test
    mutating func numbersCanStartAnywhere() {
        let far = Int.max / 2
        queue.apply([far: WriteQueue.Write(changes: ["a": 1], condition: .none)])
        same(queue.first?.number, far)
        append(["b": 2])
        same(removeAll(), [["a": 1], ["b": 2]])
        queue.reserve(through: far + 10)
        append(["c": 3])
        same(queue.first?.number, far + 11)
    }

    @Test
    mutating func viewIsStoredValuesOverriddenByQueuedOnes() {
        append(["a": 8, "b": nil], if: onA)
        append(["a": 9])
        same(queue.view(of: ["a": 1, "b": 2]), ["a": 9])
        let first = removeFirst()
        same(first?.1, ["b"])
        same(queue.view(of: ["a": 1, "b": 2]), ["a": 9, "b": 2])
        let second = removeFirst()
        same(second?.1, ["a"])
        #expect(queue.count == 0 && queue.overlay.isEmpty)
    }

    @Test
    mutating func plainWriteReplacesEarlierPlainOnesOfItsNames() {
        append(["a": 1, "b": 1])
        append(["c": 1])
        append(["a": 2])
        append(["a": 3, "c": nil])
        same(queue.view(of: ["c": 0]), ["a": 3, "b": 1])
        let all = removeAll()
        same(all, [["b": 1], ["a": 3, "c": nil]])
    }

    @Test
    mutating func writeThatALaterConditionReadsIsKept() {
        append(["a": 1, "b": 1])
        append(["x": 1], if: onA)
        append(["a": 2, "b": 2])
        let all = removeAll()
        same(all, [["a": 1], ["x": 1], ["a": 2, "b": 2]])
    }

    @Test
    mutating func completeConditionKeepsAllEarlierWrites() {
        append(["a": 1])
        append(["x": 1], if: PreferenceCondition(values: [:], isComplete: true))
        append(["a": 2])
        append(["a": 3])
        let all = removeAll()
        same(all, [["a": 1], ["x": 1], ["a": 3]])
    }

    @Test
    mutating func writeThatMayBeStoredIsNotChanged() {
        append(["a": 1], mayBeStored: true)
        append(["a": 2])
        let all = removeAll()
        same(all, [["a": 1], ["a": 2]])
    }

    @Test
    mutating func removalsThatShareNoNameWithEarlierWritesAreIndependent() {
        append(["a": 1])
        append(["b": nil])
        append(["a": nil, "c": nil], if: PreferenceCondition(values: ["a": 1]))
        append(["c": nil], if: PreferenceCondition(values: ["c": 1]))
        append(["d": nil, "e": nil])
        let independent = queue.independentRemovals.map(\.write.changes)
        same(independent, [["b": nil], ["d": nil, "e": nil]])
    }

    /// Merging writes changes neither the values stored in the end, nor those shown, from the result of all writes in order.
    @Test(arguments: 0..<50)
    mutating func anyScheduleResultsInItsWritesInOrder(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var (stored, model): ([String: PropertyListValue], [String: PropertyListValue]) = ([:], [:])
        for step in 0..<200 {
            if random(4) > 0 {
                var changes: [String: PropertyListValue?] = [:]
                for _ in 0...random(2) {
                    changes.updateValue(random(4) == 0 ? nil : .integer(Int64(step)), forKey: "n\(random(4))")
                }
                let name = "n\(random(4))"
                let condition = random(3) == 0 ? PreferenceCondition(values: [name: model[name]]) : .none
                append(changes, if: condition)
                model.merge(changes.compactMapValues { $0 }) { $1 }
                for (name, value) in changes where value == nil { model[name] = nil }
            } else if let (number, write) = queue.first {
                // No other process writes, so each condition holds for the stored values.
                #expect(write.condition.holds(for: stored))
                for (name, value) in write.changes { stored[name] = value }
                queue.apply([number: nil])
            }
            same(queue.view(of: stored), model)
        }
        for changes in removeAll() { for (name, value) in changes { stored[name] = value } }
        same(stored, model)
    }
}
