import Foundation
import Testing

@testable import Preferences

struct UserDefaultsRuleTests {
    private let defaults = ObservableDefaults()

    @Test
    func valueOfTheWrongTypeYieldsTheDefaultIsReportedAndStays() {
        defaults.set("not a number", forKey: "n")
        let store = defaults.store()
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        let preference = Preference("n", default: 5, in: store)
        #expect(preference.value == 5)
        #expect(preference.value == 5)
        #expect(issues.all.map(\.code) == [.unreadable])
        #expect(throws: PreferenceError.self) { try preference.read() }
        #expect(defaults.string(forKey: "n") == "not a number")
        #expect(defaults.watch.writes == ["n"])
    }

    /// Programs of two versions over one domain, one of which other code changes in between.
    @Test
    func membersOfAnotherVersionAreKept() throws {
        struct First: Codable, Equatable { var x = 0, width = 100, modes = ["plain"] }
        enum Mode: String, Codable { case plain, wide }
        struct Second: Codable, Equatable { var x = 0, height = 50, modes: [Mode] = [] }
        defaults.set(["x": 1, "later": ["a": 1], "modes": ["wide", "gone"]], forKey: "frame")
        let store = defaults.store()
        store.issueHandler = { _ in }
        let first = Preference("frame", default: First(), in: store)
        let second = Preference("frame", default: Second(), in: store)
        #expect(first.value == First(x: 1, modes: ["wide", "gone"]))
        #expect(second.value == Second(x: 1, modes: [.wide]))
        first.value.width = 7
        second.value.height = 8
        second.value.modes.append(.plain)
        var outside = try #require(defaults.dictionary(forKey: "frame"))
        outside["outside"] = true
        defaults.set(outside, forKey: "frame")
        second.value.x = 9
        #expect(
            store["frame"] == [
                "x": 9, "later": ["a": 1], "modes": ["wide", "gone", "plain"], "width": 7, "height": 8, "outside": true,
            ]
        )
    }

    @Test
    func readingWritesNothing() {
        let store = defaults.store()
        let preference = Preference("n", default: 5, in: store)
        let observation = preference.observe { _ in }
        #expect(preference.value == 5)
        #expect(!preference.isSet)
        #expect(store.contents.isEmpty)
        #expect(defaults.watch.writes.isEmpty)
        observation.cancel()
    }

    @Test
    func onlyNamesThatWereDeclaredOrSetAreListed() {
        defaults.set(1, forKey: "NSSystemThing")
        defaults.set(2, forKey: "mine")
        let store = defaults.store()
        let preference = Preference("mine", default: 0, in: store)
        store["new"] = 3
        #expect(store.names == ["mine", "new"])
        store.removeAll()
        #expect(preference.value == 0)
        #expect(defaults.integer(forKey: "NSSystemThing") == 1)
    }

    @Test
    func numbersAreReadByTheDeclaredType() {
        defaults.set(1, forKey: "flag")
        defaults.set(true, forKey: "other")
        defaults.set(2, forKey: "real")
        defaults.set(3.0, forKey: "integer")
        let store = defaults.store()
        #expect(Preference("flag", default: false, in: store).value)
        #expect(Preference("other", default: false, in: store).value)
        let real = Preference("real", default: 0.5, in: store)
        #expect(real.value == 2)
        let integer = Preference("integer", default: 0, in: store)
        #expect(integer.value == 3)
    }

    @Test
    func forcedValueIsManaged() {
        defaults.set("corporate", forKey: "theme")
        defaults.watch.force("theme")
        let store = defaults.store()
        let theme = Preference("theme", default: "system", in: store)
        let other = Preference("other", default: 0, in: store)
        #expect(theme.value == "corporate")
        #expect(theme.source.isManaged)
        #expect(throws: PreferenceError.self) {
            try store.transaction { t in
                t[other] = 1
                t[theme] = "mine"
            }
        }
        #expect(theme.value == "corporate")
        #expect(!other.isSet)
        #expect(defaults.watch.writes == ["theme"])
    }

    @Test
    func transactionIsOneChange() throws {
        let store = defaults.store()
        let changes = Log<Set<String>>()
        let observation = store.subscribe { changes.append(PreferenceStoreChange($0).names) }
        try store.transaction { t in
            t["a"] = 1
            t["b.c"] = 2
        }
        #expect(changes.all == [["a", "b.c"]])
        #expect(defaults.integer(forKey: "b.c") == 2)
        observation.cancel()
    }

    @Test
    func sizeIsWarnedOfOnceAndThenRefused() throws {
        let store = defaults.store(sizeLimit: UserDefaultsSizeLimit(limit: 1000))
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        store["a"] = .data(Data(count: 600))
        #expect(issues.all.isEmpty)
        store["b"] = .data(Data(count: 200))
        store["b"] = .data(Data(count: 210))
        #expect(issues.all.map(\.code) == [.tooLarge])
        #expect(throws: PreferenceError.self) { try store.transaction { $0["c"] = .data(Data(count: 400)) } }
        #expect(store["c"] == nil)
        #expect(defaults.object(forKey: "c") == nil)
        store["a"] = .data(Data(count: 10))
        #expect(issues.all.count == 1)
    }

    @Test
    func setOfARegisteredValueIsStoredOnce() {
        defaults.register(defaults: ["registered": 5])
        let preference = Preference("registered", default: 0, in: defaults.store())
        #expect(preference.value == 5)
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        preference.value = 5
        preference.value = 5
        #expect(defaults.watch.writes == ["registered"])
        #expect(changes.all == [])
        // The values that the program's next version registers.
        defaults.register(defaults: ["registered": 7])
        #expect(preference.value == 5)
        #expect(defaults.integer(forKey: "registered") == 5)
        preference.reset()
        #expect(preference.value == 7)
        #expect(defaults.watch.writes == ["registered", "registered"])
        observation.cancel()
    }

    @Test
    func observerFindsTheValueInUserDefaults() {
        let preference = Preference("n", default: 0, in: defaults.store())
        let values = Log<Int>()
        let observation = preference.observe { [shared = SharedDomain(defaults)] _ in
            values.append(shared.defaults.integer(forKey: "n"))
        }
        preference.value = 5
        #expect(values.all == [5])
        observation.cancel()
    }

    /// Sets a preference, and a hundred other ones while it is written.
    @discardableResult
    private func setWithManyOtherNames(in store: PreferenceStore) -> [Preference<Int>] {
        let others = (0..<100).map { Preference("n\($0)", default: 0, in: store) }
        defaults.watch.onWrite { [watch = defaults.watch] _ in
            watch.onWrite(nil)
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for other in others { other.value = 1 }
                isDone.signal()
            }
            isDone.wait()
        }
        Preference("first", default: 0, in: store).value = 1
        return others
    }

    /// A set must return even if other threads keep setting values.
    @Test
    func setReturnsDespiteEndlessSetsByOtherThreads() {
        let jobs = Log<@Sendable () -> Void>()
        let store = defaults.store { jobs.append($1) }
        let others = setWithManyOtherNames(in: store)
        #expect(defaults.watch.writes.count == 65)
        #expect(defaults.integer(forKey: "n99") == 0)
        #expect(others.last?.value == 1)
        for job in jobs.all { job() }
        #expect(defaults.watch.writes.count == 101)
        #expect(defaults.integer(forKey: "n99") == 1)
    }

    /// The values left by a thread that wrote for other threads.
    @Test
    func flushWritesWhatWaits() async throws {
        let store = defaults.store(patience: .nanoseconds(1)) { _, _ in }
        setWithManyOtherNames(in: store)
        #expect(defaults.integer(forKey: "n99") == 0)
        try await store.flush()
        #expect(defaults.integer(forKey: "n99") == 1)
    }

    /// The value in the domain may have been set by other code without a notification.
    @Test
    func setAfterAForeignOneIsWritten() {
        let preference = Preference("n", default: 0, in: defaults.store())
        preference.value = 5
        defaults.set(6, forKey: "n")
        defaults.set(5, forKey: "n")
        preference.value = 5
        preference.value = 5
        #expect(defaults.watch.writes == ["n", "n", "n", "n"])
    }

    @Test
    func flushThrowsWhileAnotherThreadsWriteIsStuck() async throws {
        let store = defaults.store(patience: .nanoseconds(1))
        let preference = Preference("n", default: 0, in: store)
        try await store.flush()
        let writer = try await stuckWriter(of: preference)
        preference.value = 2
        let error = await #expect(throws: PreferenceError.self) { try await store.flush() }
        #expect(error?.code == .notDurable)
        writer.release()
        await writer.end()
        try await store.flush()
        #expect(defaults.integer(forKey: "n") == 2)
    }

    @Test
    func flushWaitsForAnotherThreadsWrite() async throws {
        let store = defaults.store()
        let preference = Preference("n", default: 0, in: store)
        let writer = try await stuckWriter(of: preference)
        preference.value = 2
        let log = Log<String>()
        let flush = Task {
            try await store.flush()
            log.append("flushed")
        }
        log.append("released")
        writer.release()
        try await flush.value
        #expect(log.all == ["released", "flushed"])
        #expect(defaults.integer(forKey: "n") == 2)
        await writer.end()
    }

    @Test
    func flushThrowsIfSynchronizingFails() async throws {
        let store = defaults.store()
        store["n"] = 1
        defaults.watch.failToSynchronize()
        let error = await #expect(throws: PreferenceError.self) { try await store.flush() }
        #expect(error?.code == .notDurable)
    }

    /// A thread that sets a preference to 1 and blocks in an observer of user defaults.
    private func stuckWriter(of preference: Preference<Int>) async throws -> StuckWriter {
        let writer = StuckWriter()
        defaults.watch.onWrite { [watch = defaults.watch] _ in
            watch.onWrite(nil)
            writer.arrive()
        }
        Thread.detachNewThread {
            preference.value = 1
            writer.finish()
        }
        await writer.start()
        return writer
    }

    /// Values stored as strings, like those of `defaults write` without a type.
    @Test(arguments: [("YES", true), ("no", false), ("true", true), ("FALSE", false), ("1", true), ("0", false)])
    func textOfABooleanIsRead(text: String, value: Bool) {
        defaults.set(text, forKey: "flag")
        #expect(Preference("flag", default: !value, in: defaults.store()).value == value)
    }

    @Test
    func textOfANumberIsRead() {
        defaults.set("5", forKey: "integer")
        defaults.set("2.5", forKey: "real")
        let store = defaults.store()
        #expect(Preference("integer", default: 0, in: store).value == 5)
        #expect(Preference("real", default: 0.0, in: store).value == 2.5)
    }

    @Test(arguments: [
        "https://example.com/a?b=c#d", "mailto:me@example.com", "file:///etc/hosts", "file:///no/such/folder/",
        "file:///with%20space/%C3%A9", "file://server/share", "relative/path", "file:///a?query",
    ])
    func urlIsStoredAsUserDefaultsDoAndBothAreRead(text: String) throws {
        let url = try #require(URL(string: text))
        let store = defaults.store()
        let preference = Preference("url", default: URL(fileURLWithPath: "/"), in: store)
        let optional = Preference<URL?>("url", in: store)
        preference.value = url
        #expect(preference.value == url)
        #expect(optional.value == url)
        let stored = try #require(defaults.url(forKey: "url"))
        #expect(stored == url)
        defaults.removeObject(forKey: "url")
        defaults.set(text, forKey: "url")  // as the first version stored it
        #expect(preference.value == url)
        try optional.update { $0 = $0?.appending(path: "more") }
        #expect(defaults.url(forKey: "url") == url.appending(path: "more"))
        optional.value = nil
        #expect(defaults.object(forKey: "url") == nil)
    }

    @Test
    func fileAtHomeIsStoredWithATilde() {
        let preference = Preference("url", default: URL(fileURLWithPath: "/"), in: defaults.store())
        let file = URL(fileURLWithPath: NSHomeDirectory()).appending(path: "Documents/a.txt")
        preference.value = file
        #expect(defaults.string(forKey: "url") == "~/Documents/a.txt")
        #expect(preference.value == file)
        #expect(Preference("other", default: file, in: .inMemory()).value == file)
    }

    @Test
    func ownDomainAndTheOneOfAllProgramsAreNoSuites() throws {
        #expect(throws: PreferenceError.self) { try UserDefaultsSuite.check("com.me", ownDomain: "com.me") }
        #expect(throws: PreferenceError.self) {
            try UserDefaultsSuite.check(UserDefaults.globalDomain, ownDomain: nil)
        }
        for name in ["kCFPreferencesCurrentApplication", "kCFPreferencesAnyApplication"] {
            #expect(throws: PreferenceError.self) { try UserDefaultsSuite.check(name, ownDomain: "com.me") }
        }
        try UserDefaultsSuite.check("group.com.me", ownDomain: "com.me")
    }

    @Test
    func storeKnowsItsDefaultsAlsoUnderLayers() {
        let store = defaults.store()
        #expect(store.userDefaults === defaults)
        #expect(PreferenceStore.layered([.arguments([]), store]).userDefaults === defaults)
        #expect(PreferenceStore.inMemory().userDefaults == nil)
    }
}

/// A thread that waits within a set until it is released.
private final class StuckWriter: Sendable {
    private enum Phase { case starting, stuck, released, ended }
    private let phase = Condition(Phase.starting)

    func arrive() {
        phase.signal { $0 = .stuck }
        phase.wait { $0 == .released ? .done(()) : .until(nil) }
    }

    func release() { phase.signal { $0 = .released } }
    func finish() { phase.signal { $0 = .ended } }
    func start() async { await reach(.stuck) }
    func end() async { await reach(.ended) }

    private func reach(_ goal: Phase) async {
        while phase.withLock({ $0 != goal }) { await Task.yield() }
    }
}
