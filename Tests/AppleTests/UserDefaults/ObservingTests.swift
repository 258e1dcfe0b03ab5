import Foundation
import Testing

@testable import Preferences

/// Changes by other code, of which the store notifies as the guide to Apple's platforms promises.
struct ObservingTests {
    private let defaults = TemporaryDefaults()

    /// The old value, the new value, and whether the change was external.
    private func observing(_ preference: Preference<Int>) -> (changes: Log<[Int]>, observation: PreferenceObservation) {
        let changes = Log<[Int]>()
        let observation = preference.observe { changes.append([$0.old, $0.new, $0.origin == .external ? 1 : 0]) }
        return (changes, observation)
    }

    @Test(arguments: ["name", "a.dotted.name", "@operator", "🎨"])
    func changeByThisProcessIsNotified(name: String) async {
        let preference = Preference(name, default: 0, in: defaults.store())
        let (changes, observation) = observing(preference)
        defaults.set(1, forKey: name)
        await wait(for: "the first value") { changes.all.count == 1 }
        #expect(preference.value == 1)
        defaults.set(2, forKey: name)
        defaults.set(2, forKey: name)
        await wait(for: "the second value") { changes.all.count == 2 }
        defaults.object.removeObject(forKey: name)
        await wait(for: "the removal") { changes.all.count == 3 }
        #expect(changes.all == [[0, 1, 1], [1, 2, 1], [2, 0, 1]])
        observation.cancel()
    }

    @Test
    func changeOfAnotherObjectOverTheSuiteIsNotified() async {
        let preference = Preference("name", default: 0, in: defaults.store())
        let (changes, observation) = observing(preference)
        defaults.reopened().object.set(1, forKey: "name")
        await wait(for: "the value") { changes.all == [[0, 1, 1]] }
        #expect(preference.value == 1)
        observation.cancel()
    }

    @Test(arguments: ["name", "a.dotted.name"])
    func ownChangeIsNotifiedOnceAndAsItsOwn(name: String) async {
        let preference = Preference(name, default: 0, in: defaults.store())
        let (changes, observation) = observing(preference)
        preference.value = 1
        preference.value = 1
        preference.value = 2
        #expect(defaults.integer(forKey: name) == 2)
        #expect(changes.all == [[0, 1, 0], [1, 2, 0]])
        observation.cancel()
    }

    @Test
    func changeByAnotherProcessIsNotified() async throws {
        let preference = Preference("name", default: 0, in: defaults.store())
        let (changes, observation) = observing(preference)
        try await defaults.run("write", "name", "-int", "1")
        await wait(for: "the value of another process") { changes.all.count == 1 }
        #expect(preference.value == 1)
        try await defaults.run("delete", "name")
        await wait(for: "the removal by another process") { changes.all.count == 2 }
        #expect(changes.all == [[0, 1, 1], [1, 0, 1]])
        observation.cancel()
    }

    @Test(arguments: ["a.dotted.name", "@operator"])
    func changeOfAnUnobservableNameByAnotherProcessIsSeenAtTheNextChangeHere(name: String) async throws {
        let preference = Preference(name, default: 0, in: defaults.store())
        let (changes, observation) = observing(preference)
        #expect(preference.value == 0)
        try await defaults.run("write", name, "-int", "1")
        var count = 0
        await wait(for: "the value of another process") {
            count += 1
            defaults.set(count, forKey: "unrelated")
            return preference.value == 1
        }
        await wait(for: "the notification") { changes.all == [[0, 1, 1]] }
        observation.cancel()
    }

    @Test
    func removedDomainLeavesTheDefaults() async {
        let store = defaults.store()
        let plain = Preference("name", default: 0, in: store)
        let dotted = Preference("dotted.name", default: 0, in: store)
        plain.value = 1
        dotted.value = 1
        let (plainChanges, plainObservation) = observing(plain)
        let (dottedChanges, dottedObservation) = observing(dotted)
        // According to reports, this causes no key-value notification.
        defaults.object.removePersistentDomain(forName: defaults.suite)
        await wait(for: "the removal") { plain.value == 0 && dotted.value == 0 }
        await wait(for: "the notifications") { plainChanges.all == [[1, 0, 1]] && dottedChanges.all == [[1, 0, 1]] }
        plain.value = 1
        #expect(defaults.integer(forKey: "name") == 1, "what is set again is stored")
        plainObservation.cancel()
        dottedObservation.cancel()
    }

    @Test
    func registeredValueIsAWeakerLayer() {
        let name = "registered-\(UUID().uuidString)"
        defaults.object.register(defaults: [name: 7])
        let preference = Preference(name, default: 0, in: defaults.store())
        #expect(preference.value == 7)
        #expect(!preference.isSet)
        #expect(preference.source.name == "registered or global")
        preference.value = 8
        #expect(preference.isSet)
        #expect(defaults.integer(forKey: name) == 8)
        preference.reset()
        #expect(preference.value == 7, "a reset uncovers it")
        #expect(!preference.isSet)
    }

    @Test
    func setOfARegisteredValueIsStored() {
        let name = "registered-\(UUID().uuidString)"
        defaults.object.register(defaults: [name: 7])
        let preference = Preference(name, default: 0, in: defaults.store())
        preference.value = 7
        #expect(defaults.object.persistentDomain(forName: defaults.suite)?[name] as? Int == 7)
        defaults.object.register(defaults: [name: 8])
        #expect(preference.value == 7)
    }

    @Test(.timeLimit(.minutes(5)))
    func observerOfTheDefaultsMayUseTheStoreInsideASet() {
        let store = defaults.store()
        let (first, second) = (Preference("first", default: 0, in: store), Preference("second", default: 0, in: store))
        let observer = Observer(of: defaults, "first") {
            second.value = first.value + 1
        }
        first.value = 1
        withExtendedLifetime(observer) {}
        #expect(second.value == 2)
        #expect(defaults.integer(forKey: "second") == 2)
    }

    /// A read may call observers of values that another process changed.
    @Test(.timeLimit(.minutes(5)))
    func observerOfTheDefaultsMayUseTheStoreInsideARead() async throws {
        let store = defaults.store()
        let (first, echo) = (Preference("first", default: 0, in: store), Preference("echo", default: 0, in: store))
        #expect(first.value + echo.value == 0)
        let observer = Observer(of: defaults, "first") {
            echo.value = first.value
        }
        for number in 1...5 {
            try await defaults.run("write", "first", "-int", "\(number)")
            await wait(for: "the echo of \(number)") { first.value == number && echo.value == number }
            #expect(defaults.integer(forKey: "echo") == number)
        }
        withExtendedLifetime(observer) {}
    }
}

/// Calls a closure at each change of a name, on the thread that makes it or that receives it, until it is released.
private final class Observer: NSObject, Sendable {
    private let defaults: TemporaryDefaults
    private let name: String
    private let body: @Sendable () -> Void

    init(of defaults: TemporaryDefaults, _ name: String, _ body: @escaping @Sendable () -> Void) {
        self.defaults = defaults
        self.name = name
        self.body = body
        super.init()
        defaults.object.addObserver(self, forKeyPath: name, options: [], context: nil)
    }

    deinit { defaults.object.removeObserver(self, forKeyPath: name) }

    override func observeValue(
        forKeyPath keyPath: String?,
        of object: Any?,
        change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) { body() }
}
