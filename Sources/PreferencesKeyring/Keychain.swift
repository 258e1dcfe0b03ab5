#if canImport(Security)
internal import Foundation
internal import Preferences
internal import Security

/// Returns the keyring of a service with the default options.
func systemKeyring(service: String, library: String?) throws(PreferenceError) -> any Keyring {
    Keychain(service: service)
}

/// Returns the service of `.keyring`: the bundle's identifier, or the program's name without a bundle.
func ownKeyringService() throws(PreferenceError) -> String {
    if let identifier = Bundle.main.bundleIdentifier { identifier } else { try ApplicationIdentifier.fix() }
}

/// The generic passwords of a service in Apple's Keychain; a preference's name is the item's account.
///
/// A store with `isSynchronizable` has the items that iCloud synchronizes, and any other store those that it doesn't; with the same
/// service and account these are two items. Without an access group, the items of all the program's groups are read. Of several items
/// with one account, the one modified last counts; a set changes all of them, and a removal removes all.
struct Keychain: Keyring {
    let service: String
    var accessibility = PreferenceStore.KeychainAccessibility.afterFirstUnlock
    var accessGroup: String?
    var isSynchronizable = false
    /// The test whether the device was not unlocked since it started.
    var protection = DataProtection.domain(Bundle.main.bundleIdentifier)

    /// Returns the items, each read by itself: one that is locked, as its accessibility differs, doesn't hide the others.
    func items(_ call: KeyringCall) throws(PreferenceError) -> KeyringItems {
        let search = query()
        search[kSecMatchLimit] = kSecMatchLimitAll
        search[kSecReturnAttributes] = true
        var newest: [String: NSDictionary] = [:]
        for item in try copy(search) as? [NSDictionary] ?? [] {
            guard let name = item[kSecAttrAccount] as? String else { continue }
            if let other = newest[name], modificationDate(of: other) >= modificationDate(of: item) { continue }
            newest[name] = item
        }
        // Also if some are found: others may be hidden.
        try checkFirstUnlock()
        // One at a time: "You can't combine the kSecReturnData and kSecMatchLimitAll options when copying password items", says the
        // documentation of SecItemCopyMatching.
        var items = KeyringItems()
        for (name, item) in newest {
            let search = query(name)
            search[kSecAttrAccessGroup] = item[kSecAttrAccessGroup]
            search[kSecReturnData] = true
            var data: CFTypeRef?
            switch SecItemCopyMatching(search, &data) {
            case errSecSuccess: if let data = data as? Data { items.bytes[name] = Array(data) }
            // Another process has removed the item.
            case errSecItemNotFound: try checkFirstUnlock()
            case errSecInteractionNotAllowed: items.locked[name] = error(errSecInteractionNotAllowed)
            case let status: throw error(status)
            }
        }
        return items
    }

    func observeUnlocking(_ body: @escaping @Sendable () -> Void) -> (any Sendable)? {
        DataProtection.observeUnlocking(body)
    }

    /// Throws if the device was not unlocked since it started: an item that isn't found may exist then.
    private func checkFirstUnlock() throws(PreferenceError) {
        if try protection.isLocked() { throw error(errSecInteractionNotAllowed) }
    }

    func set(_ bytes: [UInt8]?, for name: String, _ call: KeyringCall) throws(PreferenceError) {
        guard call.beginWriting() else { throw .keyringLate }
        let status = bytes.map { store(Data($0), for: name) } ?? SecItemDelete(query(name))
        switch status {
        case errSecSuccess: break
        case errSecItemNotFound where bytes == nil: break
        // The connection to the Keychain's process broke; it may have stored the item before.
        case errSecNotAvailable: throw .keyringOutcomeUnknown(text(of: status))
        default: throw error(status)
        }
    }

    private func store(_ data: Data, for name: String) -> OSStatus {
        let query = query(name)
        let values = NSMutableDictionary()
        values[kSecValueData] = data
        // Also updates the accessibility, as the item may be of a version of the program with another option.
        values[kSecAttrAccessible] = accessibility.attribute
        let status = SecItemUpdate(query, values)
        guard status == errSecItemNotFound else { return status }
        let item = self.query(name)
        item[kSecValueData] = data
        item[kSecAttrAccessible] = accessibility.attribute
        let added = SecItemAdd(item, nil)
        // Another process has added the item in between.
        return added == errSecDuplicateItem ? SecItemUpdate(query, values) : added
    }

    /// Returns the result of a search, or `nil` if it finds nothing.
    private func copy(_ search: NSMutableDictionary) throws(PreferenceError) -> CFTypeRef? {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(search, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw error(status) }
        return result
    }

    /// Returns the class and primary keys of the store's items, or of one of them.
    private func query(_ name: String? = nil) -> NSMutableDictionary {
        let query = NSMutableDictionary()
        query[kSecClass] = kSecClassGenericPassword
        // Otherwise macOS uses the file-based keychain, which has no access groups and no accessibility; other platforms ignore this.
        query[kSecUseDataProtectionKeychain] = true
        query[kSecAttrService] = service
        query[kSecAttrSynchronizable] = isSynchronizable
        query[kSecAttrAccount] = name
        query[kSecAttrAccessGroup] = accessGroup
        return query
    }

    private func modificationDate(of item: NSDictionary) -> Date {
        item[kSecAttrModificationDate] as? Date ?? .distantPast
    }

    private func error(_ status: OSStatus) -> PreferenceError {
        switch status {
        case errSecInteractionNotAllowed:
            PreferenceError(
                .unavailable,
                "the Keychain is locked; nothing was changed. Try again when the device is unlocked; a secret that is read in the "
                    + "background needs the accessibility .afterFirstUnlock"
            )
        case errSecMissingEntitlement:
            PreferenceError(
                .unavailable,
                "the program is not entitled to the Keychain's access group \(accessGroup ?? "of its own"); nothing was changed. "
                    + "Sign it with an application identifier or the entitlement keychain-access-groups"
            )
        case errSecAuthFailed where accessibility == .whenPasscodeSetThisDeviceOnly:
            PreferenceError(
                .unavailable,
                "the device has no passcode, which the accessibility .whenPasscodeSetThisDeviceOnly needs; nothing was changed. "
                    + "Set one, or choose another accessibility"
            )
        case errSecUserCanceled:
            PreferenceError(
                .unavailable,
                "the Keychain's dialog was cancelled; nothing was changed. Try again, and confirm it"
            )
        default:
            PreferenceError(
                .unavailable,
                "the Keychain failed with the \(text(of: status)); nothing was changed. Try again"
            )
        }
    }

    private func text(of status: OSStatus) -> String {
        "status \(status)" + (SecCopyErrorMessageString(status, nil).map { ": \($0)" } ?? "")
    }
}

extension PreferenceStore.KeychainAccessibility {
    fileprivate var attribute: CFString {
        switch self {
        case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
        case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        }
    }
}
#endif
