import Foundation
import Testing

@testable import Preferences

/// Stores that are released while other code writes the values that they observe.
struct ReleaseTests {
    private let defaults = TemporaryDefaults()

    @Test(.timeLimit(.minutes(5)))
    func storesComeAndGoDuringWrites() async {
        await withTaskGroup(of: Void.self) { [defaults] group in
            for writer in 0..<2 {
                group.addTask {
                    let object = defaults.reopened().object
                    for number in 1...1_000 { object.set(number, forKey: "name\(writer)") }
                }
            }
            for reader in 0..<2 {
                group.addTask {
                    for round in 1...300 {
                        let store = defaults.store()
                        let preference = Preference("name\((reader + round) % 2)", default: 0, in: store)
                        let observation = preference.observe { _ in }
                        #expect((0...1_000).contains(preference.value))
                        if round.isMultiple(of: 2) { observation.cancel() }
                        await Task.yield()
                    }
                }
            }
        }
        let store = defaults.store()
        for writer in 0..<2 { #expect(Preference("name\(writer)", default: 0, in: store).value == 1_000) }
    }

    @Test
    func releasedStoreLeavesNothingBehind() async {
        weak var released: PreferenceStore?
        do {
            let store = defaults.store()
            let preference = Preference("name", default: 0, in: store)
            preference.observe { _ in }.cancel()
            defaults.set(1, forKey: "name")
            released = store
        }
        await wait(for: "the store's end") { released == nil }
        // A message to a released observer would end the process.
        defaults.set(2, forKey: "name")
        defaults.object.removePersistentDomain(forName: defaults.suite)
    }

    @Test(arguments: ["name", "dotted.name"])
    func observationMayEndInItsOwnNotification(name: String) async {
        let held = Lock<PreferenceObservation?>(nil)
        let preference = Preference(name, default: 0, in: defaults.store())
        let observation = preference.observe { _ in
            // Released without the lock.
            let observation = held.withLock { exchange(&$0, with: nil) }
            observation?.cancel()
        }
        held.withLock { $0 = observation }
        defaults.set(1, forKey: name)
        await wait(for: "the notification") { held.withLock { $0 == nil } }
        defaults.set(2, forKey: name)
        #expect(preference.value == 2)
    }
}
