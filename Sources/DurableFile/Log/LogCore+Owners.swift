extension LogCore {
    /// Throws if a user whom the program must not trust owns a link of the path or the file's folder, and so could choose
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

    /// Throws unless the program may trust the owner of a file, folder or link.
    ///
    /// A program with more rights than the owner must not do what that one wants. Others have chosen the place, and the
    /// owner with it, unless anyone can put files there.
    func checkOwner(_ status: FileStatus, _ path: String) throws(LogError) {
        if status.owner == fileSystem.user || status.owner == 0 || trustsOwners { return }
        if fileSystem.standsForOthers(status.owner) { return }
        if !fileSystem.isPrivileged, !isInOpenFolder(path) { return }
        throw .foreignOwner(path: path, owner: status.owner)
    }

    /// Whether all users can create and rename files next to one.
    private func isInOpenFolder(_ path: String) -> Bool {
        do { return try fileSystem.status(at: LogPath(path: path).folder).mode & 0o002 != 0 } catch { return true }
    }

    /// Lets the group of a folder use a new file if all files of the folder get its group (S_ISGID in inode(7)).
    func share(_ file: OpenFile, inFolder folder: String) throws(FileSystemError) {
        let shared: UInt32 = 0o2020
        guard try fileSystem.status(at: folder).mode & shared == shared else { return }
        try fileSystem.setMode(file, 0o660)
    }
}
