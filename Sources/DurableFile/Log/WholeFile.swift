/// A small file that is replaced as a whole, so that each reader finds all of an old text or all of a new one.
package struct WholeFile: Sendable {
    private let path: String
    private let fileSystem: any FileSystem
    private let lockTimeout: Duration
    private let trustsOwners: Bool

    package init(
        path: String,
        trustsOwners: Bool = false,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5)
    ) {
        self.path = path
        self.fileSystem = fileSystem
        self.lockTimeout = lockTimeout
        self.trustsOwners = trustsOwners
    }

    /// Replaces the bytes by those that `change` returns, atomically also across processes; writes nothing if they are
    /// equal.
    ///
    /// `change` may be called twice. It gets `nil` if there is no file, and returns `nil` to leave the file as it is. A
    /// missing file is created with mode 0600 and its folders with 0700; an existing one keeps its owner, mode and
    /// access control list. Links are followed. When this returns, the new bytes survive a loss of power; if it throws,
    /// the old ones are unchanged, unless the error is `notDurable`.
    package func update(_ change: ([UInt8]?) -> [UInt8]?) throws(LogError) {
        // Usually there is nothing to do, which needs no lock.
        let before = try read()?.bytes
        guard let wanted = change(before), wanted != before else { return }
        let core = LogCore(
            path: path,
            contents: NoContents(),
            trustsOwners: trustsOwners,
            fileSystem: fileSystem
        )
        try core.checkOwners(creating: true)
        let (target, folder): (LogPath, OpenFile)
        do throws(FileSystemError) {
            target = try LogPath(path: path).resolved(fileSystem)
            try target.makeFolders(fileSystem)
            folder = try fileSystem.open(target.folder, for: .folder)
        } catch { throw LogError(writing: error) }
        // The file itself can't be locked, as each change replaces it. Closing the folder unlocks it.
        try withExtendedLifetime(folder) { () throws(LogError) in
            do throws(LogError) {
                try fileSystem.whileBusy(lockTimeout) { _ throws(LogError) in try core.lock(folder) }
            } catch {
                // Some file systems, such as NFS, lock no folder. There, one of two changes at the same moment is lost
                // as a whole.
                guard case .failed = error else { throw error }
            }
            let old = try read()
            if let old { try core.checkOwner(old.status, path) }
            guard let bytes = change(old?.bytes), bytes != old?.bytes else { return }
            try replace(old?.file, at: target, by: bytes)
        }
    }

    /// Returns the bytes of the file, or `nil` if there is none.
    package func bytes(trustingOwners: Bool) throws(LogError) -> [UInt8]? {
        let found: (bytes: [UInt8], file: OpenFile, status: FileStatus)?
        do throws(FileSystemError) { found = try contents() } catch { throw .failed(error) }
        guard let found else { return nil }
        let core = LogCore(
            path: path,
            contents: NoContents(),
            isReadOnly: true,
            trustsOwners: trustingOwners,
            fileSystem: fileSystem
        )
        try core.checkOwners(creating: false)
        try core.checkOwner(found.status, path)
        return found.bytes
    }

    private func read() throws(LogError) -> (bytes: [UInt8], file: OpenFile, status: FileStatus)? {
        do throws(FileSystemError) { return try contents() } catch { throw LogError(writing: error) }
    }

    private func contents() throws(FileSystemError) -> (bytes: [UInt8], file: OpenFile, status: FileStatus)? {
        do throws(FileSystemError) {
            let file = try fileSystem.open(path, for: .reading)
            let status = try fileSystem.status(file)
            if status.kind != .file { throw FileSystemError("open", path, .noDevice) }
            var bytes: [UInt8] = []
            let reader = LogReader(file: file, fileSystem: fileSystem, longestLine: .max)
            try reader.copy(from: 0) { piece, _ throws(FileSystemError) in bytes += piece }
            return (bytes, file, status)
        } catch {
            if error.code == .noEntry { return nil }
            throw error
        }
    }

    private func replace(_ old: OpenFile?, at target: LogPath, by bytes: [UInt8]) throws(LogError) {
        let draft = try draft(of: bytes, like: old, at: target)
        do {
            try fileSystem.rename(draft.path, to: target.path)
        } catch {
            fileSystem.discard(draft.path)
            throw LogError(writing: error)
        }
        do throws(FileSystemError) {
            // These are left from processes that died: the lock excludes those that are running.
            for name in try fileSystem.names(inFolder: target.folder) where target.isDraftName(name) {
                fileSystem.discard(target.sibling(name))
            }
            try fileSystem.syncFolder(target.folder)
        } catch { throw .notDurable(path: path, cause: error) }
    }

    private func draft(of bytes: [UInt8], like old: OpenFile?, at target: LogPath) throws(LogError) -> OpenFile {
        if let old {
            let compaction = Compaction(
                contents: NoContents(),
                source: LogPosition(),
                old: old,
                target: target,
                fileSystem: fileSystem
            )
            do { return try compaction.draft(bytes).file } catch {
                guard case .failed(let cause) = error else { throw error }
                throw LogError(writing: cause)
            }
        }
        let path = target.sibling(target.draftName())
        do throws(FileSystemError) {
            let file = try fileSystem.open(path, for: .replacing)
            // As `Compaction.draft`.
            _ = try fileSystem.lock(file)
            try fileSystem.writeAll(bytes, to: file)
            try fileSystem.sync(file)
            return file
        } catch {
            fileSystem.discard(path)
            throw LogError(writing: error)
        }
    }
}

/// The contents of a file that isn't a log.
private final class NoContents: LogContents {
    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading { .complete }
    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading { .complete }
    func dropUnfinished() {}
    func replace(with contents: NoContents) {}
    func copy() -> NoContents { self }
    var hasChanges: Bool { false }
    func lines(inPlaceOf old: UnsafeRawBufferPointer, isRequested: Bool) -> [UInt8] { [] }
    var lineCount: Int { 0 }
}
