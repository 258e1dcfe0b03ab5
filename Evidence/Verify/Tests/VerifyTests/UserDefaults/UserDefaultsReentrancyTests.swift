import Foundation
import Testing

@testable import Preferences

/// User defaults that call their observers inside reads which find values set by another process.
struct UserDefaultsReentrancyTests {
    private let defaults = ObservableDefaults()

    /// Ways of using a preference that read user defaults.
    static let uses: [@Sendable (Preference<Int>) throws -> Void] = [
        { _ = $0.value },
        { _ = try $0.read() },
        { try $0.write(1) },
        { $0.value += 1 },
        { try $0.update { $0 += 1 } },
        { first in try first.store.transaction { $0[first] += 1 } },
        { _ = $0.isSet },
        { _ = $0.source },
        { _ = $0.isManaged },
        { _ = $0.store.contents },
        { $0.observe(includingCurrent: true) { _ in }.cancel() },
        { $0.store.removeAll() },
    ]

    @Test(arguments: 0..<uses.count)
    func observerThatIsCalledInsideAReadMayUseTheStore(use: Int) throws {
        let store = defaults.store()
        let first = Preference("first", default: 0, in: store)
        let second = Preference("second", default: 0, in: store)
        let new = Preference("new", default: 7, in: store)
        #expect(second.value == 0)
        let log = Log<Int>()
        defaults.watch.onDelivery { [watch = defaults.watch] name in
            guard name == "second" else { return }
            watch.onDelivery(nil)
            log.append(second.value)
            log.append(new.value)
            new.value = 8
            first.value = 20
            second.value = 6
        }
        defaults.setElsewhere(5, forKey: "second")
        try Self.uses[use](first)
        #expect(log.all == [5, 7])
        #expect(defaults.integer(forKey: "first") == first.value)
        #expect(defaults.integer(forKey: "second") == second.value)
        #expect(new.value == defaults.integer(forKey: "new") || !new.isSet)
    }

    /// The same name: the value that the observer set counts, and isn't considered stale.
    @Test
    func nameThatIsSetInsideItsOwnReadHasTheNewValue() {
        let store = defaults.store()
        let preference = Preference("n", default: 0, in: store)
        let others = Preference("other", default: 0, in: store)
        #expect(others.value == 0)
        defaults.watch.onDelivery { [watch = defaults.watch] _ in
            watch.onDelivery(nil)
            preference.value = 2
        }
        defaults.setElsewhere(1, forKey: "other")
        #expect(preference.value == 2)
        #expect(others.value == 1)
        #expect(defaults.integer(forKey: "n") == 2)
    }

    /// The first read of a name finds a value, and before it returns another process sets the next.
    @Test
    func changeDuringTheFirstReadIsNotMissed() {
        let preference = Preference("n", default: 0, in: defaults.store())
        defaults.set(1, forKey: "n")
        defaults.watch.onForced { [shared = SharedDomain(defaults)] in
            shared.defaults.watch.onForced(nil)
            shared.defaults.setElsewhere(2, forKey: "n")
        }
        _ = preference.value
        #expect(preference.value == 2)
    }

    @Test
    func observerOfTheStoreIsNotifiedOfAChangeThatAReadFound() {
        let store = defaults.store()
        let preference = Preference("n", default: 0, in: store)
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        defaults.setElsewhere(5, forKey: "n")
        #expect(changes.all == [])
        #expect(defaults.integer(forKey: "something else") == 0)
        #expect(changes.all == [5])
        #expect(preference.value == 5)
        observation.cancel()
    }

    @Test
    func manyThreadsReadSetAndAreNotified() {
        let store = defaults.store()
        let preferences = (0..<8).map { Preference("n\($0)", default: 0, in: store) }
        defaults.watch.onDelivery { name in
            if let preference = preferences.first(where: { $0.name == name }), preference.value < 1_000 {
                preference.value += 1_000
            }
        }
        DispatchQueue.concurrentPerform(iterations: 400) { [shared = SharedDomain(defaults)] index in
            let preference = preferences[index % 8]
            switch index % 4 {
            case 0: shared.defaults.setElsewhere(index % 1_000, forKey: preference.name)
            case 1: preference.value = index
            case 2: #expect(throws: Never.self) { try preference.update { $0 += 1 } }
            default: _ = preference.value
            }
        }
        defaults.watch.deliverWaiting()
        for preference in preferences {
            #expect(preference.value == defaults.integer(forKey: preference.name))
        }
    }

    @Test
    func recipientThatWasRemovedHearsNothing() {
        let recipients = Recipients()
        let log = Log<String>()
        let first = recipients.add { log.append("first " + $0) }
        let second = recipients.add { log.append("second " + $0) }
        recipients.deliver("a", to: first)
        recipients.remove(first)
        recipients.deliver("b", to: first)
        recipients.deliver("c", to: second)
        #expect(log.all == ["first a", "second c"])
        #expect(recipients.add { _ in } > second)
    }
}
