/// Listings of folders.
enum Folder {
    /// Returns the names of all entries, sorted, or `nil` if the folder doesn't exist.
    static func names(in path: String) throws -> [String]? {
        guard let directory = opendir(path) else {
            if errno == ENOENT { return nil }
            throw Failure("read", path, errno: errno)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
