import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// The output documented in the concise wrapper's manual: each instance of one name has its own timing.
struct TimingTests {
    /// A subscriber that begins between the announcement of a set and the change is notified late, but is notified.
    @Test
    func subscriptionThatBeginsWhileASetIsAnnouncedIsNotifiedOnce() {
        let store = PreferenceStore.inMemory()
        let count = Preference("count", default: 0, in: store)
        let seen = Recorder<String>()
        let late = Recorder<PreferenceObservation>()
        let first = count.subscribe(timing: .willSet) { _, new, _ in
            seen.record("first \(new) (\(count.value))")
            guard late.elements.isEmpty else { return }
            late.record(
                count.subscribe(timing: .willSet) { _, new, _ in
                    seen.record("late \(new) (\(count.value))")
                }
            )
        }
        count.value = 1
        same(seen.elements, ["first 1 (0)", "late 1 (1)"])
        count.value = 2
        same(seen.elements.dropFirst(2), ["first 2 (1)", "late 2 (1)"])
        withExtendedLifetime(first) {}
    }

    @Test
    func externalChangeIsAnnouncedJustBeforeItIsNotified() {
        let backend = FaultInjectingBackend()
        let count = Preference("count", default: 0, in: PreferenceStore(backend: backend))
        let seen = Recorder<String>()
        let observations = [PreferenceTiming.didSet, .willSet].map { timing in
            count.subscribe(timing: timing) { _, new, origin in
                seen.record("\(timing) \(new) \(origin)")
            }
        }
        backend.changeOutside(["count": 3])
        same(seen.elements, ["willSet 3 external", "didSet 3 external"])
        withExtendedLifetime(observations) {}
    }
}
