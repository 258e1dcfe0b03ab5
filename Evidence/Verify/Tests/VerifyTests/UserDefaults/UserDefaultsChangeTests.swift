import Foundation
import Testing

@testable import Preferences

struct UserDefaultsChangeTests {
    private let defaults = ObservableDefaults()

    /// Even if another thread reads the same defaults at that time and applies the change instead.
    @Test(.timeLimit(.minutes(60)), arguments: ["name", "a.dotted.name", "@operator", "🎨", "."])
    func rawChangeIsReadAndNotified(name: String) async {
        let store = defaults.store()
        let preference = Preference(name, default: 0, in: store)
        let changes = Log<[Int]>()
        let observation = preference.observe { changes.append([$0.old, $0.new, $0.origin == .external ? 1 : 0]) }
        defaults.set(1, forKey: name)
        while changes.all.count < 1 { await Task.yield() }
        #expect(preference.value == 1)
        defaults.set(2, forKey: name)
        defaults.set(2, forKey: name)
        while changes.all.count < 2 { await Task.yield() }
        defaults.removeObject(forKey: name)
        while changes.all.count < 3 { await Task.yield() }
        #expect(changes.all == [[0, 1, 1], [1, 2, 1], [2, 0, 1]])
        observation.cancel()
    }

    @Test(
        arguments: ["name", "a.dotted.name"],
        [.boolean(true), 2.0, 7, [1, 2.0, .boolean(false)]] as [PropertyListValue]
    )
    func ownWriteIsNotifiedOnceAndAsLocal(name: String, value: PropertyListValue) {
        let store = defaults.store()
        let changes = Log<PreferenceStoreChange>()
        let observation = store.subscribe { changes.append(PreferenceStoreChange($0)) }
        store[name] = value
        store[name] = value
        #expect(changes.all.map(\.origin) == [.local])
        #expect(store[name] == value)
        #expect(defaults.watch.writes == [name])
        observation.cancel()
    }

    @Test
    func twoStoresOverOneDomainSeeEachOther() {
        let (one, other) = (defaults.store(), defaults.store())
        let here = Preference("n", default: 0, in: one)
        let there = Preference("n", default: 0, in: other)
        #expect(here.value + there.value == 0)
        here.value = 1
        #expect(there.value == 1)
        there.reset()
        #expect(here.value == 0)
    }

    @Test
    func observerOfTheDefaultsMayUseTheStoreInsideASet() {
        let store = defaults.store()
        let first = Preference("first", default: 0, in: store)
        let second = Preference("second", default: 0, in: store)
        defaults.watch.onWrite { [watch = defaults.watch] name in
            guard name == "first" else { return }
            watch.onWrite(nil)
            #expect(first.value == 1)
            #expect(second.value == 0)
            second.value = 2
            first.value = 3
        }
        first.value = 1
        #expect(first.value == 3)
        #expect(second.value == 2)
        #expect(defaults.integer(forKey: "first") == 3)
        #expect(defaults.integer(forKey: "second") == 2)
        // What is set inside the set of another name is written there; the same name after it, as its first value isn't stored yet.
        #expect(defaults.watch.writes == ["second", "first", "first"])
    }

    /// User defaults call the observer after the value is stored.
    @Test
    func setInsideAnObserverIsInUserDefaultsWhenItReturns() {
        let store = defaults.store()
        let first = Preference("first", default: 0, in: store)
        let second = Preference("second", default: 0, in: store)
        let found = Log<Int>()
        defaults.watch.onChange { [shared = SharedDomain(defaults)] in
            guard second.value < 2 else { return }
            second.value += 1
            found.append(shared.defaults.integer(forKey: "second"))
        }
        first.value = 1
        #expect(found.all.sorted() == [1, 2])
        #expect(first.value == 1 && second.value == 2)
    }

    @Test
    func valuesOfSeveralThreadsAreWrittenInTheOrderOfTheStore() {
        let store = defaults.store()
        let preferences = (0..<4).map { Preference("n\($0)", default: 0, in: store) }
        let changes = Log<String>()
        let observation = store.subscribe { for name in PreferenceStoreChange($0).names { changes.append(name) } }
        DispatchQueue.concurrentPerform(iterations: 200) { preferences[$0 % 4].value = $0 + 1 }
        store.issueHandler = { Issue.record("\($0)") }
        #expect(throws: Never.self) { try store.flush() }
        while changes.all.count < 200 { usleep(1_000) }
        #expect(defaults.watch.writes == changes.all)
        observation.cancel()
    }

    /// Another process sets a value after this one has read an older one, and before that is shown.
    @Test
    func changeBetweenAReadAndItsPublicationIsNotLost() {
        let store = defaults.store()
        let preference = Preference("n", default: 0, in: store)
        #expect(preference.value == 0)
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        defaults.watch.onForced { [shared = SharedDomain(defaults)] in
            shared.defaults.watch.onForced(nil)
            shared.defaults.setElsewhere(2, forKey: "n")
            shared.defaults.watch.deliverWaiting()
        }
        defaults.set(1, forKey: "n")
        #expect(preference.value == 2)
        #expect(changes.all.last == 2)
        observation.cancel()
    }

    /// As if the program weren't permitted to write the domain.
    @Test
    func valueThatUserDefaultsRejectIsNotShown() {
        let store = defaults.store()
        let preference = Preference("n", default: 0, in: store)
        preference.value = 1
        defaults.watch.onChange { [shared = SharedDomain(defaults)] in shared.defaults.setElsewhere(1, forKey: "n") }
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        preference.value = 2
        #expect(preference.value == 1)
        #expect(changes.all == [2, 1])
        observation.cancel()
    }

    @Test
    func defaultsEndWithTheStoresValueHoweverManyThreadsSet() {
        let store = defaults.store()
        let preference = Preference("n", default: 0, in: store)
        let origins = Log<PreferenceChangeOrigin>()
        let observation = preference.observe { origins.append($0.origin) }
        DispatchQueue.concurrentPerform(iterations: 400) { preference.value = $0 + 1 }
        #expect(defaults.integer(forKey: "n") == preference.value)
        // A thread that has written enough values of other threads hands the rest over to a thread of the store.
        while origins.all.count < 400 { usleep(1_000) }
        #expect(origins.all.allSatisfy { $0 == .local })
        #expect(origins.all.count == 400)
        observation.cancel()
    }

    @Test
    func updatesByManyThreadsAllCount() throws {
        let preference = Preference("n", default: 0, in: defaults.store())
        let failures = Log<any Error>()
        DispatchQueue.concurrentPerform(iterations: 100) { _ in
            do { try preference.update { $0 += 1 } } catch { failures.append(error) }
        }
        #expect(failures.all.isEmpty)
        #expect(preference.value == 100)
        #expect(defaults.integer(forKey: "n") == 100)
    }

    @Test
    func observersEndWithTheStore() {
        do {
            let store = defaults.store()
            #expect(Preference("n", default: 0, in: store).value == 0)
            #expect(Preference("a.b", default: 0, in: store).value == 0)
            #expect(defaults.watch.observerCount == 1)
        }
        #expect(defaults.watch.observerCount == 0)
        defaults.set(1, forKey: "a.b")
    }
}
