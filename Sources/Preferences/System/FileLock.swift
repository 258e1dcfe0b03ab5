/// The lock of a file, until its release or the end of the process.
package final class FileLock: Sendable {
    private let file: OpenFile

    /// Creates the lock of a file, which is created with its folders if it is missing; fails if another lock of it exists.
    package init?(path: String) throws {
        let system = FileSystem.system
        _ = try system.makeFolders(to: path)
        file = try system.open(path, for: .creating)
        guard try system.lock(file) else { return nil }
    }
}
