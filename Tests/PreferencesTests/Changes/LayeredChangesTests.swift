import FileTestSupport
import Observation
import TestSupport
import Testing

@testable import Preferences

/// The notifications of a layered store's observers.
struct LayeredChangesTests {
    private let lower = PreferenceStore.inMemory(["name": "System"])
    private let upper = PreferenceStore.inMemory()
    private let name: Preference<String>

    init() {
        name = Preference("name", default: "Default", in: .layered([upper, lower]))
    }

    /// Each type reads a name differently: one can read the stronger value, the other can't.
    @Test
    func changeBelowIsNotifiedToItsReaders() async {
        upper["name"] = 1
        let number = Preference("name", default: 0, in: name.store)
        name.store.issueHandler = { _ in }
        var names = name.updates.makeAsyncIterator()
        var numbers = number.updates.makeAsyncIterator()
        var both = PreferenceStore.updates(of: name, number).makeAsyncIterator()
        let changes = Recorder<Set<String>>()
        let all = name.store.subscribe { changes.record(PreferenceStoreChange($0).names) }
        lower["name"] = "New"
        upper["name"] = 2
        await same([names.next(), names.next()], ["System", "New"])
        await same([numbers.next(), numbers.next()], [1, 2])
        for expected in [("System", 1), ("New", 1), ("New", 2)] {
            let next = await both.next()
            #expect(next?.0 == expected.0 && next?.1 == expected.1)
        }
        same(changes.elements, [["name"]])
        withExtendedLifetime(all) {}
    }

    /// The reader finds the stronger value unreadable while another thread sets the one below.
    @Test(.timeLimit(.minutes(60)))
    func trackedReadsBelowAnUnreadableValueAreNotifiedOrCurrent() async {
        upper["name"] = 1
        name.store.issueHandler = { _ in }
        for round in 0..<rounds(2_000) {
            let isTold = Counter()
            let read = Recorder<String>()
            await onThreads(2) { [name, lower] thread in
                if thread == 0 {
                    lower["name"] = .string("\(round)")
                } else {
                    withObservationTracking {
                        read.record(name.value)
                    } onChange: {
                        isTold.next()
                    }
                }
            }
            // Off the main actor, a closure that runs during a change may be notified only with the next one.
            if read.elements != ["\(round)"], isTold.value == 0 {
                lower["name"] = .string("once more \(round)")
                // The main actor may be sending the signal of the first set now, and then sends this one, too.
                await waitUntil { isTold.value > 0 }
            }
        }
    }
}
