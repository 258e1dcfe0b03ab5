import TestSupport
import Testing

@testable import Preferences

/// The output documented in the concise wrapper's manual: each instance of one name has its own timing.
struct TimingTests {
    private func printout(_ timing: PreferenceTiming, _ change: (Preference<String>) -> Void) -> [String] {
        let user = Preference("user.name", default: "Pitt", in: .inMemory())
        let printed = Recorder<String>()
        let observation = user.subscribe(timing: timing) { _, new, _ in
            printed.record("Published: \(new) - Property: \(user.value)")
        }
        change(user)
        observation.cancel()
        return printed.elements
    }

    @Test(arguments: [
        (PreferenceTiming.didSet, ["Published: François - Property: François", "Published: Pitt - Property: Pitt"]),
        (.willSet, ["Published: François - Property: Pitt", "Published: Pitt - Property: François"]),
    ])
    func setAndRemovalArePublished(timing: PreferenceTiming, expected: [String]) {
        same(
            printout(timing) {
                $0.value = "François"; $0.reset()
            },
            expected
        )
        same(
            printout(timing) {
                $0.value = "François"; $0.store.removeAll()
            },
            expected
        )
        same(
            printout(timing) {
                $0.store["user.name"] = "François"; $0.store["user.name"] = nil
            },
            expected
        )
    }

    @Test
    func instancesOfOneNameHaveTheirOwnTimingAndDefault() {
        let store = PreferenceStore.inMemory()
        let will = Preference("user.name", default: "will", in: store)
        let did = Preference("user.name", default: "did", in: store)
        let optional = Preference<String?>("user.name", in: store)
        let printed = Recorder<String>()
        let observations = [
            did.subscribe { _, new, _ in printed.record("did \(new) (\(did.value))") },
            will.subscribe(timing: .willSet) { _, new, _ in
                printed.record("will \(new) (\(will.value))")
            },
            optional.subscribe { _, new, _ in
                printed.record("optional \(new ?? "nil")")
            },
        ]
        will.value = "François"
        optional.value = nil
        same(
            printed.elements,
            [
                "will François (will)", "did François (François)", "optional François",
                "will will (François)", "did did (did)", "optional nil",
            ]
        )
        #expect(optional.value == nil && will.value == "will" && did.value == "did")
        withExtendedLifetime(observations) {}
    }

    @Test
    func externalChangeIsAnnouncedJustBeforeItIsNotified() {
        let backend = OutsideBackend()
        let count = Preference("count", default: 0, in: PreferenceStore(backend: backend))
        let seen = Recorder<String>()
        let observations = [PreferenceTiming.didSet, .willSet].map { timing in
            count.subscribe(timing: timing) { _, new, origin in
                seen.record("\(timing) \(new) \(origin)")
            }
        }
        backend.changeOutside("count", to: 3)
        same(seen.elements, ["willSet 3 external", "didSet 3 external"])
        withExtendedLifetime(observations) {}
    }

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
}
