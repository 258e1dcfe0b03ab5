#if canImport(Darwin) || STANDINS
internal import DurableFile
internal import Foundation

/// A backend over the configuration that an administrator sends to an app by mobile device management: a dictionary in the standard
/// user defaults, which is only read.
///
/// User defaults don't say that the dictionary changes, only that something does. So each such notification has it read, without a
/// turn, as an observer of user defaults may be called in a read, and once for all notifications in a tenth of a second.
final class ManagedConfigurationBackend: PreferenceBackend {
    /// The name of the dictionary: developer.apple.com/library/archive/samplecode/sc2279.
    static let name = "com.apple.configuration.managed"

    let isWritable = false
    private let defaults: SharedUserDefaults
    private let runLater: UserDefaultsBackend.RunLater
    private let state = Lock(State())

    private struct State {
        var host: PreferenceBackendHost?
        var observers: [NotificationObserver] = []
        var contents: [String: PropertyListValue] = [:]
        var isLookScheduled = false
        /// The number of reads that have begun, and that of the newest one whose result is in `contents`.
        var begun = 0
        var newest = 0
    }

    /// Creates a backend and reads the configuration; call without a lock or a turn.
    init(
        _ defaults: SharedUserDefaults,
        runLater: @escaping UserDefaultsBackend.RunLater = UserDefaultsBackend.makeRunLater()
    ) {
        self.defaults = defaults
        self.runLater = runLater
        let names = [UserDefaults.didChangeNotification, DataProtection.unlocked] + NotificationObserver.becameActive
        let observers = names.map { name in
            NotificationObserver(of: name) { [weak self] _ in self?.lookSoon() }
        }
        state.withLock { $0.observers = observers }
        look()
    }

    func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        state.withLock { state in
            state.host = host
            return state.contents
        }
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

    /// Reads the configuration, and passes the differences on.
    private func look() {
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let objects = defaults.object.object(forKey: Self.name) as? [String: Any] ?? [:]
        let found = objects.compactMapValues { PropertyListValue(propertyList: $0) }
        let host = state.withLock { state -> PreferenceBackendHost? in
            guard number > state.newest else { return nil }
            state.newest = number
            let before = exchange(&state.contents, with: found)
            var changes: [String: PropertyListValue?] = [:]
            for name in Set(before.keys).union(found.keys) where before[name] != found[name] {
                changes.updateValue(found[name], forKey: name)
            }
            state.host?.collect(changes)
            return changes.isEmpty ? nil : state.host
        }
        host?.changed([:])
    }
}
#endif
