extension LogCore {
    /// Throws if a user whom the program must not trust owns a link of the path or the file's folder, and so could choose
    /// which file is used; returns the folder without links, and its device.
    @discardableResult
    func checkOwners(creating: Bool) throws(LogError) -> Home? {
        let owned: [Place]
        do { owned = try linksAndFolder(tries: 3) } catch { throw creating ? LogError(writing: error) : .failed(error) }
        for place in owned { try checkOwner(place.status, place.path) }
        guard let last = owned.last, last.status.kind == .folder else { return nil }
        return Home(path: last.path, device: last.status.identity.device)
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

    // Not a tuple, whose type takes twice as long to be created.
    private struct Place {
        let path: String
        let status: FileStatus
    }

    private func linksAndFolder(tries: Int) throws(FileSystemError) -> [Place] {
        do {
            let walk = try LogPath(path: path).walk(fileSystem)
            var owned: [Place] = []
            for link in walk.links { owned.append(Place(path: link, status: try fileSystem.linkStatus(at: link))) }
            if let folder = walk.entries.last?.folder {
                owned.append(Place(path: folder, status: try fileSystem.status(at: folder)))
            }
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
    /// owner with it, unless anyone could have put there what is at the path.
    func checkOwner(_ status: FileStatus, _ path: String) throws(LogError) {
        if trusts(status.owner) || trustsOwners { return }
        if !fileSystem.isPrivileged, !isInOpenFolder(path) { return }
        throw .foreignOwner(path: path, owner: status.owner)
    }

    private func trusts(_ owner: UInt32) -> Bool {
        owner == fileSystem.user || owner == 0 || fileSystem.standsForOthers(owner)
    }

    /// Whether the way to a file leads through a name that any user could have created: one of another user, in a folder
    /// that all users can write, sticky or not.
    ///
    /// Anything below a name of this user or of root is there because they allow it. The last name is of another user, who might have
    /// replaced it since that was found.
    private func isInOpenFolder(_ path: String) -> Bool {
        do {
            let entries = try LogPath(path: path).walk(fileSystem).entries
            return try entries.contains { entry throws(FileSystemError) in
                guard try fileSystem.status(at: entry.folder).mode & 0o002 != 0 else { return false }
                if entry == entries.last { return true }
                return try !trusts(fileSystem.linkStatus(at: LogPath(path: entry.folder).child(entry.name).path).owner)
            }
        } catch { return true }
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
