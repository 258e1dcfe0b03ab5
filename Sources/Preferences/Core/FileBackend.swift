internal import CPreferences
internal import Synchronization

/// A file of the user's, which several processes write.
final class FileBackend: Backend, @unchecked Sendable {  // used within a turn, except what is said
    private let log: Log
    private let system: FileSystem
    private let process: Process
    private let watch: PathWatch
    private var changed: (@Sendable () -> Void)?
    private var lastChange: Int64 = 0
    /// When the next look of a file that is polled is scheduled.
    private var nextPoll: Int64 = 0
    private let idle: Duration
    /// The file that isn't synced yet; used on any thread.
    private let unsynced = Lock(Unsynced())
    /// Taken while the file is synced, so that each call waits for the sync that another has begun.
    private let syncing = Lock(())
    /// Released with the backend.
    var registration: AnyObject?
    let timeout: Duration
    let saysWhenItWaits = true
    var place: String { log.path }
    var plainTextPlace: String? { log.path }

    private struct Unsynced {
        var file: OpenFile?
        /// The file whose folders were synced: another process might have created it and died.
        var known: OpenFile?
        /// Why a sync failed: the system has dropped the data and would report success (fsync(2)), until there is a new file.
        var failure: FileSystemError?
    }

    init(
        _ path: String,
        _ system: FileSystem,
        _ process: Process,
        watcher: Watcher? = nil,
        trustsOwner: Bool = false,
        timeout: Duration = .seconds(5),
        idle: Duration = .seconds(10)
    ) {
        log = Log(path, system, trustsOwner: trustsOwner)
        (self.system, self.process, self.timeout, self.idle) = (system, process, timeout, idle)
        watch = PathWatch(watcher ?? process.watcher, system)
    }

    // MARK: Facts, on any thread

    var isWritable: Bool { log.isWritable }

    func describe(_ name: String?) -> StoredPlace { StoredPlace(path: log.path, line: name.flatMap(log.line)) }

    /// Uses the file regardless of its owner, from now on.
    func trustOwner() { log.trustOwner() }

    /// Another file under the same rules.
    func file(_ path: String) -> WholeFile { WholeFile(path, system, trustsOwner: log.isTrusted) }

    // MARK: Reading

    var problems: [PreferenceError] { log.damage }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws(PreferenceError) -> [StoredChange]
    {
        let isFirst = changed == nil
        changed = host.changed
        defer {
            // Ending a program that has a watch takes some milliseconds, which this spares one that only reads a value. The look that follows
            // finds what has changed until then.
            if isFirst { process.pool.run(after: 50_000_000, host.changed) }
        }
        log.forget()
        if !isFirst { watchPlaces() }
        do throws(FileSystemError) {
            switch try log.look() {
            case .none: return []
            case .changes(let lines): return Array(lines.joined())
            case .contents(_, let values): return values
            }
        } catch { throw PreferenceError(error, isWriting: false) }
    }

    /// Waits for a program that saves the file, unless that has just been truncated.
    func catchUp(until deadline: PreferenceDeadline) throws(PreferenceError) -> ExternalChanges {
        watchPlaces()
        do throws(FileSystemError) {
            while true {
                let update = try log.look()
                guard log.isBeingSaved else { return update }
                if deadline.isNow || log.isTruncated {
                    if let changed { process.pool.run(after: 25_000_000, changed) }
                    return update
                }
                log.pending = update.followed(by: log.pending)
                system.sleep(nanoseconds: 5_000_000)
            }
        } catch { throw PreferenceError(error, isWriting: false) }
    }

    private func watchPlaces() {
        guard let changed, !watch.update([log.path], changed) else { return }
        // One series of polls, whatever else looks.
        let now = preferences_now()
        guard now >= nextPoll else { return }
        nextPoll = now + PathWatch.pollInterval
        process.pool.run(after: PathWatch.pollInterval, changed)
    }

    // MARK: Writing

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        do {
            try log.change(until: deadline) { update in
                let changes = try body(update)
                var line: [UInt8] = []
                guard !changes.isEmpty else { return line }
                try JSONLine.write(changes, to: &line)
                return line
            }
        } catch { throw log.error(ofChanging: error, timeout) }
        lastChange = preferences_now()
        if let file = log.file { unsynced.withLock { $0.file = file } }
    }

    func sync(until deadline: PreferenceDeadline) throws(PreferenceError) {
        guard let failure = syncing.withLock({ _ in syncFile() }) else { return }
        throw PreferenceError(
            .notDurable,
            "the values set in \(place) can be read but might not survive a loss of power; check the disk and set them again",
            cause: failure
        )
    }

    private func syncFile() -> FileSystemError? {
        let (file, isKnown, failure) = unsynced.withLock { state in
            let isKnown = state.file === state.known
            return (exchange(&state.file, with: nil), isKnown, state.failure)
        }
        guard failure == nil, let file else { return failure }
        do throws(FileSystemError) {
            try system.syncContent(file)
            if !isKnown { try syncFolders() }
            unsynced.withLock { $0.known = file }
            return nil
        } catch {
            unsynced.withLock { $0.failure = error }
            return error
        }
    }

    /// Syncs the folders that lead to the file.
    private func syncFolders() throws(FileSystemError) {
        let folders = try PathWalk(place, system).real.foldersAbove
        for folder in folders {
            do { try system.sync(system.open(folder, for: .folder)) } catch {
                // This user might only be able to traverse a folder further up, and so hasn't created anything in it.
                if folder == folders.first || !error.deniesWriting { throw error }
            }
        }
    }

    func tidy(names: Int, _ publish: (ExternalChanges) -> Void) throws(PreferenceError) -> Duration? {
        let quiet = Duration.nanoseconds(preferences_now() - lastChange)
        let hasFailed = unsynced.withLock { $0.failure != nil }
        log.removeDrafts()
        if hasFailed || log.isDue(names: names, isIdle: quiet >= idle) {
            let old = log.file
            do { try log.compact(until: .patience, publish) } catch is LockedTooLong {
                // The next change tries it again.
                return nil
            } catch { throw PreferenceError(.unavailable, from: error) }
            if log.file !== old { noteNewFile(insteadOf: old) }
        }
        return log.isDue(names: names, isIdle: true) ? max(idle - quiet, .seconds(1)) : nil
    }

    /// Notes that a new file was synced.
    private func noteNewFile(insteadOf old: OpenFile?) {
        unsynced.withLock { state in
            let isKnown = state.known === old
            state = Unsynced(file: isKnown ? nil : log.file, known: isKnown ? log.file : nil)
        }
    }
}

extension Source {
    /// Creates a source over a file that is shared with no other store.
    package convenience init(file path: String) { self.init(FileBackend(path, .system, Process.current)) }

    /// Returns what can't be read of the place.
    package func currentProblems() throws -> [PreferenceError] {
        try inTurn(until: timeout) { _, _ in own?.problems ?? [] }
    }
}

/// The time from which a write survives a loss of power. It survives the death of the process as soon as the write returns.
public enum PreferenceDurability: Hashable, Sendable {
    /// Within about 100 milliseconds; `flush()` waits for it.
    case background
    /// Before the write returns, which then waits for the disk. If that fails, the write throws
    /// `PreferenceError.Code.notDurable`, but the value remains set.
    case immediate
}

extension Log {
    /// Returns what is thrown for an error of a change that waited for the lock that long.
    package func error(ofChanging error: any Error, _ timeout: Duration) -> any Error {
        switch error {
        case let error as FileSystemError: PreferenceError(error, isWriting: true)
        case is LockedTooLong:
            PreferenceError(
                .busy,
                "another process has held the lock of \(path) for \(timeout); nothing was changed. Try again, or end that process if it is "
                    + "stopped"
            )
        default: error
        }
    }
}

extension PreferenceError {
    /// Creates the error that a read or a write reports for a file.
    package init(_ error: FileSystemError, isWriting: Bool) {
        let path = error.path
        switch error.kind {
        case .notAFile(let kind): self.init(.unavailable, "\(path) is a \(kind), not a file; move it away")
        case .foreignOwner(let owner):
            self.init(
                .notPermitted,
                "\(path) belongs to the user \(owner), who could use it to choose what this program reads and writes; nothing was changed. "
                    + "Run the program as that user, change the file's owner with chown, or open it with trustsOwner: true"
            )
        case .newerFormat(let reason):
            self.init(
                .unknownFormat,
                "\(path) can't be used by this version of the program: \(reason); nothing was changed"
            )
        case .call where isWriting && error.isReadOnlyFileSystem:
            self.init(
                .readOnly,
                "the file system of the preferences file is read-only; nothing was changed. Mount it for writing, or keep the file on "
                    + "another one",
                cause: error
            )
        case .call where isWriting && error.deniesWriting:
            self.init(
                .readOnly,
                "the preferences file can't be written; nothing was changed. Check the owner and the mode of the file and its folder",
                cause: error
            )
        case .call where isWriting && error.lacksSpace:
            self.init(
                .noSpace,
                "no space is left for the preferences file; nothing was changed. Free some, or raise the limit",
                cause: error
            )
        case .call:
            self.init(.unavailable, "the preferences file can't be used; nothing was changed", cause: error)
        }
    }
}
