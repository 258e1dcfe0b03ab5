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
}
