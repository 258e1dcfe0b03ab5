#if canImport(Security)
public import Preferences

extension PreferenceStore {
    /// The time when a device lets the program read a secret of the Keychain, and whether a backup transfers it to another device.
    public enum KeychainAccessibility: Sendable, Hashable, CaseIterable {
        /// While the device is unlocked; an encrypted backup transfers it to another device.
        case whenUnlocked
        /// After the first unlock since a restart, even while the device is locked; an encrypted backup transfers it to another
        /// device.
        case afterFirstUnlock
        /// Like `whenUnlocked`, but the secret never leaves the device.
        case whenUnlockedThisDeviceOnly
        /// Like `afterFirstUnlock`, but the secret never leaves the device.
        case afterFirstUnlockThisDeviceOnly
        /// Like `whenUnlockedThisDeviceOnly`, on a device with a passcode; the system removes the item when the user removes the
        /// passcode.
        case whenPasscodeSetThisDeviceOnly

        fileprivate var isThisDeviceOnly: Bool { self != .whenUnlocked && self != .afterFirstUnlock }
    }

    /// Returns the store of a service's secrets in Apple's Keychain, like `keyring(service:)`, with options.
    ///
    ///     @Preference("apiToken", in: .keyring(service: "com.example.app", isSynchronizable: true)) var token: String?
    ///
    /// The same service and options give the same store. Only on Apple platforms; the other `keyring` stores use the defaults.
    ///
    /// - Parameters:
    ///   - service: The name of the program, or of the programs that share the items, such as `com.example.app`.
    ///   - accessibility: When the program can read the values that the store writes. An existing item gets it with its next value.
    ///   - accessGroup: The group of programs that share the items, with the team's prefix; the program needs the entitlement. By
    ///     default, the items of all the program's groups are read, and new ones are added to its first group.
    ///   - isSynchronizable: Whether iCloud synchronizes the items with the user's other devices; a removal removes them there, too.
    ///     Items with and without it are separate. An accessibility whose name ends with `ThisDeviceOnly` can't be synchronized;
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
        // With the default options this is the store of `keyring(service:)`; no service's name contains a NUL.
        if accessibility != .afterFirstUnlock || accessGroup != nil || isSynchronizable {
            name += "\0\(accessibility)\0\(isSynchronizable)\0\(accessGroup ?? "")"
        }
        return .secret(name) { () throws(PreferenceError) in
            try checkKeyringService(service)
            return KeyringBackend(keychain)
        }
    }
}
#endif
