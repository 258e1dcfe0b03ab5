/// The parts of a path, and the way through links to the file that it means.
struct LogPath {
    let path: String

    /// The path of the folder, as a system call takes it.
    var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part.
    var name: String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[path.index(after: slash)...])
    }

    func sibling(_ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }

    /// The file at the end of a chain of links; the path itself where there is no link, or nothing.
    func resolved(_ fileSystem: any FileSystem) throws(FileSystemError) -> LogPath {
        try chain(fileSystem).last ?? self
    }

    /// The path, and what each link on the way to the file names.
    func chain(_ fileSystem: any FileSystem) throws(FileSystemError) -> [LogPath] {
        var chain = [self]
        // As many as the kernel follows (path_resolution(7)).
        for _ in 0..<40 {
            let current = chain[chain.count - 1]
            do {
                guard try fileSystem.linkStatus(at: current.path).kind == .link else { return chain }
            } catch {
                if error.code == .noEntry { return chain }
                throw error
            }
            let target = try fileSystem.target(ofLinkAt: current.path)
            chain.append(LogPath(path: target.hasPrefix("/") ? target : current.sibling(target)))
        }
        throw FileSystemError("open", path, .tooManyLinks)
    }

    /// The folder and those above it, each of which holds the entry of the one before.
    var folders: [String] {
        var (folders, current) = ([folder], LogPath(path: folder))
        while current.folder != current.path, current.path != "." {
            folders.append(current.folder)
            current = LogPath(path: current.folder)
        }
        return folders
    }

    /// Makes the folder and those above it.
    func makeFolders(_ fileSystem: any FileSystem) throws(FileSystemError) {
        let parent = LogPath(path: folder)
        do {
            try fileSystem.makeFolder(folder)
        } catch {
            if error.code == .exists { return }
            guard error.code == .noEntry, parent.folder != folder else { throw error }
            try parent.makeFolders(fileSystem)
            do { try fileSystem.makeFolder(folder) } catch {
                if error.code != .exists { throw error }
            }
        }
    }
}
