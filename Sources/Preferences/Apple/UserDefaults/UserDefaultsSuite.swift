#if canImport(Darwin) || STANDINS
internal import Foundation

/// Which names a suite of user defaults can have.
enum UserDefaultsSuite {
    /// Throws for the program's own domain and for that of all programs, over which no `UserDefaults` can be made.
    static func check(_ name: String, ownDomain: String?) throws(PreferencesError) {
        if name == ownDomain {
            throw PreferencesError(
                .invalidName,
                "\"\(name)\" can't name a suite: it is the program's own identifier; use PreferenceStore.standard"
            )
        }
        if name == UserDefaults.globalDomain {
            throw PreferencesError(
                .invalidName,
                "\"\(name)\" can't name a suite: it holds the settings of all programs; use a name of your own"
            )
        }
    }
}
#endif
