import Foundation
import Security
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// A store over the Keychain.
struct KeychainStoreTests {
    private let device = TestKeychain()

    private func makeStore() -> PreferenceStore { .testing(device.keyring()) }

    @Test
    func storeKeepsItsValuesInTheKeychain() async throws {
        let token = Preference<String?>("apiToken", default: nil, in: makeStore())
        try await token.write("hunter2")
        #expect(device.items.map { String(decoding: $0.data, as: UTF8.self) } == ["hunter2"])
        let other = Preference<String?>("apiToken", default: nil, in: makeStore())
        #expect(other.value == "hunter2")
        device.change { $0.items[0].data = Data("changed".utf8) }
        try await other.store.load()
        #expect(other.value == "changed")
        other.reset()
        #expect(device.items.isEmpty)
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [DataProtection.unlocked, NotificationObserver.becameActive[0]].map(\.rawValue)
    )
    func secretsAreReadAndNotifiedWhenTheDeviceIsUnlocked(notification: String) {
        device.change {
            $0.insert("apiToken", "stored")
            $0.lock = .beforeFirstUnlock
        }
        let store = makeStore()
        store.issueHandler = { _ in }
        let token = Preference<String?>("apiToken", default: nil, in: store)
        let changes = Log<String?>()
        let observation = token.observe { changes.append($0.new) }
        #expect(token.value == nil)
        #expect(throws: PreferenceError.self) { try token.read() }
        device.change { $0.lock = .unlocked }
        NotificationCenter.default.post(name: Notification.Name(notification), object: nil)
        while changes.all.isEmpty { usleep(100) }
        #expect(changes.all == ["stored"])
        #expect(token.value == "stored")
        observation.cancel()
    }

    /// A secret for the foreground and one for the background, which the device doesn't lock.
    @Test(.timeLimit(.minutes(1)))
    func lockedItemIsUnavailableByItselfAndComesBack() async throws {
        device.change {
            $0.insert("background", "one")
            $0.insert("foreground", "two", accessible: "ak")
            $0.lock = .locked
        }
        let store = makeStore()
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        let background = Preference<String?>("background", default: nil, in: store)
        let foreground = Preference<String?>("foreground", default: nil, in: store)
        #expect(try background.read() == "one")
        for _ in 1...2 { #expect(foreground.value == nil) }
        #expect(issues.all.filter { $0.code == .unavailable }.map(\.name) == ["foreground"])
        #expect(throws: PreferenceError.self) { try foreground.read() }
        await #expect(throws: PreferenceError.self) { try await foreground.write("lost") }
        await #expect(throws: PreferenceError.self) { try await foreground.update { $0 = ($0 ?? "") + "lost" } }
        try await background.write("changed")
        #expect(device.items.map { String(decoding: $0.data, as: UTF8.self) } == ["changed", "two"])
        let changes = Log<String?>()
        let observation = foreground.observe { changes.append($0.new) }
        device.change { $0.lock = .unlocked }
        NotificationCenter.default.post(name: DataProtection.unlocked, object: nil)
        while changes.all.isEmpty { usleep(100) }
        #expect(changes.all == ["two"])
        #expect(try foreground.read() == "two")
        observation.cancel()
    }

    @Test
    func valueThatWasReadStaysWhenTheDeviceIsLocked() async throws {
        device.change { $0.insert("foreground", "two", accessible: "ak") }
        let store = makeStore()
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        let foreground = Preference<String?>("foreground", default: nil, in: store)
        #expect(foreground.value == "two")
        device.change { $0.lock = .locked }
        try await store.load()
        #expect(try foreground.read() == "two")
        #expect(!issues.all.contains { $0.code == .unavailable })
        await #expect(throws: PreferenceError.self) { try await foreground.write("lost") }
        #expect(foreground.value == "two")
    }

    /// The value under the newer name counts, so the other one isn't missed.
    @Test
    func lockedItemUnderAFormerNameHidesNoValue() async throws {
        device.change {
            $0.insert("old", "locked", accessible: "ak")
            $0.lock = .locked
        }
        let store = makeStore()
        store.issueHandler = { _ in }
        let token = Preference<String?>("new", default: nil, .formerly("old"), in: store)
        #expect(throws: PreferenceError.self) { try token.read() }
        await #expect(throws: PreferenceError.self) { try await token.write("lost") }
        device.change { $0.insert("new", "open") }
        try await store.load()
        #expect(try token.read() == "open")
    }

    /// Otherwise what a user removed would come back with the unlock.
    @Test
    func lockedItemPreventsThatAllAreRemoved() {
        device.change {
            $0.insert("background", "one")
            $0.insert("foreground", "two", accessible: "ak")
            $0.lock = .locked
        }
        let store = makeStore()
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        store.removeAll()
        #expect(issues.all.contains { $0.code == .unavailable })
        #expect(device.items.count == 2)
        device.change { $0.lock = .unlocked }
        store.removeAll()
        #expect(device.items.isEmpty)
    }

    /// A store whose items can't be read is not a new one.
    @Test
    func migrationOfALockedItemIsNotDone() async throws {
        device.change {
            $0.insert("foreground", "two", accessible: "ak")
            $0.lock = .locked
        }
        let store = makeStore()
        store.issueHandler = { _ in }
        let steps = [PreferenceMigration(1) { $0.move(from: "foreground", to: "moved") }]
        await #expect(throws: PreferenceError.self) { try await store.migrate(to: 1, steps: steps) }
        #expect(device.items.map(\.account) == ["foreground"])
        device.change { $0.lock = .unlocked }
        try await store.migrate(to: 1, steps: steps)
        #expect(store["moved"] == "two")
    }
}
