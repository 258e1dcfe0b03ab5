#if canImport(Darwin) || STANDINS
internal import Foundation

/// A test whether the file behind user defaults can't be read yet.
///
/// Between its start and the first unlocking, a device keeps the file encrypted. A program that is launched in that time
/// reads nil for everything, and its writes replace the contents of the file. The system has no API to ask for that state, so
/// the file itself is tried: one that exists and can't be opened is locked.
package struct DataProtection: Sendable {
    /// Returns whether it is so; throws if that can't be told.
    package let isLocked: @Sendable () throws(PreferenceError) -> Bool

    /// Throws if it is so, or if that can't be told.
    func checkUnlocked() throws(PreferenceError) {
        guard try isLocked() else { return }
        throw PreferenceError(
            .unavailable,
            "the device was not unlocked since it started, so user defaults can't be read yet and nothing is written to them; "
                + "try again later"
        )
    }

    /// No test: for defaults whose file isn't known or is never locked.
    static let none = DataProtection { false }

    /// Tests the file that holds the defaults; a file that doesn't exist isn't locked.
    static func file(at path: String) -> DataProtection {
        DataProtection { () throws(PreferenceError) in try isLocked(path) }
    }

    /// Tests the file of a suite; the container's path is looked up only when it is needed, and only for an app group.
    static func suite(_ name: String, container: @escaping @Sendable (String) -> URL?) -> DataProtection {
        // On devices that can be locked, the name of every app group begins so.
        guard name.hasPrefix("group.") else { return .domain(name) }
        return DataProtection { () throws(PreferenceError) in
            guard let folder = container(name) else { return false }
            return try isLocked(folder.path + preferences(name))
        }
    }

    /// `UIApplication.protectedDataDidBecomeAvailableNotification`, by name, as not every process may use UIKit.
    static let unlocked = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")

    /// Calls `body` when protected data becomes available and when the program becomes active, on the thread that posts the
    /// notification, until the result is released.
    package static func observeUnlocking(_ body: @escaping @Sendable () -> Void) -> any Sendable {
        ([unlocked] + NotificationObserver.becameActive).map { NotificationObserver(of: $0) { _ in body() } }
    }

    private static func isLocked(_ path: String) throws(PreferenceError) -> Bool {
        do throws(FileSystemError) { _ = try FileSystem.system.open(path, for: .reading) } catch {
            return try isLocked(after: error)
        }
        return false
    }

    /// Returns whether a file that could not be opened is locked; throws if the error has another cause, such as too many open files.
    static func isLocked(after error: FileSystemError) throws(PreferenceError) -> Bool {
        if error.isMissing { return false }
        if error.code == EPERM || error.code == EACCES { return true }
        throw PreferenceError(
            .unavailable,
            "whether the device was unlocked since it started can't be tested, so nothing was read or changed: \(error). "
                + "If too many files are open, close some, and try again"
        )
    }

    private static func preferences(_ domain: String) -> String { "/Library/Preferences/\(domain).plist" }

    #if os(macOS) || targetEnvironment(macCatalyst)
    // A Mac is unlocked before any program of the user starts. And looking up a group's container may ask the user whether
    // the program may access other programs' data.
    /// Returns no test.
    package static func domain(_ domain: String?) -> DataProtection { .none }
    /// Returns no test.
    static func suite(_ name: String) -> DataProtection { .none }
    #else
    /// Tests the file of one of the program's own domains.
    package static func domain(_ domain: String?) -> DataProtection {
        domain.map { .file(at: NSHomeDirectory() + preferences($0)) } ?? .none
    }

    /// Tests the file of a suite; the container is that of the app group.
    static func suite(_ name: String) -> DataProtection {
        #if canImport(Darwin)
        suite(name) { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) }
        #else
        suite(name) { _ in nil }
        #endif
    }
    #endif
}
#endif
