/// A name in a folder that exists; when something happens to it, a watched path may mean another file.
struct WatchedEntry: Hashable, Sendable {
    var folder: String
    var name: String

    /// The entries of the path and of what each link on the way to its target names; where a folder doesn't exist, the
    /// nearest above it and what is missing there.
    static func all(of path: String, _ fileSystem: any FileSystem) throws(FileSystemError) -> [WatchedEntry] {
        try LogPath(path: path).chain(fileSystem).map { step in
            var step = step
            while !exists(step.folder, fileSystem), step.folder != "/", step.folder != "." {
                step = LogPath(path: step.folder)
            }
            return WatchedEntry(folder: step.folder, name: step.name)
        }
    }

    private static func exists(_ folder: String, _ fileSystem: any FileSystem) -> Bool {
        do { return try fileSystem.status(at: folder).kind == .folder } catch { return false }
    }
}
