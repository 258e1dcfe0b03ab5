extension LogCore {
    /// Throws if a user whom the program must not trust owns the file's folder, and so could choose which file is used; returns the
    /// folder without links, and its device.
    @discardableResult
    func checkOwners(creating: Bool) throws(LogError) -> Home? {
        let folder: (path: String, status: FileStatus)?
        do { folder = try fileFolder(tries: 3) } catch { throw creating ? LogError(writing: error) : .failed(error) }
        guard let folder else { return nil }
        try checkOwner(folder.status, folder.path)
        return folder.status.kind == .folder ? Home(path: folder.path, device: folder.status.identity.device) : nil
    }

    /// The folder in which a file was found, and the device that was mounted there.
    struct Home: Sendable {
        let path: String
        let device: UInt64
    }

    /// Whether the path leads to nothing because the program has another root folder than when the file was read, or because the file
    /// system is no longer mounted where the file was. Then the file isn't removed.
    func isOutOfReach() -> Bool {
        guard position.identity != nil else { return false }
        if let root = Self.root, root != Self.currentRoot { return true }
        guard let home else { return false }
        var folder = LogPath(path: home.path)
        while true {
            do { return try fileSystem.status(at: folder.path).identity.device != home.device } catch {
                let above = LogPath(path: folder.folder)
                guard error.hidesEntry, above.path != folder.path else { return false }
                folder = above
            }
        }
    }

    /// The root folder when the first file was opened.
    static let root = currentRoot

    private static var currentRoot: FileIdentity? {
        do { return try SystemFileSystem().status(at: "/").identity } catch { return nil }
    }

    private func fileFolder(tries: Int) throws(FileSystemError) -> (path: String, status: FileStatus)? {
        do {
            guard let folder = try LogPath(path: path).walk(fileSystem).entries.last?.folder else { return nil }
            return (folder, try fileSystem.status(at: folder))
        } catch {
            // A part of the path was removed in between: the path leads elsewhere now, which has to be checked.
            guard error.code == .noEntry, tries > 1 else { throw error }
            return try fileFolder(tries: tries - 1)
        }
    }

    /// Throws if a program with more rights than the owner of a file or folder would do what that one wants.
    func checkOwner(_ status: FileStatus, _ path: String) throws(LogError) {
        let isTrusted = status.owner == fileSystem.user || status.owner == 0 || trustsOwners
        if fileSystem.isPrivileged, !isTrusted { throw .foreignOwner(path: path, owner: status.owner) }
    }

    /// Whether a line could be appended now, as far as the system tells without trying.
    mutating func isWritable() -> Bool {
        guard !isReadOnly else { return false }
        do {
            // It might have been corrected since.
            if position.isForeign { try catchUp(.all) }
            if position.isForeign { return false }
            try checkOwners(creating: true)
            if let status = try statusAtPath() {
                if let current, current.isWritable, current.identity == status.identity { return true }
                try checkOwner(status, path)
                return try fileSystem.isWritable(path, .file)
            }
            // The first folder that is there: the file, or the folder on the way to it, would be created in it.
            guard let folder = try LogPath(path: path).walk(fileSystem).entries.last?.folder else { return false }
            return try fileSystem.isWritable(folder, .folder)
        } catch { return false }
    }

    /// Lets the group of a folder use a new file if all files of the folder get its group (S_ISGID in inode(7)).
    func share(_ file: OpenFile, inFolder folder: String) throws(FileSystemError) {
        let shared: UInt32 = 0o2020
        guard try fileSystem.status(at: folder).mode & shared == shared else { return }
        try fileSystem.setMode(file, 0o660)
    }
}
