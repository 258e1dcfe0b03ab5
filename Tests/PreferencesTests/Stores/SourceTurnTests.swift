import TestSupport
import Testing

@testable import Preferences

/// The turn at a backend, in every order of the threads' steps.
struct SourceTurnTests {
    /// The steps of a thread; each is done under the source's lock.
    private enum Step { case claim, work, release }

    private struct Model {
        var turn = SourceTurn<Int>()
        /// The remaining steps of each thread.
        var steps: [[Step]]
        var parked: Set<Int> = []
        var holder: Int?
        /// The number of changes of the backend, and the number that were published.
        var changes = 0
        var refreshed = 0
        var callsLeft: Int
        /// The threads that may stop waiting.
        var impatient: Set<Int> = []

        /// The threads that can continue; one more than the last stands for a call of the backend on its own thread.
        var runnable: [Int] {
            steps.indices.filter { !steps[$0].isEmpty && (!parked.contains($0) || impatient.contains($0)) }
                + (callsLeft > 0 ? [steps.count] : [])
        }

        mutating func run(_ thread: Int) {
            let identity = ThreadIdentity(value: UInt(thread + 1))
            if parked.contains(thread) {
                let isWithdrawn = turn.withdraw { $0 == thread }
                #expect(isWithdrawn, "a waiting thread was not woken")
                parked.remove(thread)
                steps[thread] = []
                return
            }
            if thread == steps.count, holder != thread {
                callsLeft -= 1
                changes += 1
                if turn.requestPublishing(catchingUp: true, by: identity, in: 0) { release(thread) }
                return
            }
            switch steps[thread].first {
            case .claim:
                switch turn.claim(by: identity, in: 0, orWait: thread) {
                case .granted:
                    same(holder, nil)
                    holder = thread
                    steps[thread].removeFirst()
                case .waiting: parked.insert(thread)
                case .busy: Issue.record("it has a waiter")
                case .held: Issue.record("no thread claims twice")
                }
            case .work:
                same(holder, thread)
                steps[thread].removeFirst()
            case .release:
                same(holder, thread)
                if !release(thread) { return }
                steps[thread].removeFirst()
            case nil: break
            }
        }

        /// Takes the steps to release the turn; returns false while a step remains.
        @discardableResult
        private mutating func release(_ thread: Int) -> Bool {
            while true {
                switch turn.release() {
                case .publish(let isCatchingUp):
                    #expect(isCatchingUp)
                    refreshed = changes
                    // Each round of a thread is a separate step, so that other threads can come in between.
                    if thread < steps.count { return false }
                case .free(let waiter):
                    holder = nil
                    if let waiter { parked.remove(waiter) }
                    return true
                }
            }
        }
    }

    private func explore(_ model: Model, _ count: inout Int) {
        let runnable = model.runnable
        guard !runnable.isEmpty else {
            count += 1
            #expect(model.steps.joined().isEmpty, "no thread waits forever")
            #expect(!model.turn.isHeld(in: 0))
            same(model.refreshed, model.changes, "no call of the backend is lost")
            return
        }
        for thread in runnable {
            var next = model
            next.run(thread)
            explore(next, &count)
        }
    }

    @Test(arguments: [(2, 2, 0), (3, 1, 0), (3, 0, 0), (3, 0, 1), (3, 0, 2), (2, 2, 2)])
    func everyScheduleEndsWithTheTurnFreeAndNothingLost(threads: Int, calls: Int, impatient: Int) {
        var count = 0
        explore(
            Model(
                steps: Array(repeating: [.claim, .work, .release], count: threads),
                callsLeft: calls,
                impatient: Set((0..<threads).suffix(impatient))
            ),
            &count
        )
        #expect(count > 100)
    }

    @Test
    func waiterThatWasWokenCanNotBeWithdrawn() {
        var turn = SourceTurn<Int>()
        _ = turn.claim(by: ThreadIdentity(value: 1), in: 0, orWait: 1)
        _ = turn.claim(by: ThreadIdentity(value: 2), in: 0, orWait: 2)
        _ = turn.release()
        let isWithdrawn = turn.withdraw { $0 == 2 }
        #expect(!isWithdrawn)
    }

    @Test
    func holderThatClaimsAgainIsRejected() {
        var turn = SourceTurn<Int>()
        let thread = ThreadIdentity(value: 1)
        guard case .granted = turn.claim(by: thread, in: 0, orWait: 0),
            case .held = turn.claim(by: thread, in: 0, orWait: 0)
        else {
            Issue.record("granted, then held")
            return
        }
    }
}
