import Foundation
import Testing

@testable import Preferences

/// The stores of `PreferenceStore.suite(_:)` outside of tests with shared stores in memory.
struct SuiteTests {
    private let defaults = TemporaryDefaults()

    private func makeStore() -> PreferenceStore {
        PreferenceStore(SharedStore.suite(defaults.suite).layers(), issues: IssueReporter())
    }

    @Test
    func suiteIsThatOfUserDefaults() async {
        let preference = Preference("name", default: 0, in: makeStore())
        preference.value = 1
        #expect(defaults.integer(forKey: "name") == 1)
        defaults.set(2, forKey: "name")
        await wait(for: "the value of user defaults") { preference.value == 2 }
        preference.reset()
        #expect(defaults.object.object(forKey: "name") == nil)
    }

    /// A value that equals the registered one.
    @Test
    func domainOfASuiteIsAskedAlone() {
        let name = "registered-\(UUID().uuidString)"
        defaults.set(7, forKey: name)
        defaults.object.register(defaults: [name: 7])
        #expect(Preference(name, default: 0, in: makeStore()).isSet)
        defaults.object.removeObject(forKey: name)
        let preference = Preference(name, default: 0, in: makeStore())
        #expect(preference.value == 7)
        #expect(!preference.isSet)
    }

    @Test
    func flushedSuiteIsReadByAnotherProcess() async throws {
        let store = makeStore()
        store["name"] = "text"
        try await store.flush()
        try await defaults.run("read", "name")
    }

    /// The store tries this file to see whether the device was unlocked.
    @Test
    func fileOfASuiteIsInTheLibraryOfTheHome() async throws {
        let store = makeStore()
        store["name"] = 1
        try await store.flush()
        let path = NSHomeDirectory() + "/Library/Preferences/\(defaults.suite).plist"
        await wait(for: "the file \(path)") { FileManager.default.fileExists(atPath: path) }
        #expect(makeStore()["name"] == 1, "a store over a file that is there")
    }

    @Test
    func globalDomainCannotBeASuite() {
        #expect(throws: PreferenceError.self) { try SharedStore.checkSuite(UserDefaults.globalDomain) }
    }

    @Test
    func valueThatFillsTheLimitIsRefusedBeforeTheSystemRefusesIt() throws {
        let store = makeStore()
        let tooLarge = Data(repeating: 1, count: 4 * 1024 * 1024 + 1)
        let error = #expect(throws: PreferenceError.self) { try store.write(.data(tooLarge), for: "name") }
        #expect(error?.code == .tooLarge)
        #expect(defaults.object.object(forKey: "name") == nil)
    }
}
