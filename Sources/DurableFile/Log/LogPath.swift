/// The parts of a path, and the way through links to the file that it means.
package struct LogPath {
    let path: String

    package init(path: String) { self.path = path }

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

    /// The path of another file in the same folder.
    package func sibling(_ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }

    /// The file at the end of a chain of links; the path itself if there is no link, or nothing.
    func resolved(_ fileSystem: any FileSystem) throws(FileSystemError) -> LogPath {
        var current = self
        for _ in 0..<Self.longestChain {
            do {
                guard try fileSystem.linkStatus(at: current.path).kind == .link else { return current }
            } catch {
                if error.code == .noEntry { return current }
                throw error
            }
            let target = try fileSystem.target(ofLinkAt: current.path)
            current = LogPath(path: target.hasPrefix("/") ? target : current.sibling(target))
        }
        throw FileSystemError("open", path, .tooManyLinks)
    }

    /// As many links as the kernel follows (path_resolution(7)).
    private static let longestChain = 40

    /// The way to a file: every name that the kernel looks up, and the path without links that they lead to.
    package struct Walk: Equatable {
        package fileprivate(set) var entries: [WatchedEntry] = []
        package fileprivate(set) var real = ""

        /// The paths of the links on the way.
        package var links: [String] { entries.filter(\.isLink).map { LogPath(path: $0.folder).child($0.name).path } }
    }

    /// Follows each part of the path, up to one that doesn't exist; the parts behind it are kept as they are.
    package func walk(_ fileSystem: any FileSystem = SystemFileSystem()) throws(FileSystemError) -> Walk {
        var walk = Walk()
        var folder = LogPath(path: path.hasPrefix("/") ? "/" : ".")
        var rest = Array(path.split(separator: "/").map(String.init).reversed())
        var links = 0
        while let name = rest.popLast() {
            if name == "." { continue }
            let step = folder.child(name)
            if name == ".." {
                folder = folder.path == "." || folder.name == ".." ? step : LogPath(path: folder.folder)
                continue
            }
            walk.entries.append(WatchedEntry(folder: folder.path, name: name))
            do {
                guard try fileSystem.linkStatus(at: step.path).kind == .link else {
                    folder = step
                    continue
                }
            } catch {
                guard error.code == .noEntry || error.code == .notAFolder else { throw error }
                walk.real = rest.reversed().reduce(step) { $0.child($1) }.path
                return walk
            }
            links += 1
            if links > Self.longestChain { throw FileSystemError("open", path, .tooManyLinks) }
            walk.entries[walk.entries.count - 1].isLink = true
            let target = try fileSystem.target(ofLinkAt: step.path)
            if target.hasPrefix("/") { folder = LogPath(path: "/") }
            rest += target.split(separator: "/").map(String.init).reversed()
        }
        walk.real = folder.path
        return walk
    }

    /// The path without links, so that a file has one name; the path itself if it can't be followed.
    package func real(_ fileSystem: any FileSystem = SystemFileSystem()) -> String {
        do { return try walk(fileSystem).real } catch { return path }
    }

    fileprivate func child(_ name: String) -> LogPath {
        switch path {
        case "/": LogPath(path: "/" + name)
        case ".": LogPath(path: name)
        default: LogPath(path: path + "/" + name)
        }
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
