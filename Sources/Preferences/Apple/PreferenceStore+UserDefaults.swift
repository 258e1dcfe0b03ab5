#if canImport(ObjectiveC)
public import Foundation
#elseif STANDINS
internal import Foundation
#endif

#if canImport(Darwin) || STANDINS
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

    /// The name under which the user defaults have a preference's value.
    func userDefaultsName(of name: String) -> String {
        resolved.core.layers.writableLayer?.spelled(name) ?? name
    }

    /// The user defaults that take this store's writes, if any do; also if they can't be read yet.
    var userDefaults: UserDefaults? {
        (resolved.core.layers.writable?.backend as? UserDefaultsBackend)?.defaults.object
    }

    /// Whether an object is the user defaults that take this store's writes.
    package func isOver(_ defaults: AnyObject) -> Bool { userDefaults === defaults }
}
#endif

#if canImport(ObjectiveC)
extension PreferenceStore {
    /// Makes a store over user defaults: those of a suite, or the standard ones.
    ///
    /// Each call makes a store with a cache of its own. Only names that were declared, or set by this store, are listed
    /// and observed, not what the system or others keep there. Observers hear of changes by other code on the thread on which
    /// user defaults tell of them, and of those that key-value observing doesn't tell of (names with a dot or a leading `@`,
    /// removed domains) soon, on a thread of the library. In a program without a main run loop, what another process changes
    /// is seen by `update`, by transactions, and after the next change of any user defaults in this one. Values that
    /// `register(defaults:)` gave count as stored. A set is in the defaults when it returns, unless another thread is setting
    /// just then.
    public static func userDefaults(_ defaults: UserDefaults) -> PreferenceStore {
        PreferenceStore(SharedUserDefaults(object: defaults), observer: KeyValueObserver.make)
    }
}

extension KeyValueObserver {
    static let make: UserDefaultsBackend.MakeObserver = { KeyValueObserver(of: $0, $1) }
}
#endif

#if !canImport(Darwin) && !STANDINS
extension PreferenceStore {
    /// Whether an object is the user defaults that take this store's writes: there are none such.
    package func isOver(_ defaults: AnyObject) -> Bool { false }
}
#endif
