#if canImport(Security)
public import Preferences

extension PreferenceStore {
    /// When a device lets the program read a secret of the Keychain, and whether a backup carries it to another device.
    public enum KeychainAccessibility: Sendable, Hashable, CaseIterable {
        /// While the device is unlocked; an encrypted backup carries it to another device.
        case whenUnlocked
        /// From the first unlock after a restart on, also while the device is locked; an encrypted backup carries it to another
        /// device.
        case afterFirstUnlock
        /// As `whenUnlocked`, but it never leaves the device.
        case whenUnlockedThisDeviceOnly
        /// As `afterFirstUnlock`, but it never leaves the device.
        case afterFirstUnlockThisDeviceOnly
        /// As `whenUnlockedThisDeviceOnly`, on a device with a passcode; the system removes the item when the user removes the
        /// passcode.
        case whenPasscodeSetThisDeviceOnly

        fileprivate var isThisDeviceOnly: Bool { self != .whenUnlocked && self != .afterFirstUnlock }
    }

    /// Returns the secrets of a service in Apple's Keychain, as `keyring(service:)` does, with options.
    ///
    ///     @Preference("apiToken", in: .keyring(service: "com.example.app", isSynchronizable: true)) var token: String?
    ///
    /// One service with the same options is one store. Apple's platforms only; the other `keyring` stores use the defaults.
    ///
    /// - Parameters:
    ///   - service: Names the program, or the programs that share the items, as `com.example.app`.
    ///   - accessibility: When the program may read what the store writes. An item that is there gets it with its next value.
    ///   - accessGroup: The group of programs that share the items, with the team's prefix; the program needs the entitlement.
    ///     Unless given, items of all its groups are read, and new ones are of its first group.
    ///   - isSynchronizable: Whether iCloud carries the items to the user's other devices; a removal removes them there too. They
    ///     are other items than those without it. An accessibility whose name ends with `ThisDeviceOnly` can't be synchronized;
    ///     the two together trap.
    public static func keyring(
        service: String,
        accessibility: KeychainAccessibility = .afterFirstUnlock,
        accessGroup: String? = nil,
        isSynchronizable: Bool = false
    ) -> PreferenceStore {
        precondition(
            !isSynchronizable || !accessibility.isThisDeviceOnly,
            "the accessibility .\(accessibility) can't be synchronized; use .afterFirstUnlock or .whenUnlocked"
        )
        let keychain = Keychain(
            service: service,
            accessibility: accessibility,
            accessGroup: accessGroup,
            isSynchronizable: isSynchronizable
        )
        var name = "keyring." + service
        // With the default options it is the store of `keyring(service:)`; a NUL is in no service's name.
        if accessibility != .afterFirstUnlock || accessGroup != nil || isSynchronizable {
            name += "\0\(accessibility)\0\(isSynchronizable)\0\(accessGroup ?? "")"
        }
        return .secret(name) { () throws(PreferencesError) in
            try checkKeyringService(service)
            return KeyringBackend(keychain)
        }
    }
}
#endif
