import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

extension TimingTests {
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
