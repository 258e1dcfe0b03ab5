import Testing

@testable import Preferences

struct SetCostTests {
    /// The best of many interleaved rounds each, so that what else the machine does falls on both.
    @Test
    func setDoesNotPayForObserversOfOtherNames() {
        func store(observers: Int) -> (Preference<Int>, [PreferenceObservation]) {
            let store = PreferenceStore.inMemory()
            return (
                Preference("count", default: 0, in: store),
                (0..<observers).map {
                    Preference("other \($0)", default: 0, in: store).observe { _ in Issue.record("not set") }
                }
            )
        }
        let (alone, _) = store(observers: 0)
        let (observed, observations) = store(observers: 1_000)
        func duration(_ preference: Preference<Int>) -> Duration {
            ContinuousClock().measure { for value in 1...100 { preference.value = value } }
        }
        var best = (alone: Duration.seconds(60), observed: Duration.seconds(60))
        for _ in 0..<100 {
            best.alone = min(best.alone, duration(alone))
            best.observed = min(best.observed, duration(observed))
        }
        #expect(best.observed < best.alone * 3, "\(best)")
        withExtendedLifetime(observations) {}
    }
}
