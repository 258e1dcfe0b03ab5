public import Preferences

extension PreferenceStore {
    /// The program's secrets in the system's keyring.
    ///
    ///     @Preference("apiToken", in: .keyring) var token: String?
    ///
    /// The store of the service that is named by `applicationIdentifier`, on Apple's platforms by the bundle's identifier; see
    /// `keyring(service:)`.
    public static let keyring = PreferenceStore.secret(
        "keyring",
        over: { () throws(PreferencesError) in keyring(service: try ownKeyringService()) }
    )

    /// Returns the store of a service's secrets in the system's keyring: the Keychain of Apple's platforms; on Linux the Secret
    /// Service, which gnome-keyring, KWallet and KeePassXC offer.
    ///
    /// One service gives one store. An item's value is the text of a string, and of any other value its text in the preferences
    /// file.
    ///
    /// There is never a fallback: if there is no keyring, or if it is locked and the user doesn't unlock it, a write throws
    /// `unavailable` with what to do, and reads give defaults and report the cause. Each call of the keyring has 5 seconds, and 60
    /// while the system asks the user to unlock it. Opening the store, a write, `load()` and `refresh()` may ask; other reads don't.
    ///
    /// A change by another program is seen by a read 5 seconds after the last look at the keyring, or after `refresh()`. `update` and
    /// transactions look at the keyring and then write: they are atomic in this process, but a change that another process makes
    /// in between is overwritten. Several changes are stored one by one, and those that were stored are taken back if one fails.
    ///
    /// - Parameter service: Names the secrets' owner, such as `com.example.app`; not empty and without NUL characters, or each use
    ///   throws `invalidName`.
    public static func keyring(service: String) -> PreferenceStore {
        keyring(service: service, limits: KeyringLimits())
    }

    /// Returns the store of a service; with other limits and another library if it is the first call for the service.
    package static func keyring(service: String, limits: KeyringLimits, library: String? = nil) -> PreferenceStore {
        .secret(
            "keyring." + service,
            backend: { () throws(PreferencesError) in
                try checkKeyringService(service)
                return KeyringBackend(try systemKeyring(service: service, library: library), limits: limits)
            }
        )
    }
}

/// Throws if a service can't have the name.
func checkKeyringService(_ service: String) throws(PreferencesError) {
    guard !service.isEmpty, !service.utf8.contains(0) else {
        throw PreferencesError(
            .invalidName,
            "\"\(service)\" can't be the service of a keyring, as it is empty or has a NUL character; nothing was changed. "
                + "Use a name such as com.example.app"
        )
    }
}

#if !canImport(Security)
/// Returns the service of `.keyring`: the program's name.
func ownKeyringService() throws(PreferencesError) -> String { try ApplicationIdentifier.fix() }
#endif

#if !os(Linux) && !canImport(Security)
/// Throws, as the platform has no keyring.
func systemKeyring(service: String, library: String?) throws(PreferencesError) -> any Keyring {
    throw PreferencesError(.unavailable, "this platform has no keyring that the library can reach; nothing was changed")
}
#endif
