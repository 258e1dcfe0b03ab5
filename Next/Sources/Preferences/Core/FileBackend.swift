internal import CPreferences
internal import Synchronization

/// A file of the user's, which several processes write.
final class FileBackend: Backend, @unchecked Sendable {  // used within a turn, except `unsynced`
    private let log: Log
    private let system: FileSystem
    private let process: Process
    private var watch: Watcher.Watch?
    private var lastChange: Int64 = 0
    private let unsynced = Lock<OpenFile?>(nil)
    private let idle: Duration
    let saysWhenItWaits = true
    var place: String { log.path }

    init(_ path: String, _ system: FileSystem, _ process: Process, idle: Duration = .seconds(10)) {
        (log, self.system, self.process, self.idle) = (Log(path, system), system, process, idle)
    }

    var isWritable: Bool { log.isWritable }
    var problems: [PreferenceError] { log.damage }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws(PreferenceError) -> [StoredChange] {
        changed = host.changed
        // First, so that no change is missed.
        watchPlaces()
        if case .contents(_, let values) = try look() { return values }
        return []
    }

    private var changed: (@Sendable () -> Void)?
    private var watched: [String] = []

    /// Watches the folders of the path and its links, again if these have changed.
    private func watchPlaces() {
        let places = log.places()
        let folders = places.map { "\($0.folder)/\($0.name ?? "")" }
        guard folders != watched, let changed else { return }
        do throws(FileSystemError) {
            watch = try process.watcher.watch(places, changed)
            watched = folders
        } catch {
            // Without a watch, changes are seen at the next set or refresh.
            watch = nil
        }
    }

    private func look() throws(PreferenceError) -> ExternalChanges {
        do throws(FileSystemError) {
            let update = try log.look()
            if log.isUnsettled, let changed { process.pool.run(after: 60_000_000, changed) }
            return update
        } catch { throw Self.error(error, "read") }
    }

    func catchUp(until deadline: PreferenceDeadline) throws(PreferenceError) -> ExternalChanges {
        watchPlaces()
        return try look()
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        do {
            try log.change(until: deadline) { update in
                let changes = try body(update)
                var line: [UInt8] = []
                guard !changes.isEmpty else { return line }
                try JSONLine.write(changes, to: &line)
                return line
            }
        } catch let error as FileSystemError { throw Self.error(error, "write") } catch is LockedTooLong {
            throw PreferenceError(
                .busy,
                "another process had the lock of \(place) for \(timeout); nothing was changed. Try again"
            )
        }
        lastChange = preferences_now()
        if let file = log.fileToSync { unsynced.withLock { $0 = file } }
    }

    func sync(until deadline: PreferenceDeadline) throws(PreferenceError) {
        guard let file = unsynced.withLock({ exchange(&$0, with: nil) }) else { return }
        do throws(FileSystemError) { try system.sync(file) } catch {
            throw PreferenceError(.notDurable, "the values are stored but might not survive a loss of power", cause: error)
        }
    }

    func tidy(names: Int, _ publish: (ExternalChanges) -> Void) throws(PreferenceError) -> Duration? {
        let quiet = Duration.nanoseconds(preferences_now() - lastChange)
        if log.isDue(names: names, isIdle: quiet >= idle) {
            do { try log.compact(until: .period(timeout), publish) } catch let error as PreferenceError { throw error } catch {
                // The file is complete without; it is tried again after the next change.
                return nil
            }
            watchPlaces()
        }
        return log.isDue(names: names, isIdle: true) ? max(idle - quiet, .milliseconds(100)) : nil
    }

    static func error(_ error: FileSystemError, _ action: String) -> PreferenceError {
        error.deniesWriting && action == "write"
            ? PreferenceError(.readOnly, "\(error.path) can't be written; nothing was changed", cause: error)
            : PreferenceError(.unavailable, "the file could not be \(action == "read" ? "read" : "written"); nothing was changed", cause: error)
    }
}
