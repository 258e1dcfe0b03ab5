import Foundation
import Testing

@testable import Preferences

/// The configuration of an administrator, above the user's own values.
struct ManagedConfigurationTests {
    private let defaults = ObservableDefaults()
    private let name = "com.apple.configuration.managed"

    private func configure(_ values: [String: Any]?) {
        if let values {
            defaults.set(values, forKey: name)
        } else {
            defaults.removeObject(forKey: name)
        }
    }

    private func makeStore(_ protection: DataProtection = .none) -> PreferenceStore {
        var shared = defaults.shared
        shared.configuration = name
        return PreferenceStore(
            UserDefaultsBackend(shared, protection: protection, runLater: { $1() }) {
                [watch = defaults.watch] _, deliver in
                watch.observer(deliver)
            }
        )
    }

    private func checkManaged(_ preference: Preference<String>) {
        #expect(preference.isManaged)
        let error = #expect(throws: PreferenceError.self) { try preference.write("own") }
        #expect(error?.code == .managed)
    }

    @Test
    func configuredValueIsManagedAndFollowsTheAdministrator() {
        configure(["server": "https://example.com", "limits": ["size": 5]])
        let store = makeStore()
        let server = Preference("server", default: "none", in: store)
        let changes = Log<[String]>()
        let observation = server.observe { changes.append([$0.old, $0.new]) }
        #expect(server.value == "https://example.com")
        #expect(store["limits"] == ["size": 5])
        checkManaged(server)
        configure(["server": "https://example.org"])
        #expect(server.value == "https://example.org")
        #expect(store["limits"] == nil)
        configure(nil)
        #expect(!server.isManaged)
        server.value = "own"
        #expect(
            changes.all == [
                ["https://example.com", "https://example.org"], ["https://example.org", "none"], ["none", "own"],
            ]
        )
        observation.cancel()
    }

    /// Before the first unlock user defaults seem to be empty, so an administrator's values seem to be absent.
    @Test(arguments: [false, true])
    func configurationIsNotReadBeforeTheDeviceIsUnlocked(isNotified: Bool) {
        configure(["server": "https://example.com"])
        let isLocked = Lock(true)
        let before = defaults.watch.reads
        let store = makeStore(DataProtection { isLocked.withLock { $0 } })
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        let server = Preference("server", default: "none", in: store)
        let changes = Log<String>()
        let observation = server.observe { changes.append($0.new) }
        #expect(server.value == "none")
        #expect(server.isManaged)
        #expect(throws: PreferenceError.self) { try server.write("own") }
        #expect(defaults.watch.reads == before)
        isLocked.withLock { $0 = false }
        if isNotified { NotificationCenter.default.post(name: DataProtection.unlocked, object: nil) }
        checkManaged(server)
        #expect(server.value == "https://example.com")
        while changes.all.isEmpty { usleep(1_000) }
        #expect(changes.all == ["https://example.com"])
        #expect(defaults.object(forKey: "server") == nil)
        #expect(Set(issues.all.map(\.code)) == [.unavailable])
        observation.cancel()
    }
}
