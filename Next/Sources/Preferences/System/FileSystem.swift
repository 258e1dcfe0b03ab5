#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import CPreferences

/// A system call that failed.
struct FileSystemError: Error, CustomStringConvertible {
    let call: String
    let path: String
    let code: Int32

    /// Whether the user isn't permitted to write here, as opposed to a failure.
    var deniesWriting: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// Whether nothing is at the path.
    var isMissing: Bool { code == ENOENT || code == ENOTDIR }

    var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}

/// The identity of a file and what tells that it changed.
struct FileStatus: Equatable, Sendable {
    var device: UInt64, inode: UInt64, size: Int64, modified: Int64
    var mode: UInt32, owner: UInt32, group: UInt32, links: UInt64

    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
    var isRegular: Bool { mode_t(mode) & S_IFMT == S_IFREG }
    var isFolder: Bool { mode_t(mode) & S_IFMT == S_IFDIR }
    var isLink: Bool { mode_t(mode) & S_IFMT == S_IFLNK }
}

/// An open file, closed with its last reference.
final class OpenFile: Sendable {
    let descriptor: Int32
    let path: String
    let isWritable: Bool
    private let system: FileSystem

    init(_ descriptor: Int32, _ path: String, isWritable: Bool, _ system: FileSystem) {
        (self.descriptor, self.path, self.isWritable, self.system) = (descriptor, path, isWritable, system)
    }

    deinit { system.close(descriptor) }
}

/// The system calls, each of which a subclass of a test can record and make fail. They repeat what a signal interrupted.
class FileSystem: @unchecked Sendable {  // it has no state
    static let system = FileSystem()

    enum Purpose { case reading, appending, creating, replacing, folder }

    init() {}

    final func retrying<Result: SignedInteger>(_ call: String, _ path: String, _ body: () -> Result)
        throws(FileSystemError) -> Result
    {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw FileSystemError(call: call, path: path, code: errno) }
        }
    }

    func open(_ path: String, for purpose: Purpose, mode: UInt32 = 0o600) throws(FileSystemError) -> OpenFile {
        let common = O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let flags =
            switch purpose {
            case .reading: common | O_RDONLY
            case .appending: common | O_RDWR | O_APPEND
            case .creating: common | O_RDWR | O_APPEND | O_CREAT
            case .replacing: common | O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW
            case .folder: common | O_RDONLY | O_DIRECTORY
            }
        var descriptor = try retrying("open", path) { openPath(path, flags, mode_t(mode)) }
        if descriptor < 3 {
            // A program with closed standard streams would print into the file.
            let high = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            close(descriptor)
            guard high >= 0 else { throw FileSystemError(call: "fcntl", path: path, code: errno) }
            descriptor = high
        }
        return OpenFile(descriptor, path, isWritable: purpose != .reading && purpose != .folder, self)
    }

    func close(_ descriptor: Int32) { closeDescriptor(descriptor) }

    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64)
        throws(FileSystemError) -> Int
    {
        try retrying("read", file.path) { pread(file.descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    }

    func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int {
        try retrying("write", file.path) { writeBytes(file.descriptor, bytes) }
    }

    func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError) {
        _ = try retrying("ftruncate", file.path) { ftruncate(file.descriptor, off_t(size)) }
    }

    func sync(_ file: OpenFile) throws(FileSystemError) {
        _ = try retrying("fsync", file.path) { fsync(file.descriptor) }
    }

    /// Takes the lock of a file; returns false if another process has it.
    func lock(_ file: OpenFile) throws(FileSystemError) -> Bool {
        do {
            _ = try retrying("flock", file.path) { flock(file.descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw error
        }
    }

    func unlock(_ file: OpenFile) { _ = flock(file.descriptor, LOCK_UN) }

    func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus {
        var status = preferences_status()
        _ = try retrying("fstat", file.path) { preferences_get_status(file.descriptor, nil, true, &status) }
        return FileStatus(status)
    }

    func status(at path: String, followsLinks: Bool = true) throws(FileSystemError) -> FileStatus {
        var status = preferences_status()
        _ = try retrying("stat", path) { path.withCString { preferences_get_status(-1, $0, followsLinks, &status) } }
        return FileStatus(status)
    }

    func target(ofLinkAt path: String) throws(FileSystemError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try retrying("readlink", path) { readlink(path, &buffer, buffer.count) }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func realPath(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        _ = try retrying("rename", newPath) { renamePath(path, newPath) }
    }

    func remove(_ path: String) throws(FileSystemError) { _ = try retrying("unlink", path) { unlink(path) } }

    func makeFolder(_ path: String) throws(FileSystemError) { _ = try retrying("mkdir", path) { mkdir(path, 0o700) } }

    func names(inFolder path: String) throws(FileSystemError) -> [String] {
        guard let folder = opendir(path) else { throw FileSystemError(call: "opendir", path: path, code: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Gives a file the mode and the owner of another one.
    func copyAccess(of status: FileStatus, to file: OpenFile) throws(FileSystemError) {
        _ = fchown(file.descriptor, status.owner, status.group)  // only root may give a file away
        _ = try retrying("fchmod", file.path) { fchmod(file.descriptor, mode_t(status.mode & 0o7777)) }
    }

    func isWritable(_ path: String) -> Bool { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 }

    /// Whether a few more files can be opened, by trying.
    var hasDescriptor: Bool {
        let descriptors = (0..<4).map { _ in openPath("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0) }
        for descriptor in descriptors where descriptor >= 0 { closeDescriptor(descriptor) }
        return descriptors.allSatisfy { $0 >= 0 }
    }

    func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    func sleep(nanoseconds: Int64) {
        var rest = timespec()
        (rest.tv_sec, rest.tv_nsec) = (Int(nanoseconds / 1_000_000_000), Int(nanoseconds % 1_000_000_000))
        nanosleep(&rest, nil)
    }

    // MARK: Watching (inotify(7))

    func openWatchQueue() throws(FileSystemError) -> Int32 { try retrying("inotify_init", "") { inotify_init1(Int32(IN_CLOEXEC)) } }

    func addWatch(_ folder: String, to queue: Int32) throws(FileSystemError) -> Int32 {
        let events =
            IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR
        return try retrying("inotify_add_watch", folder) { inotify_add_watch(queue, folder, UInt32(events)) }
    }

    func removeWatch(_ watch: Int32, from queue: Int32) { inotify_rm_watch(queue, watch) }

    /// Waits for events; calls `body` with the watch and the name of each, or a watch of -1 if some were lost.
    func readWatchEvents(_ queue: Int32, _ body: (Int32, String) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            let count = Glibc.read(queue, buffer.baseAddress, buffer.count)
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= count {
                let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                let start = offset + MemoryLayout<inotify_event>.size
                let name = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
                body(event.mask & UInt32(IN_Q_OVERFLOW) != 0 ? -1 : event.wd, String(decoding: name, as: UTF8.self))
                offset = start + Int(event.len)
            }
        }
    }
}

// C functions that are hidden by a method of the same name.
private func openPath(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int { write(descriptor, bytes.baseAddress, bytes.count) }
private func renamePath(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

extension FileStatus {
    fileprivate init(_ status: preferences_status) {
        self.init(
            device: status.device, inode: status.inode, size: status.size, modified: status.modified,
            mode: status.mode, owner: status.owner, group: status.group, links: status.links
        )
    }
}
