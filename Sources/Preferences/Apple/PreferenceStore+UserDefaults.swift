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
        self.init(
            UserDefaultsBackend(defaults, protection: protection, sizeLimit: sizeLimit, observer: observer)
        )
    }

    /// Creates a store over a backend of user defaults, and the arguments that they show above their values.
    convenience init(_ backend: UserDefaultsBackend, arguments: Layer? = nil) {
        self.init((arguments.map { [$0] } ?? []) + Layer.userDefaults(backend), issues: IssueReporter())
    }

    /// Returns the name under which user defaults hold a preference's value.
    func userDefaultsName(of name: String) -> String {
        resolved.core.writable?.key(name) ?? name
    }

    /// The user defaults to which this store writes, even if they can't be read yet; `nil` if it writes to another backend.
    var userDefaults: UserDefaults? {
        (resolved.core.target?.backend as? UserDefaultsBackend)?.defaults.object
    }

    /// Returns whether an object is the user defaults to which this store writes.
    package func isOver(_ defaults: AnyObject) -> Bool { userDefaults === defaults }
}
#endif

#if canImport(ObjectiveC)
extension PreferenceStore {
    /// Returns a new store over user defaults: those of a suite, or the standard ones.
    ///
    /// Each call creates a store with its own cache. Only names that were declared, or set by this store, are listed
    /// and observed, not the values that the system or other code keeps there. Observers are notified of changes by other code on
    /// the thread on which user defaults report them. Changes that key-value observing doesn't report (of names with a dot or a
    /// leading `@`, and removed domains) are delivered soon, on a thread of the library. In a program without a main run loop,
    /// changes by another process are seen by `update`, by transactions, and after the next change of any user defaults in this
    /// process. Values from `register(defaults:)` and of the domain of all programs are a weaker layer. The name of the domain isn't
    /// known, so a value that equals that layer's counts as stored only if this store has set it. When a set returns, the value is in
    /// user defaults, unless another thread is setting a value at that time.
    public static func userDefaults(_ defaults: UserDefaults) -> PreferenceStore {
        let shared = SharedUserDefaults(defaults, of: defaults === UserDefaults.standard ? .standard : .unknown)
        return PreferenceStore(
            UserDefaultsBackend(shared, observer: KeyValueObserver.make),
            arguments: .arguments(above: shared)
        )
    }
}

extension KeyValueObserver {
    static let make: UserDefaultsBackend.MakeObserver = { KeyValueObserver(of: $0, $1) }
}
#endif

#if !canImport(Darwin) && !STANDINS
extension PreferenceStore {
    /// Returns false: no store writes to user defaults on this platform.
    package func isOver(_ defaults: AnyObject) -> Bool { false }
}
#endif
