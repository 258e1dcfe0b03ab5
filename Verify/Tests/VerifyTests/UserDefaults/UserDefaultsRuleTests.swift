import DurableFile
import Foundation
import Testing

@testable import Preferences

struct UserDefaultsRuleTests {
    private let defaults = ObservableDefaults()

    @Test
    func valueOfTheWrongTypeYieldsTheDefaultIsReportedAndStays() {
        defaults.set("not a number", forKey: "n")
        let store = defaults.store()
        let issues = Log<PreferencesError>()
        store.issueHandler = { issues.append($0) }
        let preference = Preference("n", default: 5, in: store)
        #expect(preference.value == 5)
        #expect(preference.value == 5)
        #expect(issues.all.map(\.code) == [.unreadable])
        #expect(throws: PreferencesError.self) { try preference.read() }
        #expect(defaults.string(forKey: "n") == "not a number")
        #expect(defaults.watch.writes == ["n"])
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
        store.set(3, for: "new")
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
        #expect(theme.source == .managed)
        #expect(throws: PreferencesError.self) {
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
        let issues = Log<PreferencesError>()
        store.issueHandler = { issues.append($0) }
        store.set(.data(Data(count: 600)), for: "a")
        #expect(issues.all.isEmpty)
        store.set(.data(Data(count: 200)), for: "b")
        store.set(.data(Data(count: 210)), for: "b")
        #expect(issues.all.map(\.code) == [.tooLarge])
        #expect(throws: PreferencesError.self) { try store.transaction { $0["c"] = .data(Data(count: 400)) } }
        #expect(store["c"] == nil)
        #expect(defaults.object(forKey: "c") == nil)
        store.set(.data(Data(count: 10)), for: "a")
        #expect(issues.all.count == 1)
    }

    @Test
    func nothingIsReadOrWrittenBeforeTheDeviceIsUnlocked() {
        defaults.set(7, forKey: "n")
        let isLocked = Lock(true)
        let store = defaults.store(protection: DataProtection { isLocked.withLock { $0 } })
        let issues = Log<PreferencesError>()
        store.issueHandler = { issues.append($0) }
        let preference = Preference("n", default: 0, in: store)
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        #expect(preference.value == 0)
        #expect(throws: PreferencesError.self) { try preference.update { $0 += 1 } }
        #expect(throws: PreferencesError.self) { try preference.write(1) }
        #expect(Set(issues.all.map(\.code)) == [.unavailable])
        #expect(defaults.integer(forKey: "n") == 7)
        isLocked.withLock { $0 = false }
        NotificationCenter.default.post(name: DataProtection.unlocked, object: nil)
        #expect(preference.value == 7)
        #expect(changes.all == [7])
        preference.value = 8
        #expect(defaults.integer(forKey: "n") == 8)
        observation.cancel()
    }

    @Test
    func fileThatIsThereAndCanNotBeOpenedIsLocked() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let file = folder.appending(path: "defaults.plist")
        let protection = DataProtection.file(at: file.path)
        #expect(!protection.isLocked())
        try Data().write(to: file)
        #expect(!protection.isLocked())
        // Opening a socket's file fails for everybody, root too.
        try FileManager.default.removeItem(at: file)
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: file.path.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        #expect(protection.isLocked())
    }

    @Test
    func ownDomainAndTheOneOfAllProgramsAreNoSuites() throws {
        #expect(throws: PreferencesError.self) { try UserDefaultsSuite.check("com.me", ownDomain: "com.me") }
        #expect(throws: PreferencesError.self) {
            try UserDefaultsSuite.check(UserDefaults.globalDomain, ownDomain: nil)
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

    @Test
    func argumentIsReadByTheDeclaredTypeAndNotListed() {
        let store = PreferenceStore.layered([
            PreferenceStore(.unlistedArguments(Source(ofArguments: ["-volume", "7", "-NSThing", "YES"]))),
            defaults.store(),
        ])
        let volume = Preference("volume", default: 5, in: store)
        #expect(volume.value == 7)
        #expect(volume.source == .layer("arguments"))
        #expect(store.names.isEmpty)
    }
}
