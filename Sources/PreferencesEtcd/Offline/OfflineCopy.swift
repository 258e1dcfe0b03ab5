internal import DurableFile
internal import Preferences

/// A copy of all values in a file in the file store's format, for a start while no endpoint can be reached.
final class OfflineCopy: Sendable {
    private let file: Lock<FileBackend>
    /// The errors to report, which can occur while `file` is locked.
    private let problems = Lock<[PreferenceError]>([])

    init(path: String) {
        file = Lock(FileBackend(path: path, watcher: nil))
    }

    /// Returns the values in the file.
    func load() throws(PreferenceError) -> [String: PropertyListValue] {
        let host = PreferenceBackendHost(changed: { _ in }) { [weak self] in self?.note($0) }
        return try file.withLock { file throws(PreferenceError) in try file.load(host: host) }
    }

    /// Writes the changes that `changes` returns; it is called under the file's lock, so that newer changes are written last.
    ///
    /// If they can't be written, `restore` gets them.
    func update(
        _ changes: () -> [String: PropertyListValue?],
        restore: ([String: PropertyListValue?]) -> Void
    ) {
        file.withLock { file in
            let changes = changes()
            guard !changes.isEmpty else { return }
            do throws(PreferenceError) {
                _ = try file.apply(changes, if: .none)
            } catch {
                restore(changes)
                note(error)
            }
        }
    }

    /// Writes changes.
    func write(_ changes: [String: PropertyListValue?]) throws(PreferenceError) {
        try file.withLock { file throws(PreferenceError) in _ = try file.apply(changes, if: .none) }
    }

    /// Removes and returns the errors to report.
    func drainProblems() -> [PreferenceError] {
        problems.withLock { exchange(&$0, with: []) }
    }

    private func note(_ problem: PreferenceError) {
        problems.withLock { $0.append(problem) }
    }
}
