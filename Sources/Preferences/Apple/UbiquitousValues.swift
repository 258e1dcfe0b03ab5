#if canImport(Darwin)
internal import Foundation

/// iCloud's key-value store of this app.
struct UbiquitousValues: CloudValues, @unchecked Sendable {  // the store there is one for all threads
    private let store = NSUbiquitousKeyValueStore.default

    var contents: [String: Any] { store.dictionaryRepresentation }

    func set(_ object: Any?, for name: String) {
        if let object {
            store.set(object, forKey: name)
        } else {
            store.removeObject(forKey: name)
        }
    }

    func synchronize() -> Bool { store.synchronize() }

    func observe(_ body: @escaping @Sendable (CloudChange) -> Void) -> any AnyObject & Sendable {
        NotificationObserver(of: NSUbiquitousKeyValueStore.didChangeExternallyNotification) { notification in
            switch notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int {
            case NSUbiquitousKeyValueStoreQuotaViolationChange: body(.quotaExceeded)
            case NSUbiquitousKeyValueStoreAccountChange: body(.accountChanged)
            default: body(.values)
            }
        }
    }
}

extension PreferenceStore {
    /// The app's values in iCloud, which the user's other devices show too.
    ///
    /// A set is on this device at once and reaches the others when the system sees fit. Theirs come as changes from
    /// outside, also the first ones after an installation; where two set one name the cloud decides. At most 1,024
    /// names of up to 64 bytes, and 1 MB together: what is more is refused. Where the cloud has no room, or the account
    /// changes, the issue handler is told. The app needs the key-value entitlement of iCloud. Inside
    /// `withIsolatedStores` a store in memory takes its place.
    public static func ubiquitous() -> PreferenceStore { cloud }

    private static let cloud: PreferenceStore = {
        let source = Source(CloudBackend(UbiquitousValues()))
        let store = PreferenceStore(Layer(source: source), standIn: .memory(isStandard: false))
        SharedStores.register(layered: store)
        return store
    }()
}
#endif
