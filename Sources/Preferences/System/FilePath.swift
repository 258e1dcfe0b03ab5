// Paths as the kernel follows them.

extension String {
    // By bytes: a slash and a combining mark after it are one `Character`.

    /// The folder of a path, in the form that system calls accept.
    var folder: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    var lastComponent: String {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self }
        return String(self[utf8.index(after: slash)...])
    }

    /// The path of an entry of the folder at this path.
    func entry(_ name: String) -> String {
        switch self {
        case "/": "/" + name
        case ".": name
        default: self + "/" + name
        }
    }

    /// The folder and those above it; each has the entry of the one before.
    var foldersAbove: [String] {
        var (folders, current) = ([folder], folder)
        while current.folder != current, current != "." {
            current = current.folder
            folders.append(current)
        }
        return folders
    }
}

/// The names that the kernel looks up on the way to a file, and the path without links that they lead to.
package struct PathWalk: Equatable {
    struct Entry: Equatable {
        /// The path of the folder, without links.
        let folder: String
        let name: String
        var isLink = false
    }

    private(set) var entries: [Entry] = []
    private(set) var real = ""

    /// The paths of the links.
    package var links: [String] { entries.filter(\.isLink).map { $0.folder.entry($0.name) } }

    /// The number of links that the kernel follows (path_resolution(7)).
    private static let longestChain = 40

    /// Creates the walk along each part of a path up to the first that doesn't exist or is in a folder that can't be entered; the parts
    /// after that are kept as they are.
    package init(_ path: String, _ system: FileSystem) throws(FileSystemError) {
        func parts(_ path: String) -> [String] {
            path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }
        }
        var folder = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
        var (rest, links) = (parts(path), 0)
        while let name = rest.popLast() {
            if name == "." { continue }
            let step = folder.entry(name)
            if name == ".." {
                folder = folder == "." || folder.lastComponent == ".." ? step : folder.folder
                continue
            }
            entries.append(Entry(folder: folder, name: name))
            do {
                guard try system.status(at: step, followsLinks: false).isLink else {
                    folder = step
                    continue
                }
            } catch {
                guard error.hidesEntry else { throw error }
                // An event of the folder, and none of its entries, is about a folder that can't be entered.
                if !error.isMissing, entries.count > 1 { entries.removeLast() }
                real = rest.reversed().reduce(step) { $0.entry($1) }
                return
            }
            links += 1
            // The kernel says the same when the path is opened.
            if links > Self.longestChain { break }
            entries[entries.count - 1].isLink = true
            let target = try system.target(ofLinkAt: step)
            if target.utf8.first == UInt8(ascii: "/") { folder = "/" }
            rest += parts(target)
        }
        real = folder
    }
}

extension FileSystem {
    /// Creates the folders of a path that are missing, also those that a link leads to; returns those that it has created.
    func makeFolders(to path: String) throws(FileSystemError) -> [String] {
        var made: [String] = []
        try makeRealFolders(to: PathWalk(path, self).real, &made)
        return made
    }

    private func makeRealFolders(to path: String, _ made: inout [String]) throws(FileSystemError) {
        let folder = path.folder
        do { try makeFolder(folder) } catch {
            if error.isExisting { return }
            guard error.isNoEntry, folder.folder != folder else { throw error }
            try makeRealFolders(to: folder, &made)
            do { try makeFolder(folder) } catch {
                if error.isExisting { return }
                throw error
            }
        }
        made.append(folder)
    }

    /// Removes a file, or an empty folder; it is no failure if that isn't possible.
    func discard(_ path: String) {
        do throws(FileSystemError) { try remove(path) } catch {}
    }
}
