import Observation
import TestSupport
import Testing

@testable import Preferences

struct SignalTests {
    /// A reading might have the last reference to a store, which locks its sources when it is released; epochs end under these locks.
    @Test
    func whatComparesAChangeIsKeptUntilTheSignalIsSent() {
        let (node, declaration) = (PreferenceNode(), Recorder<Int>())
        let cell = node.cell(for: SlotKey(type: ObjectIdentifier(Int.self), coding: "native")) { PreferenceCell() }
        weak var kept: CellReading?
        do {
            let reading = CellReading(of: .integer, for: ObjectIdentifier(declaration)) { _ in true }
            kept = reading
            cell.keep(reading)
        }
        _ = node.signal.noteRead(isOfValue: true)
        var signals = PreferenceSignals()
        signals.endEpoch(of: node) {
            ValueChange(name: "number", from: 5, to: 6)
        } _: {
            ChangeEntry(name: "number", old: StoredCandidates(), new: StoredCandidates())
        }
        cell.dropReading(of: ObjectIdentifier(declaration), node.signal)
        #expect(kept != nil)
        signals.send()
        signals = PreferenceSignals()
        #expect(kept == nil)
    }

    /// A tracking closure installs its tracking only when it ends; if it misses a change before that, the next change notifies it.
    /// On the main actor, which sends no signal a second time before the test has ended.
    @Test(arguments: 1...9)
    @MainActor
    func trackingInstalledLateHearsOfTheNextChange(lag: Int) {
        let count = Preference("count", default: 0, in: .inMemory())
        let seen = Recorder<Int>()
        withObservationTracking {
            same(count.value, 0)
            for value in 1...lag { count.value = value }
        } onChange: {
            seen.record(count.value)
        }
        #expect(seen.elements.isEmpty)
        count.value = 100
        same(seen.elements, [100])
    }
}
