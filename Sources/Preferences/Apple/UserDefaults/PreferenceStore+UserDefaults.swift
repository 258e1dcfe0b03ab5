#if canImport(Darwin) || STANDINS
internal import Foundation

extension PreferenceStore {
    convenience init(
        _ defaults: SharedUserDefaults,
        protection: DataProtection = .none,
        sizeLimit: UserDefaultsSizeLimit = .platform,
        observer: @escaping UserDefaultsBackend.MakeObserver
    ) {
        // One backend for all tries to load it: after one that failed it waits for the device to be unlocked.
        self.init(
            backend: UserDefaultsBackend(defaults, protection: protection, sizeLimit: sizeLimit, observer: observer)
        )
    }

    /// The user defaults that take this store's writes, if any do.
    var userDefaults: UserDefaults? {
        (resolved.core.preparedLayers().writable?.backend as? UserDefaultsBackend)?.defaults.object
    }
}
#endif
