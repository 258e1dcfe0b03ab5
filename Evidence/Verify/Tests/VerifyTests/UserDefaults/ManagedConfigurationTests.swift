import DurableFile
import Foundation
import Testing

@testable import Preferences

/// The configuration of an administrator, above the user's own values.
struct ManagedConfigurationTests {
    private let defaults = ObservableDefaults()
    private let jobs = Log<@Sendable () -> Void>()

    private func configure(_ values: [String: Any]?) {
        if let values {
            defaults.set(values, forKey: ManagedConfigurationBackend.name)
        } else {
            defaults.removeObject(forKey: ManagedConfigurationBackend.name)
        }
        for job in jobs.all.suffix(1) { job() }
    }

    private func makeStore(_ protection: DataProtection = .none) -> PreferenceStore {
        let managed = ManagedConfigurationBackend(SharedUserDefaults(object: defaults), protection: protection) {
            [jobs] in
            jobs.append($1)
        }
        return .layered([PreferenceStore(.managed(Source(managed))), defaults.store(protection: protection)])
    }

    @Test
    func configuredValueIsManagedAndFollowsTheAdministrator() throws {
        configure(["server": "https://example.com", "limits": ["size": 5]])
        let store = makeStore()
        let server = Preference("server", default: "none", in: store)
        let changes = Log<[String]>()
        let observation = server.observe { changes.append([$0.old, $0.new]) }
        #expect(server.value == "https://example.com")
        #expect(server.isManaged)
        #expect(store["limits"] == ["size": 5])
        do throws(PreferenceError) {
            try server.write("own")
            Issue.record("a managed value was set")
        } catch {
            #expect(error.code == .managed)
        }
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
    func configurationIsNotReadBeforeTheDeviceIsUnlocked(isNotified: Bool) throws {
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
        for job in jobs.all.suffix(1) { job() }
        #expect(defaults.watch.reads == before)
        isLocked.withLock { $0 = false }
        // The configuration isn't read yet.
        #expect(throws: PreferenceError.self) { try server.write("own") }
        if isNotified { NotificationCenter.default.post(name: DataProtection.unlocked, object: nil) }
        for job in jobs.all.suffix(1) { job() }
        #expect(server.value == "https://example.com")
        #expect(changes.all == ["https://example.com"])
        do throws(PreferenceError) {
            try server.write("own")
            Issue.record("a managed value was set")
        } catch {
            #expect(error.code == .managed)
        }
        configure(["server": "https://example.org"])
        #expect(server.value == "https://example.org")
        #expect(defaults.object(forKey: "server") == nil)
        #expect(Set(issues.all.map(\.code)) == [.unavailable])
        observation.cancel()
    }

    /// A set of user defaults reads no configuration on its thread.
    @Test
    func manyNotificationsAreOneRead() {
        let store = makeStore()
        #expect(Preference("n", default: 0, in: store).value == 0)
        let before = defaults.watch.reads
        for value in 0..<60 { defaults.set(value, forKey: "unused") }
        #expect(jobs.all.count == 1)
        #expect(defaults.watch.reads <= before + 60)
        for job in jobs.all { job() }
        defaults.set(1, forKey: "unused")
        #expect(jobs.all.count == 2)
    }

    @Test
    func observerThatIsCalledByTheReadMayUseTheStore() {
        let store = makeStore()
        let preference = Preference("n", default: 0, in: store)
        #expect(preference.value == 0)
        let seen = Log<Int>()
        defaults.watch.onDelivery { _ in seen.append(preference.value) }
        defaults.setElsewhere(7, forKey: "n")
        configure(["other": 1])
        #expect(seen.all.contains(7))
        defaults.watch.onDelivery(nil)
    }
}
