import FileTestSupport
import Observation
import TestSupport
import Testing

@testable import Preferences

extension ShownChangesTests {
    /// Returns whether Observation signals a change, each of a read after the one before. On the main actor, which sends no signal a second
    /// time before the test has ended.
    @MainActor
    private func signals<Value>(of preference: Preference<Value>, _ steps: [() -> Void]) -> [Bool] {
        let signalled = countSignals { _ = preference.value }
        return steps.map { step in
            let before = signalled.value
            step()
            guard signalled.value > before else { return false }
            withObservationTracking {
                _ = preference.value
            } onChange: {
                signalled.next()
            }
            return true
        }
    }

    @Test
    @MainActor
    func observationSignalsWhatIsShownOnly() {
        let (upper, lower) = (PreferenceStore.inMemory(), PreferenceStore.inMemory())
        let store = PreferenceStore.layered([upper, lower])
        store.issueHandler = { _ in }
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        let volumes: [(shown: Bool, () -> Void)] = [
            (false, { upper["volume"] = 5 }), (true, { upper["volume"] = 7 }), (true, { upper["volume"] = "loud" }),
            (false, { upper["volume"] = 11 }), (true, { lower["volume"] = 8 }), (false, { upper["volume"] = nil }),
            (false, { upper["volume"] = 8 }), (false, { lower["volume"] = 4 }), (true, { upper["volume"] = nil }),
            (true, { lower["volume"] = nil }), (false, { lower["volume"] = 5 }), (true, { upper["volume"] = 6 }),
        ]
        same(signals(of: volume, volumes.map(\.1)), volumes.map(\.shown))
        let word = Preference("word", default: Word(rawValue: "a"), in: store)
        let words: [(shown: Bool, () -> Void)] = [
            (false, { word.value = Word(rawValue: "A") }), (false, { word.reset() }),
            (true, { word.value = Word(rawValue: "b") }),
            (false, { word.value = Word(rawValue: "B") }), (true, { word.reset() }),
        ]
        same(signals(of: word, words.map(\.1)), words.map(\.shown))
        let blob = Preference<Blob?>("blob", in: store)
        // A change of a dictionary is signalled without decoding it.
        let blobs: [(shown: Bool, () -> Void)] = [
            (true, { store["blob"] = ["bytes": [1]] }), (true, { store["blob"] = ["bytes": [1], "unknown": 2] }),
            (true, { store["blob"] = "broken" }), (false, { store["blob"] = nil }), (false, { store["blob"] = [:] }),
            (true, { store["blob"] = ["bytes": [2]] }), (true, { blob.reset() }),
        ]
        same(signals(of: blob, blobs.map(\.1)), blobs.map(\.shown))
    }
}
