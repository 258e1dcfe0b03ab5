#if canImport(Darwin)
internal import Darwin
internal import Foundation

extension SystemFileSystem {
    package func syncData(_ file: OpenFile) throws(FileSystemError) {
        // fsync(2) on Darwin leaves the data in the drive's cache; only this reaches the medium.
        _ = try Self.retrying("fcntl(F_FULLFSYNC)", file.path) { fcntl(file.descriptor, F_FULLFSYNC) }
    }

    package func isRemote(_ path: String) throws(FileSystemError) -> Bool {
        // Not statfs(2), for which Apple wants a reason that this isn't.
        do {
            let values = try URL(filePath: path).resourceValues(forKeys: [.volumeIsLocalKey])
            return values.volumeIsLocal == false
        } catch {
            throw FileSystemError("volumeIsLocal", path, .inputOutput)
        }
    }

    package func makeEventQueue() throws(FileSystemError) -> OpenFile? { nil }

    package func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError) {
        // A list of `from` replaces that of `to`; an empty one is copied too (copyfile(3)).
        _ = try Self.retrying("fcopyfile", to.path) {
            fcopyfile(from.descriptor, to.descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR))
        }
    }

    package func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32 {
        throw FileSystemError("inotify_add_watch", folder, .notSupported)
    }

    package func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError) {
        throw FileSystemError("inotify_rm_watch", queue.path, .notSupported)
    }

    package func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent] { [] }
}

extension stat {
    var modificationTime: timespec { st_mtimespec }
}
#endif
