internal import CDurableFile

/// The state of a log file, which one thread at a time uses: what has been read of the file, and the descriptor to
/// write to it.
struct LogCore: Sendable {
    let path: String
    private let isReadOnly: Bool
    /// Whether objects that span several lines are read, and not only recognized: in files that are never written, and
    /// to repair a file.
    private let joinsLines: Bool
    let fileSystem: any FileSystem
    let lockTimeout: Duration
    /// The longest line that is read, in bytes; writers reject longer ones.
    var longestLine = 64 << 20
    let contents: any LogContents
    var position = LogPosition()
    var damage = DamageList()
    /// Whether the first read of the file has ended, also with an error; until then, `load` reports the damage.
    var isBegun = false
    /// Whether the file at the path was missing or empty when it was last looked at.
    private(set) var isBlank = true
    /// Whether the file was replaced or rewritten and hasn't been reloaded yet, as it might still be being saved.
    private(set) var needsReload = false
    /// The end of what had been read when the watcher last looked.
    private var lookedAt: Int64 = 0
    /// The file that was at the path when it was last opened.
    var current: Handle?

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
        joinsLines: Bool = false,
        fileSystem: any FileSystem,
        lockTimeout: Duration
    ) {
        self.path = path
        self.contents = contents
        self.isReadOnly = isReadOnly
        self.joinsLines = isReadOnly || joinsLines
        self.fileSystem = fileSystem
        self.lockTimeout = lockTimeout
    }

    /// How thoroughly external changes are looked for.
    enum Scope {
        /// Lines added at the end only: a file that was replaced might be incomplete yet.
        case appended
        /// All changes that `stat` shows.
        case all
        /// Also changes in place. Of a large file only the last bytes are compared, unless `whole`.
        case compared(whole: Bool)

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
        needsReload = false
        switch position.change(to: status.map { ($0.identity, $0.size) }) {
        case .unchanged:
            guard case .compared(let whole) = scope, let status else { return }
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
            needsReload = scope.isAppendedOnly && position.identity != nil
            if !needsReload { try reload() }
        }
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
        return WatchFinding(isBlank: isBlank, hasChanges: hasReport, isComplete: isComplete)
    }

    /// Whether there is anything to notify the observer of.
    var hasReport: Bool { contents.hasChanges || damage.isUnreported }

    private mutating func readAppended(_ handle: Handle, size: Int64, _ scope: Scope) throws(LogError) {
        var reader = reader(of: handle.file)
        // No program appends to it, so a last line without a newline in an idle file won't get one.
        reader.reportsUnfinished = isReadOnly && !scope.isAppendedOnly
        var isWhole = false
        if case .compared(let whole) = scope { isWhole = whole || position.offset <= LogPosition.largeSize }
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
        guard let status = try statusAtPath(), let handle = try handle(for: status) else {
            contents.reload { _ in }
            position = LogPosition()
            lookedAt = 0
            current = nil
            return
        }
        var start = LogPosition()
        start.identity = handle.identity
        var reader = reader(of: handle.file)
        reader.reportsUnfinished = isReadOnly
        try contents.reload { fresh throws(LogError) in
            fresh.expect(Int(clamping: status.size))
            try reader.readOn(from: &start, expecting: status.size, into: fresh, noting: &damage)
        }
        if position.identity == handle.identity { current?.sync = handle.sync.restarted() }
        position = start
        lookedAt = position.end
    }

    func reader(of file: OpenFile) -> LogReader {
        LogReader(file: file, fileSystem: fileSystem, longestLine: longestLine, joinsLines: joinsLines)
    }

    func statusAtPath() throws(LogError) -> FileStatus? {
        let status: FileStatus
        do {
            status = try fileSystem.status(at: path)
        } catch {
            if error.code == .noEntry { return nil }
            throw .failed(error)
        }
        guard status.kind == .file else { throw .notAFile(path: path, kind: status.kind) }
        return status
    }

    /// Returns the open file if `status` is that of the same file, else opens the one at the path; nil if it is gone.
    mutating func handle(for status: FileStatus) throws(LogError) -> Handle? {
        if let current, current.identity == status.identity, current.forks == durable_file_fork_count() {
            return current
        }
        current = try open(creating: false)
        return current
    }

    /// Opens the file at the path, for reading only if it can't be written; nil if no file is there.
    func open(creating: Bool) throws(LogError) -> Handle? {
        let (file, isWritable, folders): (OpenFile, Bool, [String])
        let status: FileStatus
        try checkOwners(creating: creating)
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
        return Handle(
            file: file,
            identity: status.identity,
            isWritable: isWritable,
            forks: durable_file_fork_count(),
            sync: FileSync(file, folders: folders, fileSystem: fileSystem)
        )
    }

    /// Throws if another user, unless that is root, owns a link of the path or the file's folder, and so could choose
    /// which file is used.
    func checkOwners(creating: Bool) throws(LogError) {
        let owned: [(path: String, status: FileStatus)]
        do { owned = try linksAndFolder(tries: 3) } catch { throw creating ? LogError(writing: error) : .failed(error) }
        for (path, status) in owned { try checkOwner(status, path) }
    }

    private func linksAndFolder(tries: Int) throws(FileSystemError) -> [(path: String, status: FileStatus)] {
        do {
            let walk = try LogPath(path: path).walk(fileSystem)
            var owned: [(path: String, status: FileStatus)] = []
            for link in walk.links { owned.append((link, try fileSystem.linkStatus(at: link))) }
            if let folder = walk.entries.last?.folder { owned.append((folder, try fileSystem.status(at: folder))) }
            return owned
        } catch {
            // A part of the path was removed in between: the path leads elsewhere now, which has to be checked.
            guard error.code == .noEntry, tries > 1 else { throw error }
            return try linksAndFolder(tries: tries - 1)
        }
    }

    func checkOwner(_ status: FileStatus, _ path: String) throws(LogError) {
        guard status.owner == fileSystem.user || status.owner == 0 else {
            throw .foreignOwner(path: path, owner: status.owner)
        }
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
            return (try fileSystem.open(path, for: creating ? .creating : .appending), true, folders)
        } catch {
            if error.code == .noEntry {
                guard creating else { return nil }
                try target.makeFolders(fileSystem)
                return (try fileSystem.open(path, for: .creating), true, folders)
            }
            guard error.deniesWriting, !creating else { throw error }
            return (try fileSystem.open(path, for: .reading), false, folders)
        }
    }
}
