#if os(Linux)
internal import CDurableFile
extension SystemFileSystem {
    /// The flags of a folder's descriptor that fails all use as a closed one does (O_PATH, open(2)).
    static var placeholder: Int32 { 0o10_000_000 | O_CLOEXEC | O_DIRECTORY }

    package func syncData(_ file: OpenFile) throws(FileSystemError) {
        _ = try Self.retrying("fdatasync", file.path) { fdatasync(file.descriptor) }
    }

    package func isRemote(_ path: String) throws(FileSystemError) -> Bool {
        let type = try Self.retrying("statfs", path) { path.withCString { durable_file_system_type($0) } }
        // statfs(2), linux/magic.h: NFS, SMB, SMB2, CIFS, CODA, NCP, AFS (two), Ceph, 9P, FUSE (sshfs and the like).
        let remote: Set<Int64> = [
            0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x7375_7245, 0x564c, 0x5346_414f, 0x6b41_4653, 0x00c3_6400,
            0x0102_1997, 0x6573_5546,
        ]
        return remote.contains(type)
    }

    package func reopen(_ file: OpenFile) throws(FileSystemError) -> OpenFile {
        let same = try open("/proc/self/fd/\(file.descriptor)", for: .reading)
        same.rename(to: file.path)
        return same
    }

    package func hasWriters(_ file: OpenFile) throws(FileSystemError) -> Bool {
        let answer = durable_file_has_writers(file.descriptor)
        if answer < 0 { throw FileSystemError("fcntl", file.path, .accessDenied) }
        return answer != 0
    }

    package var isPrivileged: Bool { user == 0 || durable_file_is_elevated() }

    package func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError) {
        _ = try Self.retrying("fsetxattr", to.path) {
            durable_file_copy_attributes(from.descriptor, to.descriptor)
        }
    }

    package func makeEventQueue() throws(FileSystemError) -> OpenFile? {
        let descriptor = try Self.opening("inotify_init1", "") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) }
        return OpenFile(descriptor: descriptor, path: "inotify", fileSystem: self)
    }

    package func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32 {
        // IN_ATTRIB: a folder that this user may enter from now on, a file that gets another link.
        let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
        let mask = namesOnly ? names : names | IN_MODIFY | IN_CLOSE_WRITE
        return try Self.retrying("inotify_add_watch", folder) {
            folder.withCString {
                inotify_add_watch(queue.descriptor, $0, UInt32(mask) | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD))
            }
        }
    }

    package func addWatch(_ queue: OpenFile, file: String) throws(FileSystemError) -> Int32 {
        let mask = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
        return try Self.retrying("inotify_add_watch", file) {
            file.withCString { inotify_add_watch(queue.descriptor, $0, UInt32(mask) | UInt32(IN_MASK_ADD)) }
        }
    }

    package func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError) {
        _ = try Self.retrying("inotify_rm_watch", queue.path) { inotify_rm_watch(queue.descriptor, watch) }
    }

    package func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 8)
        defer { buffer.deallocate() }
        do {
            // Read once: while a program keeps writing to a file of the folder, there are always more events.
            let count = try Self.retrying("read", queue.path) { readBytes(queue.descriptor, buffer) }
            return FolderEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        } catch {
            if error.code == .wouldBlock { return [] }
            throw error
        }
    }
}

extension FolderEvent {
    /// Returns the events in a buffer of `struct inotify_event` (inotify(7)).
    static func all(in bytes: UnsafeRawBufferPointer) -> [FolderEvent] {
        var events: [FolderEvent] = []
        var start = 0
        while start + 16 <= bytes.count {
            let mask = Int(bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self))
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
            let name = bytes[(start + 16)...].prefix(length).prefix { $0 != 0 }
            let kind: Kind =
                if mask & Int(IN_Q_OVERFLOW) != 0 {
                    .overflow
                } else if mask & (Int(IN_DELETE_SELF) | Int(IN_MOVE_SELF) | Int(IN_IGNORED) | Int(IN_UNMOUNT)) != 0 {
                    .folderGone
                } else if mask & Int(IN_MODIFY) != 0 {
                    .content
                } else if mask & Int(IN_CLOSE_WRITE) != 0 {
                    .closed
                } else if mask & Int(IN_MOVED_TO) != 0 {
                    .arrived
                } else {
                    .name
                }
            let watch = bytes.loadUnaligned(fromByteOffset: start, as: Int32.self)
            events.append(FolderEvent(watch: watch, name: String(decoding: name, as: UTF8.self), kind: kind))
            start += 16 + length
        }
        return events
    }
}

extension stat {
    var modificationTime: timespec { st_mtim }
    var statusChangeTime: timespec { st_ctim }
}
#endif

#if canImport(Darwin)
internal import Foundation

extension SystemFileSystem {
    static var placeholder: Int32 { O_RDONLY | O_CLOEXEC | O_DIRECTORY }

    package func syncData(_ file: OpenFile) throws(FileSystemError) {
        // fsync(2) on Darwin leaves the data in the drive's cache; only this reaches the medium.
        _ = try Self.retrying("fcntl(F_FULLFSYNC)", file.path) { fcntl(file.descriptor, F_FULLFSYNC) }
    }

    package func isRemote(_ path: String) throws(FileSystemError) -> Bool {
        // Not statfs(2): Apple requires a reason for its use, and this isn't one that it accepts.
        do {
            let values = try URL(filePath: path).resourceValues(forKeys: [.volumeIsLocalKey])
            return values.volumeIsLocal == false
        } catch {
            throw FileSystemError("volumeIsLocal", path, .inputOutput)
        }
    }

    package func makeEventQueue() throws(FileSystemError) -> OpenFile? { nil }

    package func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError) {
        // The access control list of `from` replaces that of `to`, even if it is empty (copyfile(3)).
        _ = try Self.retrying("fcopyfile", to.path) {
            fcopyfile(from.descriptor, to.descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR))
        }
    }

    package func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32 {
        throw FileSystemError("inotify_add_watch", folder, .notSupported)
    }

    package func addWatch(_ queue: OpenFile, file: String) throws(FileSystemError) -> Int32 {
        throw FileSystemError("inotify_add_watch", file, .notSupported)
    }

    package func reopen(_ file: OpenFile) throws(FileSystemError) -> OpenFile {
        throw FileSystemError("open", file.path, .notSupported)
    }

    package func hasWriters(_ file: OpenFile) throws(FileSystemError) -> Bool { false }
    package var isPrivileged: Bool { user == 0 || issetugid() != 0 }

    package func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError) {
        throw FileSystemError("inotify_rm_watch", queue.path, .notSupported)
    }

    package func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent] { [] }
}

extension stat {
    var modificationTime: timespec { st_mtimespec }
    var statusChangeTime: timespec { st_ctimespec }
}
#endif
