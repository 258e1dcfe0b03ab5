public import Preferences

extension PreferenceStore {
    /// The store of the program's secrets in the system's keyring.
    ///
    ///     @Preference("apiToken", in: .keyring) var token: String?
    ///
    /// It belongs to the service named by `applicationIdentifier`, or by the bundle's identifier on Apple platforms; see
    /// `keyring(service:)`.
    public static let keyring = PreferenceStore.secret(
        "keyring",
        over: { () throws(PreferenceError) in keyring(service: try ownKeyringService()) }
    )

    /// Returns the store of a service's secrets in the system's keyring: the Keychain on Apple platforms; on Linux the Secret
    /// Service, which gnome-keyring, KWallet and KeePassXC offer.
    ///
    /// The same service gives the same store. A string is stored as its text, and any other value as its text in the preferences
    /// file.
    ///
    /// There is no fallback: if there is no keyring, or if it is locked and the user doesn't unlock it, a write throws
    /// `unavailable` with what to do, and reads give defaults and report the cause. Each call of the keyring may take 5 seconds, and 60
    /// while the system asks the user to unlock it. Opening the store, a write and `load()` may ask; other reads don't.
    ///
    /// A change by another program is seen by a read 5 seconds after the keyring was last read, or after `load()`. `update` and
    /// transactions read the keyring and then write: they are atomic in this process, but a change that another process makes
    /// in between is overwritten. Several changes are stored one by one; if one fails, those before it are rolled back.
    ///
    /// - Parameter service: The name of the secrets' owner, such as `com.example.app`; if it is empty or has a NUL character, each use
    ///   throws `invalidName`.
    public static func keyring(service: String) -> PreferenceStore {
        keyring(service: service, limits: KeyringLimits())
    }

    /// Returns the store of a service; the first call for a service decides the limits and the library.
    package static func keyring(service: String, limits: KeyringLimits, library: String? = nil) -> PreferenceStore {
        .secret(
            "keyring." + service,
            backend: { () throws(PreferenceError) in
                try checkKeyringService(service)
                return KeyringBackend(try systemKeyring(service: service, library: library), limits: limits)
            }
        )
    }
}

/// Throws if a service can't have the name.
func checkKeyringService(_ service: String) throws(PreferenceError) {
    guard !service.isEmpty, !service.utf8.contains(0) else {
        throw PreferenceError(
            .invalidName,
            "\"\(service)\" can't be the service of a keyring, as it is empty or has a NUL character; nothing was changed. "
                + "Use a name such as com.example.app"
        )
    }
}

#if !canImport(Security)
/// Returns the service of `.keyring`: the program's name.
func ownKeyringService() throws(PreferenceError) -> String { try ApplicationIdentifier.fix() }
#endif

#if !os(Linux) && !canImport(Security)
/// Throws, because the platform has no keyring.
func systemKeyring(service: String, library: String?) throws(PreferenceError) -> any Keyring {
    throw PreferenceError(.unavailable, "this platform has no keyring that the library can reach; nothing was changed")
}
#endif
