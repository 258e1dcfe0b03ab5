import Foundation
import Observation
import Testing

@testable import Preferences

/// Changes of user defaults whose notifications don't name the key, or that cause no notification at all.
struct UserDefaultsInvalidationTests {
    private let defaults = ObservableDefaults()
    private let jobs = Log<@Sendable () -> Void>()

    private var store: PreferenceStore {
        defaults.store { [jobs] in jobs.append($1) }
    }

    private func run(_ job: (@Sendable () -> Void)?) throws {
        let job = try #require(job)
        job()
    }

    @Test(arguments: ["name", "a.dotted.name"])
    func removalOfADomainIsSeenByTheNextReadAndNotifiedOnce(name: String) throws {
        let store = store
        let preference = Preference(name, default: 0, in: store)
        preference.value = 5
        #expect(preference.value == 5)
        let changes = Log<[Int]>()
        let observation = preference.observe { changes.append([$0.old, $0.new]) }
        defaults.removeDomain(of: name)
        #expect(preference.value == 0)
        let job = try #require(jobs.all.last)
        job()
        while changes.all.isEmpty { usleep(100) }
        #expect(changes.all == [[5, 0]])
        observation.cancel()
    }

    /// A program without a main run loop is never notified of them.
    @Test(arguments: [
        "UIApplicationDidBecomeActiveNotification", "NSApplicationDidBecomeActiveNotification",
        "WKApplicationDidBecomeActiveNotification", "NSExtensionHostDidBecomeActiveNotification",
        "NSUserDefaultsDidChangeNotification",
    ])
    func programThatBecomesActiveSeesExternalChanges(notification: String) {
        let preference = Preference("a.b", default: 0, in: store)
        #expect(preference.value == 0)
        defaults.setElsewhere(1, forKey: "a.b")
        defaults.watch.deliverWaiting()
        #expect(preference.value == 0)
        NotificationCenter.default.post(name: Notification.Name(notification), object: nil)
        #expect(preference.value == 1)
    }

    @Test
    func updateBeginsWithTheLatestExternalValue() throws {
        let store = store
        let preference = Preference("a.b", default: 0, in: store)
        #expect(preference.value == 0)
        defaults.setElsewhere(10, forKey: "a.b")
        defaults.watch.deliverWaiting()
        var runs = 0
        try preference.update {
            runs += 1
            $0 += 1
        }
        #expect(runs == 1)
        #expect(preference.value == 11)
        let observed = Preference("n", default: 0, in: store)
        #expect(observed.value == 0)
        // Not delivered yet.
        defaults.setElsewhere(20, forKey: "n")
        try store.transaction {
            runs += 1
            $0[observed] += 1
        }
        #expect(runs == 2)
        #expect(defaults.integer(forKey: "n") == 21)
    }

    /// Observation can't be asked which names it tracks, so all are read that were read before.
    @Test
    func manyChangesOfOtherNamesReadEachNameOnce() throws {
        let store = store
        let preferences = (0..<200).map { Preference("dotted.name.\($0)", default: 0, in: store) }
        #expect(preferences.allSatisfy { $0.value == 0 })
        let reads = Log<Int>()
        let observation = preferences[7].observe { [watch = defaults.watch] _ in reads.append(watch.reads) }
        defaults.setElsewhere(1, forKey: "dotted.name.7")
        defaults.watch.deliverWaiting()
        let before = defaults.watch.reads
        let another = ObservableDefaults()
        for index in 0..<10 {
            defaults.set(index, forKey: "unused")
            another.set(index, forKey: "something")
        }
        #expect(defaults.watch.reads == before)
        #expect(jobs.all.count == 1)
        try run(jobs.all.first)
        #expect(reads.all == [before + 200])
        #expect(defaults.watch.reads == before + 200)
        observation.cancel()
    }

    @Test
    func trackedNamesAreReadAtOnceAndThenAfterAPause() {
        let jobs = Log<(pause: Duration, run: @Sendable () -> Void)>()
        let store = defaults.store { jobs.append(($0, $1)) }
        let preference = Preference("a.b", default: 0, in: store)
        let changes = Log<Void>()
        withObservationTracking {
            #expect(preference.value == 0)
        } onChange: {
            changes.append(())
        }
        defaults.set(1, forKey: "a.b")
        for job in jobs.all { job.run() }
        #expect(changes.all.count == 1)
        #expect(jobs.all.map(\.pause) == [.zero, .milliseconds(100)])
        for value in 2...9 { defaults.set(value, forKey: "a.b") }
        #expect(jobs.all.count == 2)
        // The end of the pause.
        jobs.all[1].run()
        #expect(jobs.all.map(\.pause) == [.zero, .milliseconds(100), .milliseconds(100)])
        // Nothing has changed in the second pause.
        jobs.all[2].run()
        #expect(jobs.all.count == 3)
        defaults.set(10, forKey: "a.b")
        #expect(jobs.all.map(\.pause).last == .zero)
        #expect(jobs.all.count == 4)
    }

    /// Other parts of a program may set something often.
    @Test
    func observedNamesAreReadOnceForManyNotifications() {
        let store = store
        let observations = (0..<50).map { index in
            Preference("dotted.name.\(index)", default: 0, in: store).observe { _ in }
        }
        defaults.set(0, forKey: "unused")
        for job in jobs.all { job() }
        let before = (reads: defaults.watch.reads, jobs: jobs.all.count)
        for index in 1...20 {
            let count = jobs.all.count
            defaults.set(index, forKey: "unused")
            for job in jobs.all[count...] { job() }
        }
        #expect(defaults.watch.reads == before.reads)
        for job in jobs.all[(before.jobs - 1)...] { job() }
        #expect(defaults.watch.reads == before.reads + 50)
        for observation in observations { observation.cancel() }
    }

    /// A name that something reads is read again when it is read; nothing waits for changes of the others.
    @Test
    func changesOfOtherNamesReadNoNameWithoutReaders() {
        let store = store
        let preferences = (0..<300).map { Preference("name\($0)", default: 0, in: store) }
        for preference in preferences { preference.value = 1 }
        let before = defaults.watch.reads
        for index in 0..<60 {
            let count = jobs.all.count
            defaults.set(index, forKey: "unused")
            for job in jobs.all[count...] { job() }
        }
        #expect(defaults.watch.reads == before)
        #expect(preferences[5].value == 1)
        #expect(defaults.watch.reads == before + 1)
    }

    @Test(arguments: [false, true])
    func observerOfAllNamesIsNotifiedOfANameThatIsOnlyRead(isDotted: Bool) throws {
        let store = store
        let name = isDotted ? "a.b" : "a"
        #expect(store[name] == nil)
        let changes = Log<Set<String>>()
        let observation = store.subscribe { changes.append(Set(PreferenceStoreChange($0).names)) }
        defaults.set(1, forKey: name)
        try run(jobs.all.first)
        #expect(changes.all == [[name]])
        observation.cancel()
    }

    @Test
    func observerOfARenamedPreferenceIsNotifiedOfItsFormerName() throws {
        let preference = Preference("new.name", default: 0, .formerly("old.name"), in: store)
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        defaults.set(1, forKey: "old.name")
        try run(jobs.all.first)
        #expect(changes.all == [1])
        observation.cancel()
    }

    @Test
    func ownSetsReadNoOtherName() {
        let store = store
        let preferences = (0..<200).map { Preference("dotted.name.\($0)", default: 0, in: store) }
        #expect(preferences.allSatisfy { $0.value == 0 })
        let before = defaults.watch.reads
        for index in 1...10 { preferences[0].value = index }
        #expect(defaults.watch.reads <= before + 20)
        #expect(jobs.all.isEmpty)
        #expect(preferences[1].value == 0)
        #expect(defaults.watch.reads <= before + 20)
    }

    /// Of two notifications during one set, only one is its own.
    @Test
    func changeFromWithinAnOwnSetIsSeen() {
        let preference = Preference("a", default: 0, in: store)
        let other = Preference("b.c", default: 0, in: preference.store)
        #expect(preference.value + other.value == 0)
        defaults.watch.onWrite { [shared = SharedDomain(defaults)] name in
            if name == "a" { shared.defaults.set(3, forKey: "b.c") }
        }
        preference.value = 1
        #expect(other.value == 3)
    }

    @Test
    func transactionSeesOneValueOfANameAndRunsAgain() throws {
        let store = store
        let preference = Preference("a.b", default: 0, in: store)
        let other = Preference("other", default: 0, in: store)
        preference.value = 1
        var runs = 0
        try store.transaction { transaction in
            let first = transaction[preference]
            runs += 1
            if runs == 1 { defaults.set(2, forKey: "a.b") }
            transaction[other] = first * 100 + transaction[preference]
        }
        #expect(other.value == 202)
        #expect(runs == 2)
    }

    /// A reading thread may hold a lock that the observer takes.
    @Test
    func observersAreNotCalledOnAThreadThatReads() throws {
        let store = store
        let preference = Preference("a.b", default: 0, in: store)
        #expect(preference.value == 0)
        let isReader = Log<Bool>()
        let observation = preference.observe { [reader = ThreadIdentity.current] _ in
            isReader.append(ThreadIdentity.current == reader)
        }
        defaults.set(1, forKey: "a.b")
        #expect(preference.value == 1)
        while isReader.all.isEmpty { usleep(100) }
        #expect(isReader.all == [false])
        observation.cancel()
    }

    @Test
    func nameIsObservedUntilItsLastObserverIsCancelled() throws {
        let store = store
        let preference = Preference("a.b", default: 0, in: store)
        let changes = Log<Int>()
        let first = preference.observe { _ in }
        let second = preference.observe { changes.append($0.new) }
        first.cancel()
        defaults.set(1, forKey: "a.b")
        try run(jobs.all.first)
        #expect(changes.all == [1])
        second.cancel()
        let before = defaults.watch.reads
        defaults.set(2, forKey: "a.b")
        // The end of the pause.
        try run(jobs.all.last)
        #expect(defaults.watch.reads == before)
        #expect(preference.value == 2)
    }

    /// A read during which the value keeps changing ends nevertheless, and no stale value is kept.
    @Test(arguments: [1, 7, 50, 500])
    func readThatIsOvertakenIsNotKept(times: Int) {
        let preference = Preference("a.b", default: 0, in: store)
        #expect(preference.value == 0)
        let last = defaults.watch.reads + times
        defaults.watch.onRead { [shared = SharedDomain(defaults)] count in
            guard count <= last else { return }
            shared.defaults.setElsewhere(count, forKey: "a.b")
            NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        }
        NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
        #expect(preference.value > 0)
        while defaults.watch.reads <= last {
            NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: nil)
            _ = preference.value
        }
        #expect(preference.value == defaults.integer(forKey: "a.b"))
    }
}
