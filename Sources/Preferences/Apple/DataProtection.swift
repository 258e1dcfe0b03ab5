#if canImport(Darwin) || STANDINS
internal import Foundation

/// Whether the file behind user defaults can't be read yet.
///
/// Between its start and the first unlocking a device keeps the file encrypted. A program that is launched in that time
/// reads nil for everything, and what it writes replaces what is in the file. No interface tells of it, so the file
/// itself is tried: one that is there and can't be opened is locked.
struct DataProtection: Sendable {
    let isLocked: @Sendable () -> Bool

    /// For defaults whose file isn't known.
    static let none = DataProtection { false }

    /// By the file that holds the defaults; one that doesn't exist is not locked.
    static func file(at path: String) -> DataProtection {
        DataProtection {
            guard FileManager.default.fileExists(atPath: path) else { return false }
            guard let file = FileHandle(forReadingAtPath: path) else { return true }
            withExtendedLifetime(file) {}
            return false
        }
    }

    /// `UIApplication.protectedDataDidBecomeAvailableNotification`, by its name, as not every process may use UIKit.
    static let unlocked = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")
}
#endif
