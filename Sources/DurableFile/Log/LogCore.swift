internal import CDurableFile
internal import Synchronization

/// The state of a log file, which one thread at a time uses: what has been read of the file, and the descriptor to
/// write to it.
struct LogCore: Sendable {
    let path: String
    let isReadOnly: Bool
    /// Whether the file is known to exist.
    private let isKnown: Bool
    /// Whether the file is used regardless of its owner.
    var trustsOwners: Bool
    /// Whether objects that span several lines are read, and not only recognized: in files that are never written, and
    /// to repair a file.
    private let joinsLines: Bool
    /// Whether a last line without a newline that can't be read is damage, and not still arriving: in files that are never written, and to
    /// check a file.
    private let reportsUnfinished: Bool
    let fileSystem: any FileSystem
    /// The longest line that is read, in bytes; writers reject longer ones.
    var longestLine = 64 << 20
    let contents: any LogContents
    var position = LogPosition()
    var damage = DamageList()
    /// Whether the first read of the file has ended, also with an error; until then, `load` reports the damage.
    var isBegun = false
    /// Issues that aren't errors of a call, until they are reported.
    var issues: [LogError] = []
    private var isReportedHidden = false
    /// Whether the file at the path was missing or empty when it was last looked at.
    private(set) var isBlank = true
    /// Whether the file was then the one that was read, or a new one without content: if it has changed, its program closes it
    /// when it is complete.
    private var isSavedInPlace = false
    /// Whether the file was replaced or rewritten and hasn't been reloaded yet, because a program might not have finished saving it.
    private(set) var needsReload = false
    /// Whether the file was truncated a moment ago, so that a program might be saving it in place.
    var awaitsSave = false
    /// When the file was first found to be truncated, since it was last read, and the number of times that it had been closed.
    private var truncated: (since: Duration, closes: Int)?
    /// Whether the file was found to be truncated since it was last read, so that its size says nothing.
    var isTruncated: Bool { truncated != nil }
    /// The programs that have written to the file, which only a watched log knows.
    var saves: Saves?
    var watch: Watch?
    /// How long a truncated file is waited for, as a program might be saving it in place.
    static let longestSave = Duration.seconds(1)
    /// The end of what had been read when the watcher last looked.
    private var lookedAt: Int64 = 0
    /// The file that was at the path when it was last opened.
    var current: Handle?
    /// Whether the file is opened for writing: from the first write on, so that a program that only reads keeps no file system from being
    /// mounted read-only.
    private(set) var isWriting = false
    /// The place at which it was.
    private(set) var home: Home?

    /// An open file and its identity.
    struct Handle: Sendable {
        let file: OpenFile
        let identity: FileIdentity
        let isWritable: Bool
        /// The fork count of the process that opened it: the children of `fork` share the lock of a descriptor
        /// (flock(2)).
        let forks: UInt64
        var sync: FileSync
    }

    init(
        path: String,
        contents: any LogContents,
        isReadOnly: Bool = false,
        isKnown: Bool = false,
        joinsLines: Bool = false,
        reportsUnfinished: Bool = false,
        trustsOwners: Bool = false,
        fileSystem: any FileSystem
    ) {
        self.path = path
        self.trustsOwners = trustsOwners
        self.contents = contents
        self.isReadOnly = isReadOnly
        self.isKnown = isKnown
        self.joinsLines = isReadOnly || joinsLines
        self.reportsUnfinished = isReadOnly || reportsUnfinished
        self.fileSystem = fileSystem
    }

    /// How thoroughly external changes are looked for.
    enum Scope {
        /// Lines added at the end only: a file that was replaced might be incomplete yet.
        case appended
        /// All changes that `stat` shows.
        case all
        /// Also changes in place. Of a large file only the last bytes are compared, unless `whole`.
        ///
        /// `isIdle` if the watcher has found that no program is saving the file.
        case compared(whole: Bool, isIdle: Bool = false)

        fileprivate var isAppendedOnly: Bool {
            if case .appended = self { true } else { false }
        }
    }

    /// Reads external changes of the file.
    mutating func catchUp(_ scope: Scope) throws(LogError) {
        try catchUp(scope, with: try statusAtPath())
    }

    /// Reads external changes of the file, whose path has just had this status.
    mutating func catchUp(_ scope: Scope, with status: FileStatus?) throws(LogError) {
        isBlank = (status?.size ?? 0) == 0
        isSavedInPlace = status.map { $0.identity == position.identity || $0.size == 0 } ?? false
        needsReload = false
        switch position.change(to: status.map { ($0.identity, $0.size) }) {
        case .unchanged where isTruncated: try reload()
        case .unchanged:
            guard case .compared(let whole, _) = scope, let status else { return }
            guard let handle = try handle(for: status), handle.identity == position.identity else {
                return try reload()
            }
            let reader = reader(of: handle.file)
            let isWhole = whole || position.offset <= LogPosition.largeSize
            if try !reader.isUnchanged(position, whole: isWhole) { try reload() }
        case .appended:
            guard let status, let handle = try handle(for: status), handle.identity == position.identity else {
                return try reload()
            }
            try readAppended(handle, size: status.size, scope)
        case .replaced, .removed:
            // If there was no file before, a half-written one doesn't remove any values.
            awaitsSave = isBeingSaved(status, scope)
            needsReload = position.identity != nil && (scope.isAppendedOnly || awaitsSave)
            if !needsReload { try reload() }
        }
    }

    /// Whether a program has truncated the file and might be about to write it: it hasn't closed it yet.
    private mutating func isBeingSaved(_ status: FileStatus?, _ scope: Scope) -> Bool {
        guard let saves, let status, status.size == 0, status.identity == position.identity, position.offset > 0 else {
            return false
        }
        if case .compared(_, isIdle: true) = scope { return false }
        let now = fileSystem.now()
        let (since, closes) = truncated ?? (now, saves.closes)
        truncated = (since, closes)
        return saves.closes == closes && now < since + Self.longestSave
    }

    /// Reads external changes for the watcher; returns nil before the file was read for the first time.
    mutating func check(_ scope: Scope) throws(LogError) -> WatchFinding? {
        guard isBegun else { return nil }
        try catchUp(scope)
        // If the end of what was read has moved, an event was about bytes that are known now: a line of this process,
        // or another's after what was there. If it hasn't moved, something was changed in place, or the look before has
        // already read it; a comparison decides that once the file is idle. A change that a program makes in place at
        // the moment when a line is added, more than `recentCount` bytes before the end, isn't found while that program
        // keeps the file open.
        let isComplete = !needsReload && position.end == position.offset && position.end > lookedAt
        lookedAt = position.end
        return WatchFinding(
            isBlank: isBlank,
            isBeingSaved: needsReload && isSavedInPlace,
            hasChanges: hasReport,
            isComplete: isComplete
        )
    }

    /// Moves the damage and the issues that were not reported yet.
    mutating func moveReports(to damage: inout [LogDamage], _ issues: inout [LogError]) {
        if self.damage.isUnreported { damage = self.damage.removeUnreported() }
        if !self.issues.isEmpty { swap(&issues, &self.issues) }
    }

    /// Whether there is anything to notify the observer of.
    var hasReport: Bool { contents.hasChanges || damage.isUnreported || !issues.isEmpty }

    private mutating func readAppended(_ handle: Handle, size: Int64, _ scope: Scope) throws(LogError) {
        var reader = reader(of: handle.file)
        // No program appends to a read-only file, so a last line without a newline in an idle one won't get one.
        reader.reportsUnfinished = reportsUnfinished && !scope.isAppendedOnly
        var isWhole = false
        if case .compared(let whole, _) = scope { isWhole = whole || position.offset <= LogPosition.largeSize }
        // An object that spans several lines might have been read before its end was written.
        let mustReload = joinsLines && position.damaged > 0
        if isWhole || mustReload {
            guard try reader.isUnchanged(position, whole: isWhole) else { return try reloadOrDefer(scope) }
            if mustReload { return try reload() }
        }
        let isUnchanged = try reader.readOn(
            from: &position,
            expecting: size,
            into: contents,
            noting: &damage,
            checksRecent: !isWhole
        )
        if !isUnchanged { try reloadOrDefer(scope) }
    }

    private mutating func reloadOrDefer(_ scope: Scope) throws(LogError) {
        needsReload = scope.isAppendedOnly
        if !needsReload { try reload() }
    }

    /// Reads the whole file, and replaces the contents only if all of it could be read.
    mutating func reload() throws(LogError) {
        truncated = nil
        guard let status = try statusAtPath(), let handle = try handle(for: status) else {
            contents.reload { _ in true }
            position = LogPosition()
            lookedAt = 0
            current = nil
            return
        }
        var (start, size, tries) = (LogPosition(), status.size, 0)
        var reader = reader(of: handle.file)
        reader.reportsUnfinished = reportsUnfinished
        try contents.reload { fresh throws(LogError) in
            start = LogPosition()
            start.identity = handle.identity
            fresh.expect(Int(clamping: size))
            try reader.readOn(from: &start, expecting: size, into: fresh, noting: &damage)
            tries += 1
            if start.end >= size || tries == 3 { return true }
            // It was truncated in between, so its beginning might be that of the old and its end that of the new file.
            do throws(FileSystemError) { size = try fileSystem.status(handle.file).size } catch { throw .failed(error) }
            return false
        }
        if position.identity == handle.identity { current?.sync = handle.sync.restarted() }
        position = start
        lookedAt = position.end
    }

    func reader(of file: OpenFile) -> LogReader {
        LogReader(file: file, fileSystem: fileSystem, longestLine: longestLine, joinsLines: joinsLines)
    }

    /// Forgets what was read of the file, so that it is read again as a whole.
    mutating func forgetFile() {
        position = LogPosition()
        current = nil
    }

    mutating func statusAtPath() throws(LogError) -> FileStatus? {
        let status: FileStatus
        do {
            status = try fileSystem.status(at: path)
        } catch {
            if error.code == .noEntry {
                if isOutOfReach() { throw .outOfReach(path: path) }
                return nil
            }
            guard isReadOnly, position.identity == nil, isHidden(error) else { throw .failed(error) }
            if error.code == .accessDenied, !isReportedHidden {
                isReportedHidden = true
                issues.append(.hidden(path: path, cause: error))
            }
            return nil
        }
        guard status.kind == .file else { throw .notAFile(path: path, kind: status.kind) }
        return status
    }

    /// Whether nothing is known to be at the path: a folder on the way can't be entered, or is none. A link that leads to
    /// such a folder is there.
    private func isHidden(_ error: FileSystemError) -> Bool {
        guard error.hidesEntry, !isKnown || error.code != .accessDenied else { return false }
        do {
            _ = try fileSystem.linkStatus(at: path)
            return false
        } catch { return error.hidesEntry }
    }

    /// Returns the open file if `status` is that of the same file, else opens the one at the path; nil if it is gone.
    mutating func handle(for status: FileStatus) throws(LogError) -> Handle? {
        if let current, current.identity == status.identity, current.forks == durable_file_fork_count() {
            return current
        }
        current = try open(creating: false)
        return current
    }

    /// Has the file opened for writing from now on.
    mutating func beginWriting() {
        guard !isWriting else { return }
        isWriting = true
        guard let read = current, !isReadOnly else { return }
        // Unless this is the file that was checked when it was opened for reading, it is opened and checked when it is used.
        current = nil
        do throws(FileSystemError) {
            let file = try fileSystem.open(path, for: .appending)
            guard try fileSystem.status(file).identity == read.identity else { return }
            current = Handle(
                file: file,
                identity: read.identity,
                isWritable: true,
                forks: durable_file_fork_count(),
                sync: FileSync(file, folders: read.sync.folders, fileSystem: fileSystem)
            )
        } catch {
            // The next use reports it.
        }
    }

    /// Opens the file at the path, before the first write and if it can't be written for reading only; nil if no file is there.
    mutating func open(creating: Bool) throws(LogError) -> Handle? {
        let (file, isWritable, folders): (OpenFile, Bool, [String])
        let status: FileStatus
        let home = try checkOwners(creating: creating)
        do throws(FileSystemError) {
            guard let opened = try openFile(creating: creating) else { return nil }
            (file, isWritable, folders) = opened
            status = try fileSystem.status(file)
        } catch {
            switch error.code {
            case .isFolder: throw .notAFile(path: path, kind: .folder)
            case .noDevice: throw .notAFile(path: path, kind: .other)
            default: throw creating ? LogError(writing: error) : .failed(error)
            }
        }
        guard status.kind == .file else { throw .notAFile(path: path, kind: status.kind) }
        try checkOwner(status, path)
        self.home = home
        _ = Self.root
        return Handle(
            file: file,
            identity: status.identity,
            isWritable: isWritable,
            forks: durable_file_fork_count(),
            sync: FileSync(file, folders: folders, fileSystem: fileSystem)
        )
    }

    private func openFile(creating: Bool) throws(FileSystemError) -> (OpenFile, isWritable: Bool, folders: [String])? {
        if isReadOnly {
            if creating { throw FileSystemError("open", path, .readOnlyFileSystem) }
            do { return (try fileSystem.open(path, for: .reading), false, []) } catch {
                if error.code == .noEntry { return nil }
                throw error
            }
        }
        let target = try LogPath(path: path).resolved(fileSystem)
        // A process that finds a file or folder can't know whether its entry is on the medium: the process that created
        // it might have died before it synced that.
        let folders = target.folders
        do {
            if creating { return (try create(target), true, folders) }
            return (try fileSystem.open(path, for: isWriting ? .appending : .reading), isWriting, folders)
        } catch {
            if error.code == .noEntry {
                guard creating else { return nil }
                let real = try target.makeFolders(fileSystem)
                return (try create(target), true, real.path == target.path ? folders : real.folders + folders)
            }
            guard error.deniesWriting, !creating else { throw error }
            return (try fileSystem.open(path, for: .reading), false, folders)
        }
    }

    private func create(_ target: LogPath) throws(FileSystemError) -> OpenFile {
        let file = try fileSystem.open(path, for: .creating)
        if try fileSystem.status(file).size == 0 {
            do { try share(file, inFolder: target.folder) } catch {
                // Another user has created it, and chosen its mode.
                if !error.deniesWriting { throw error }
            }
        }
        return file
    }
}

/// The programs that have written to a file and closed it, as a watcher counts them.
final class Saves: Sendable {
    private let count = Atomic(0)

    /// How often a program has closed the file after writing to it.
    var closes: Int { count.load(ordering: .relaxed) }

    func noteClose() { count.add(1, ordering: .relaxed) }
}
