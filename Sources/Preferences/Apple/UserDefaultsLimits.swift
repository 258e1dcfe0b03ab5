#if canImport(Darwin) || STANDINS
internal import Foundation

/// The size limit of the values of one user defaults domain.
///
/// The store counts only the names that it uses, and their sizes are estimates: the system may count more.
struct UserDefaultsSizeLimit: Sendable {
    /// The limit, in bytes.
    let limit: Int

    func check(_ size: Int) throws(PreferenceError) {
        guard size > limit else { return }
        throw PreferenceError(
            .tooLarge,
            "the values would take about \(size) bytes, but user defaults hold at most \(limit) here; nothing was changed. "
                + "Keep large values in files"
        )
    }

    /// Returns whether the size is near the limit and a warning is due.
    func isNear(_ size: Int) -> Bool { size > limit / 4 * 3 }

    func warning(_ size: Int) -> PreferenceError {
        PreferenceError(
            .tooLarge,
            "the values take about \(size) bytes, and user defaults hold at most \(limit) here; keep large values in files"
        )
    }
}

extension UserDefaultsSizeLimit {
    #if os(tvOS)
    /// At this size, tvOS warns by `sizeLimitExceededNotification`; at 1 MB it ends the program.
    static let platform = UserDefaultsSizeLimit(limit: 512 * 1024)
    #elseif os(watchOS)
    static let platform = UserDefaultsSizeLimit(limit: 1024 * 1024)
    #else
    /// "Attempting to store >= 4194304 bytes of data in CFPreferences/NSUserDefaults on this platform is invalid", says
    /// the system's log.
    static let platform = UserDefaultsSizeLimit(limit: 4 * 1024 * 1024)
    #endif
}

/// The names that a suite of user defaults can have.
package enum UserDefaultsSuite {
    /// Throws for the program's own domain and the domain of all programs, for which no `UserDefaults` can be created.
    package static func check(_ name: String, ownDomain: String?) throws(PreferenceError) {
        // The constants of CFPreferences name these domains, too.
        if name == ownDomain || name == "kCFPreferencesCurrentApplication" {
            throw PreferenceError(
                .invalidName,
                "\"\(name)\" can't name a suite: it is the program's own identifier; use PreferenceStore.standard"
            )
        }
        if name == UserDefaults.globalDomain || name == "kCFPreferencesAnyApplication" {
            throw PreferenceError(
                .invalidName,
                "\"\(name)\" can't name a suite: it holds the settings of all programs; use a name of your own"
            )
        }
    }
}
#endif
