internal import CDurableFile

/// A log file as one thread at a time uses it: what was read of it, and the descriptor to write to it.
struct LogCore: Sendable {
    let path: String
    private let isReadOnly: Bool
    /// Whether objects over several lines are read, not only recognised; of files that are never written, and to repair one.
    private let joinsLines: Bool
    let fileSystem: any FileSystem
    let lockTimeout: Duration
    /// The longest line that is read; what writes refuses longer ones.
    var longestLine = 64 << 20
    let contents: any LogContents
    var position = LogPosition()
    var damage = DamageList()
    /// Whether the file was read for the first time, or that failed; until then its damage is `load`'s to report.
    var isBegun = false
    /// Whether the file at the path is missing or empty, as last seen.
    private(set) var isBlank = true
    /// Whether the file at the path is another one than was read, perhaps in the middle of a save.
    private(set) var isUnsettled = false
    /// The end of what was read when the watcher last looked.
    private var lookedAt: Int64 = 0
    /// The file that was at the path when it was last opened.
    var current: Handle?

    /// An open file, and which it is.
    struct Handle: Sendable {
        let file: OpenFile
        let identity: FileIdentity
        let isWritable: Bool
        /// In which process it was opened: a lock is shared with the children of `fork` (flock(2)).
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

    /// How much of what others did is taken in.
    enum Scope {
        /// Lines added at the end; a file that was replaced may be half written yet.
        case appended
        /// All that `stat` shows.
        case all
        /// Also what was changed in place; all bytes of a large file too where `whole`.
        case compared(whole: Bool)

        fileprivate var isAppendedOnly: Bool {
            if case .appended = self { true } else { false }
        }
    }

    /// Takes in what others did to the file.
    mutating func catchUp(_ scope: Scope) throws(LogError) {
        try catchUp(scope, with: try statusAtPath())
    }

    /// As above, by what `stat` of the path just told.
    mutating func catchUp(_ scope: Scope, with status: FileStatus?) throws(LogError) {
        isBlank = (status?.size ?? 0) == 0
        isUnsettled = false
        switch position.change(to: status.map { ($0.identity, $0.size) }) {
        case .unchanged:
            guard case .compared(let whole) = scope, let status else { return }
            guard let handle = try handle(for: status), handle.identity == position.identity else {
                return try readAfresh()
            }
            let reader = reader(of: handle.file)
            let isWhole = whole || position.offset <= LogPosition.largeSize
            if try !reader.isUnchanged(position, whole: isWhole) { try readAfresh() }
        case .appended:
            guard let status, let handle = try handle(for: status), handle.identity == position.identity else {
                return try readAfresh()
            }
            try readAppended(handle, size: status.size, scope)
        case .replaced, .removed:
            // Where there was nothing, half a file takes nothing away.
            isUnsettled = scope.isAppendedOnly && position.identity != nil
            if !isUnsettled { try readAfresh() }
        }
    }

    /// As `catchUp`, for the watcher; nil before the file was read for the first time.
    mutating func noticed(_ scope: Scope) throws(LogError) -> WatchFinding? {
        guard isBegun else { return nil }
        try catchUp(scope)
        // The bytes of an event are known where the end of what was read has moved, by an own set or by another's line behind
        // what was there. If nothing moved, something was changed in place, or the look before has seen it all: that a
        // comparison decides when the file has come to rest. Not seen by this is only what a program changes in place at the
        // moment when a line is added, more than `recentCount` bytes before the end, for as long as it keeps the file open.
        let isComplete = !isUnsettled && position.end == position.offset && position.end > lookedAt
        lookedAt = position.end
        return WatchFinding(isBlank: isBlank, isNews: hasReport, isComplete: isComplete)
    }

    /// Whether there is anything to notify the observer of.
    var hasReport: Bool { contents.hasNews || damage.isUnreported }

    private mutating func readAppended(_ handle: Handle, size: Int64, _ scope: Scope) throws(LogError) {
        var reader = reader(of: handle.file)
        // No program appends to it, so what has come to rest without an end has none.
        reader.reportsUnfinished = isReadOnly && !scope.isAppendedOnly
        var isWhole = false
        if case .compared(let whole) = scope { isWhole = whole || position.offset <= LogPosition.largeSize }
        // An object over several lines may have been seen before its end was written.
        let mustReadAfresh = joinsLines && position.damaged > 0
        if isWhole || mustReadAfresh {
            guard try reader.isUnchanged(position, whole: isWhole) else { return try readAfreshUnlessUnsettled(scope) }
            if mustReadAfresh { return try readAfresh() }
        }
        let isUnchanged = try reader.readOn(
            from: &position,
            expecting: size,
            into: contents,
            noting: &damage,
            checksRecent: !isWhole
        )
        if !isUnchanged { try readAfreshUnlessUnsettled(scope) }
    }

    private mutating func readAfreshUnlessUnsettled(_ scope: Scope) throws(LogError) {
        isUnsettled = scope.isAppendedOnly
        if !isUnsettled { try readAfresh() }
    }

    /// Reads the whole file, and becomes what it says only when all of it was read.
    mutating func readAfresh() throws(LogError) {
        guard let status = try statusAtPath(), let handle = try handle(for: status) else {
            contents.readAfresh { _ in }
            position = LogPosition()
            lookedAt = 0
            current = nil
            return
        }
        var start = LogPosition()
        start.identity = handle.identity
        var reader = reader(of: handle.file)
        reader.reportsUnfinished = isReadOnly
        try contents.readAfresh { fresh throws(LogError) in
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

    /// The open file that `status` is of; nil where the path has none any more.
    mutating func handle(for status: FileStatus) throws(LogError) -> Handle? {
        if let current, current.identity == status.identity, current.forks == durable_file_fork_count() {
            return current
        }
        current = try open(creating: false)
        return current
    }

    /// Opens what is at the path, also where it may only be read; nil where nothing is.
    func open(creating: Bool) throws(LogError) -> Handle? {
        let (file, isWritable, folders): (OpenFile, Bool, [String])
        let status: FileStatus
        try checkWay(creating: creating)
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

    /// Throws if another user than root chose where the path leads, by a link, or may put other files there, as the owner of the
    /// folder.
    func checkWay(creating: Bool) throws(LogError) {
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
            // A part of the way was removed in between: it leads elsewhere now, which has to be checked.
            guard error.code == .noEntry, tries > 1 else { throw error }
            return try linksAndFolder(tries: tries - 1)
        }
    }

    func checkOwner(_ status: FileStatus, _ path: String) throws(LogError) {
        guard status.owner == fileSystem.user || status.owner == 0 else {
            throw .foreign(path: path, owner: status.owner)
        }
    }

    /// Runs `body`, once more with the file opened again if the server has dropped it (ESTALE, of a file that another machine
    /// replaced).
    mutating func reopeningIfStale(_ body: (inout LogCore) throws(LogError) -> Void) throws(LogError) {
        do { try body(&self) } catch {
            guard case .failed(let cause) = error, cause.code == .stale else { throw error }
            current = nil
            try body(&self)
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
        // Whoever finds a file or folder can't know that its entry is on the medium: who made it may have died before it
        // could sync that.
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
