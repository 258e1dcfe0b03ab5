/// A path, its parts, and the file that it leads to through links.
package struct LogPath {
    let path: String

    package init(path: String) { self.path = path }

    // A byte, as for the kernel: a slash and a combining mark after it are one `Character`.
    private static let slash = UInt8(ascii: "/")

    private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == slash }

    /// Returns the parts between the slashes, without empty ones.
    package static func parts(of path: String) -> [String] {
        var path = path
        // Not `split`: that of a string takes 8,000 instructions for a path of ten parts, which an open of a file splits four times, and
        // that of bytes needs a type that the runtime creates at its first use.
        return path.withUTF8 { bytes in
            var (parts, start) = ([String](), 0)
            for end in 0...bytes.count where end == bytes.count || bytes[end] == slash {
                let part = UnsafeBufferPointer(rebasing: bytes[start..<end])
                if !part.isEmpty { parts.append(String(decoding: part, as: UTF8.self)) }
                start = end + 1
            }
            return parts
        }
    }

    /// The path of the folder, in the form that system calls accept.
    var folder: String {
        guard let slash = path.utf8.lastIndex(of: Self.slash) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of the path.
    var name: String {
        guard let slash = path.utf8.lastIndex(of: Self.slash) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// Returns the path of another file in the same folder.
    package func sibling(_ name: String) -> String {
        folder == "/" ? "/" + name : folder + "/" + name
    }

    /// Returns the file at the end of a chain of links; the path itself if no link or nothing is there.
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
            current = LogPath(path: Self.isAbsolute(target) ? target : current.sibling(target))
        }
        throw FileSystemError("open", path, .tooManyLinks)
    }

    /// The number of links that the kernel follows (path_resolution(7)).
    private static let longestChain = 40

    /// The resolution of a path: every name that the kernel looks up, and the resulting path without links.
    package struct Walk: Equatable {
        package fileprivate(set) var entries: [WatchedEntry] = []
        package fileprivate(set) var real = ""

        /// The paths of the links among the entries.
        package var links: [String] { entries.filter(\.isLink).map { LogPath(path: $0.folder).child($0.name).path } }
    }

    /// Follows each part of the path up to the first one that doesn't exist or is in a folder that can't be entered; the
    /// parts after that are kept as they are.
    package func walk(_ fileSystem: any FileSystem = SystemFileSystem()) throws(FileSystemError) -> Walk {
        var walk = Walk()
        var folder = LogPath(path: Self.isAbsolute(path) ? "/" : ".")
        var rest = Array(Self.parts(of: path).reversed())
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
                guard error.hidesEntry else { throw error }
                // An event of the folder, and none of its entries, is about a folder that can't be entered.
                if error.code == .accessDenied, walk.entries.count > 1 { walk.entries.removeLast() }
                walk.real = rest.reversed().reduce(step) { $0.child($1) }.path
                return walk
            }
            links += 1
            if links > Self.longestChain { throw FileSystemError("open", path, .tooManyLinks) }
            walk.entries[walk.entries.count - 1].isLink = true
            let target = try fileSystem.target(ofLinkAt: step.path)
            if Self.isAbsolute(target) { folder = LogPath(path: "/") }
            rest += Self.parts(of: target).reversed()
        }
        walk.real = folder.path
        return walk
    }

    /// Returns the path without links, so that each file has one name; the path itself if it can't be followed.
    package func real(_ fileSystem: any FileSystem = SystemFileSystem()) -> String {
        do { return try walk(fileSystem).real } catch { return path }
    }

    func child(_ name: String) -> LogPath {
        switch path {
        case "/": LogPath(path: "/" + name)
        case ".": LogPath(path: name)
        default: LogPath(path: path + "/" + name)
        }
    }

    /// The folder and those above it; each holds the entry of the one before.
    var folders: [String] {
        var (folders, current) = ([folder], LogPath(path: folder))
        while current.folder != current.path, current.path != "." {
            folders.append(current.folder)
            current = LogPath(path: current.folder)
        }
        return folders
    }

    /// Creates the folder and those above it if they are missing, also one that a link leads to; returns the path without links.
    @discardableResult
    func makeFolders(_ fileSystem: any FileSystem) throws(FileSystemError) -> LogPath {
        let real = LogPath(path: real(fileSystem))
        try real.makeRealFolders(fileSystem)
        return real
    }

    private func makeRealFolders(_ fileSystem: any FileSystem) throws(FileSystemError) {
        let parent = LogPath(path: folder)
        do {
            try fileSystem.makeFolder(folder)
        } catch {
            if error.code == .exists { return }
            guard error.code == .noEntry, parent.folder != folder else { throw error }
            try parent.makeRealFolders(fileSystem)
            do { try fileSystem.makeFolder(folder) } catch {
                if error.code != .exists { throw error }
            }
        }
    }
}

/// A name in a folder on a watched path; when something happens to it, the path might lead to another file.
package struct WatchedEntry: Hashable, Sendable {
    /// The path of the folder, without links.
    var folder: String
    var name: String
    var isLink = false
}
