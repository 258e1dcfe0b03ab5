import Testing

@testable import Preferences

/// What an iterator does with values and waiting consumers, by itself.
struct UpdatesStateMachineTests {
    private typealias Machine = UpdatesStateMachine<Int, String>

    private func next(_ machine: inout Machine, _ continuation: String = "consumer") -> Int? {
        guard case .element(let element) = machine.next(continuation) else { return nil }
        return element
    }

    @Test
    func elementsWaitInOrder() {
        var machine = Machine(.unbounded)
        for element in 1...3 { #expect(machine.yield(element) == nil) }
        #expect([next(&machine), next(&machine), next(&machine)] == [1, 2, 3])
    }

    @Test
    func waitingConsumerIsResumedOnce() {
        var machine = Machine(.unbounded)
        #expect(next(&machine, "first") == nil)
        #expect(machine.yield(1) == "first")
        #expect(machine.yield(2) == nil)
        #expect(next(&machine) == 2)
    }

    @Test(arguments: [(1, [5]), (2, [4, 5]), (0, [5]), (9, [1, 2, 3, 4, 5])])
    func onlyTheNewestWaitWhereThatIsWanted(count: Int, left: [Int]) {
        var machine = Machine(.newest(count))
        for element in 1...5 { #expect(machine.yield(element) == nil) }
        #expect(left.map { _ in next(&machine) } == left)
    }

    @Test
    func cancellationEndsItForGood() {
        var machine = Machine(.unbounded)
        #expect(machine.yield(1) == nil)
        #expect(machine.finish() == nil)
        #expect(machine.yield(2) == nil)
        guard case .finished = machine.next("late") else {
            Issue.record("a finished iterator gives no more")
            return
        }
    }

    @Test
    func cancellationResumesTheConsumerThatWaits() {
        var machine = Machine(.unbounded)
        #expect(next(&machine, "waiting") == nil)
        #expect(machine.finish() == "waiting")
        #expect(machine.finish() == nil)
    }
}
