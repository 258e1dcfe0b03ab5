import Foundation
import Testing

@testable import Preferences

/// Devices that were not unlocked since they started.
struct DataProtectionTests {
    private let defaults = ObservableDefaults()

    @Test
    func nothingIsReadOrWrittenBeforeTheDeviceIsUnlocked() {
        defaults.set(7, forKey: "n")
        let isLocked = Lock(true)
        let store = defaults.store(protection: DataProtection { isLocked.withLock { $0 } })
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        let preference = Preference("n", default: 0, in: store)
        let changes = Log<Int>()
        let observation = preference.observe { changes.append($0.new) }
        #expect(preference.value == 0)
        #expect(throws: PreferenceError.self) { try preference.update { $0 += 1 } }
        #expect(throws: PreferenceError.self) { try preference.write(1) }
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

    /// A widget or an extension has no application, and isn't notified when the device is unlocked.
    @Test
    func readsFindTheValuesOnceTheDeviceIsUnlockedWithoutANotification() throws {
        defaults.set(7, forKey: "n")
        defaults.set(8, forKey: "other")
        let isLocked = Lock(true)
        let store = defaults.store(protection: DataProtection { isLocked.withLock { $0 } })
        let issues = Log<PreferenceError>()
        store.issueHandler = { issues.append($0) }
        let preference = Preference("n", default: 0, in: store)
        let other = Preference("other", default: 0, in: store)
        let changes = Log<Int>()
        let observation = other.observe { changes.append($0.new) }
        #expect(preference.value + preference.value + other.value == 0)
        #expect(issues.all.map(\.code) == [.unavailable])
        isLocked.withLock { $0 = false }
        #expect(preference.value == 7)
        while changes.all.isEmpty { usleep(100) }
        #expect(changes.all == [8])
        #expect(other.value == 8)
        try preference.update { $0 += 1 }
        #expect(defaults.integer(forKey: "n") == 8)
        observation.cancel()
    }

    @Test
    func firstWriteAfterTheUnlockingReadsTheStoredValues() throws {
        defaults.set(7, forKey: "n")
        let isLocked = Lock(true)
        let store = defaults.store(protection: DataProtection { isLocked.withLock { $0 } })
        store.issueHandler = { _ in }
        let preference = Preference("n", default: 0, in: store)
        #expect(preference.value == 0)
        isLocked.withLock { $0 = false }
        try preference.update { $0 += 1 }
        #expect(preference.value == 8)
    }

    @Test
    func containerIsAskedForWhenItIsNeededAndForAppGroupsAlone() throws {
        let asked = Log<String>()
        let protections = ["com.example.suite", "group.example"].map { name in
            DataProtection.suite(name) { group in
                asked.append(group)
                return nil
            }
        }
        #expect(asked.all == [])
        for protection in protections { #expect(try !protection.isLocked()) }
        #expect(asked.all == ["group.example"])
    }

    @Test
    func fileThatIsThereAndCanNotBeOpenedForAnotherReasonIsReported() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let file = folder.appending(path: "defaults.plist")
        let protection = DataProtection.file(at: file.path)
        #expect(try !protection.isLocked())
        try Data().write(to: file)
        #expect(try !protection.isLocked())
        // Opening a socket's file fails for all users, including root.
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
        do throws(PreferenceError) {
            _ = try protection.isLocked()
            Issue.record("a socket was opened")
        } catch {
            #expect(error.code == .unavailable)
            #expect(error.message.contains("open \(file.path): No such device or address"))
        }
    }

    /// A program with too many open files is not one on a locked device.
    @Test
    func onlyAFileThatMayNotBeOpenedIsLocked() throws {
        func isLocked(_ code: Int32) throws(PreferenceError) -> Bool {
            try DataProtection.isLocked(after: FileSystemError(call: "open", path: "/defaults.plist", code: code))
        }
        #expect(try isLocked(EPERM) && isLocked(EACCES))
        #expect(try !isLocked(ENOENT))
        #expect(throws: PreferenceError.self) { try isLocked(EMFILE) }
        #expect(throws: PreferenceError.self) { try isLocked(EIO) }
    }
}
