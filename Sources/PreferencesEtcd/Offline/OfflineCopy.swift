#if Etcd
internal import DurableFile
internal import Preferences

/// A copy of all values in a file of the file store's form, for a start without any endpoint.
final class OfflineCopy: Sendable {
    private let file: Lock<FileBackend>

    init(path: String) {
        file = Lock(FileBackend(path: path, watcher: nil))
    }

    /// What the file holds.
    func load(_ host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        let quiet = PreferenceBackendHost(changed: {}, report: host.report)
        return try file.withLock { file throws(PreferencesError) in try file.load(host: quiet) }
    }

    /// Writes what `changes` gives; that is asked in turn, so that the newest is written last.
    func update(_ changes: () -> [String: PropertyListValue?]) throws(PreferencesError) {
        try file.withLock { file throws(PreferencesError) in
            let changes = changes()
            if !changes.isEmpty { _ = try file.apply(changes, if: .none) }
        }
    }
}
#endif
