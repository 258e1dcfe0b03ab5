#if canImport(Darwin) || STANDINS
internal import DurableFile
internal import Foundation

/// A backend over the configuration that an administrator sends to an app by mobile device management: a dictionary in the standard
/// user defaults, which is only read.
///
/// User defaults don't say that the dictionary changes, only that something does. So each such notification has it read, without a
/// turn, as an observer of user defaults may be called in a read, and once for all notifications in a tenth of a second.
///
/// Until the device was unlocked for the first time since it started, nothing is read, as an absent configuration would let an
/// administrator's values be changed; the backend can't be opened then.
final class ManagedConfigurationBackend: PreferenceBackend {
    /// The name of the dictionary: developer.apple.com/library/archive/samplecode/sc2279.
    static let name = "com.apple.configuration.managed"

    let isWritable = false
    private let defaults: SharedUserDefaults
    private let protection: DataProtection
    private let runLater: UserDefaultsBackend.RunLater
    private let state = Lock(State())

    private struct State {
        var host: PreferenceBackendHost?
        var observers: [NotificationObserver] = []
        var contents: [String: PropertyListValue] = [:]
        var isLookScheduled = false
        /// The error because of which nothing was read so far.
        var failure: PreferenceError?
        /// Whether the store has the contents, so that changes are passed on.
        var isLoaded = false
        /// The number of reads that have begun, and that of the newest one whose result is in `contents`.
        var begun = 0
        var newest = 0
    }

    /// Creates a backend and reads the configuration; call without a lock or a turn.
    init(
        _ defaults: SharedUserDefaults,
        protection: DataProtection = .none,
        runLater: @escaping UserDefaultsBackend.RunLater = UserDefaultsBackend.makeRunLater()
    ) {
        self.defaults = defaults
        self.protection = protection
        self.runLater = runLater
        let names = [UserDefaults.didChangeNotification, DataProtection.unlocked] + NotificationObserver.becameActive
        let observers = names.map { name in
            NotificationObserver(of: name) { [weak self] _ in self?.lookSoon() }
        }
        state.withLock { $0.observers = observers }
        look()
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        let (contents, failure) = state.withLock { state in
            state.host = host
            state.isLoaded = state.failure == nil
            return (state.contents, state.failure)
        }
        guard let failure else { return contents }
        // Not every program is notified when the device is unlocked. Not now: this is called with a turn.
        lookSoon()
        throw failure
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        throw PreferenceError(managed: changes.keys.min() ?? "")
    }

    private func lookSoon() {
        guard state.withLock({ !exchange(&$0.isLookScheduled, with: true) }) else { return }
        runLater(.milliseconds(100)) { [weak self] in
            self?.state.withLock { $0.isLookScheduled = false }
            self?.look()
        }
    }

    /// Reads the configuration, and passes the differences on, or lets the store load it.
    private func look() {
        do throws(PreferenceError) { try protection.checkUnlocked() } catch {
            state.withLock { state in
                // A device that was unlocked once is not locked so again; the file could not be tested.
                if state.newest == 0 { state.failure = error }
            }
            return
        }
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let objects = defaults.object.object(forKey: Self.name) as? [String: Any] ?? [:]
        let found = objects.compactMapValues { PropertyListValue(propertyList: $0) }
        let host = state.withLock { state -> PreferenceBackendHost? in
            guard number > state.newest else { return nil }
            state.newest = number
            state.failure = nil
            guard state.isLoaded || state.host == nil else {
                state.contents = found
                return state.host
            }
            let before = exchange(&state.contents, with: found)
            var changes: [String: PropertyListValue?] = [:]
            for name in Set(before.keys).union(found.keys) where before[name] != found[name] {
                changes.updateValue(found[name], forKey: name)
            }
            state.host?.collect(changes)
            return changes.isEmpty ? nil : state.host
        }
        host?.changed()
    }
}
#endif
