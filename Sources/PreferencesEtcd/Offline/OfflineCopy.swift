internal import DurableFile
internal import Preferences

/// A copy of all values in a file of the file store's form, for a start without any endpoint.
final class OfflineCopy: Sendable {
    private let file: Lock<FileBackend>
    /// What the file had to say, which may be while it is locked.
    private let problems = Lock<[PreferencesError]>([])

    init(path: String) {
        file = Lock(FileBackend(path: path, watcher: nil))
    }

    /// What the file holds.
    func load() throws(PreferencesError) -> [String: PropertyListValue] {
        let host = PreferenceBackendHost(changed: {}) { [weak self] in self?.note($0) }
        return try file.withLock { file throws(PreferencesError) in try file.load(host: host) }
    }

    /// Writes what `changes` gives; that is asked in turn, so that the newest is written last.
    ///
    /// Where it can't be written `putBack` is given the changes.
    func update(
        _ changes: () -> [String: PropertyListValue?],
        putBack: ([String: PropertyListValue?]) -> Void
    ) {
        file.withLock { file in
            let changes = changes()
            guard !changes.isEmpty else { return }
            do throws(PreferencesError) {
                _ = try file.apply(changes, if: .none)
            } catch {
                putBack(changes)
                note(error)
            }
        }
    }

    /// Writes changes.
    func write(_ changes: [String: PropertyListValue?]) throws(PreferencesError) {
        try file.withLock { file throws(PreferencesError) in _ = try file.apply(changes, if: .none) }
    }

    /// What there is to be reported.
    func takeProblems() -> [PreferencesError] {
        problems.withLock { exchange(&$0, with: []) }
    }

    private func note(_ problem: PreferencesError) {
        problems.withLock { $0.append(problem) }
    }
}
