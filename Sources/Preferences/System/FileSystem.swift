internal import CPreferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A system call that failed, or a file that can't be used though no call failed.
package struct FileSystemError: Error, CustomStringConvertible {
    enum Kind: Equatable {
        case call
        /// Something else than a file is at the path.
        case notAFile(String)
        /// Another user, who could so choose what the program reads and writes, owns the file or its folder.
        case foreignOwner(UInt32)
        /// The file has a newer format, which a line says.
        case newerFormat(String)
    }

    let call: String
    let path: String
    let code: Int32
    var kind = Kind.call

    /// Whether the user isn't permitted to write here, as opposed to a failure.
    var deniesWriting: Bool { kind == .call && (code == EACCES || code == EPERM || code == EROFS) }
    var isReadOnlyFileSystem: Bool { code == EROFS }
    /// Whether nothing is at the path.
    var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    /// Whether the path leads to nothing that the user could see.
    var hidesEntry: Bool { isMissing || code == EACCES }
    var isNoEntry: Bool { code == ENOENT }
    var isExisting: Bool { code == EEXIST }
    /// Whether no space is left, or the file would exceed what the user or the process may store.
    var lacksSpace: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
    /// Whether the open file is another one's by now, as on a network, or was closed by the program.
    var isStale: Bool { code == ESTALE || code == EBADF }
    /// Whether the file can't be replaced: it is mounted by itself, or its owner and attributes can't be given to another one.
    var deniesReplacing: Bool { deniesWriting || code == EBUSY || code == EXDEV }

    static func noSpace(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, code: ENOSPC)
    }
    static func tooLarge(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, code: EFBIG)
    }
    static func inUse(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, code: EBUSY)
    }
    static func missing(_ path: String) -> FileSystemError { FileSystemError(call: "open", path: path, code: ENOENT) }

    package var description: String {
        switch kind {
        case .call: "\(call) \(path): \(String(cString: strerror(code)))"
        case .notAFile(let kind): "\(path) is a \(kind), not a file"
        case .foreignOwner(let user): "\(path) belongs to the user \(user)"
        case .newerFormat(let reason): "\(path): \(reason)"
        }
    }
}

/// The identity of a file and what tells that it changed.
struct FileStatus: Equatable, Sendable {
    var device: UInt64, inode: UInt64, size: Int64
    /// When the content was changed, and when anything was.
    var modified: Int64, changed: Int64
    var mode: UInt32, owner: UInt32, group: UInt32, links: UInt64

    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
    var isFolder: Bool { kind == S_IFDIR }
    var isLink: Bool { kind == S_IFLNK }
    private var kind: mode_t { mode_t(mode) & mode_t(S_IFMT) }

    /// The word for what isn't a file.
    var otherKind: String? {
        switch kind {
        case S_IFREG: nil
        case S_IFDIR: "folder"
        case S_IFIFO: "pipe"
        case S_IFCHR, S_IFBLK: "device"
        default: "socket"
        }
    }

    /// Whether new files get the group of the folder, which can write there (S_ISGID in inode(7)).
    var sharesGroup: Bool { mode & 0o2020 == 0o2020 }
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
package class FileSystem: @unchecked Sendable {  // it has no state
    package static let system = FileSystem()

    enum Purpose { case reading, appending, creating, replacing, folder }

    init() {}

    /// Called before each call that can fail; a test's throws in place of it.
    func willCall(_ call: String, _ path: String) throws(FileSystemError) {}

    final func retrying<Result: SignedInteger>(_ call: String, _ path: String, _ body: () -> Result)
        throws(FileSystemError) -> Result
    {
        try willCall(call, path)
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw FileSystemError(call: call, path: path, code: errno) }
        }
    }

    // MARK: Open files

    /// Opens a file, which messages name otherwise if `name` isn't nil.
    func open(_ path: String, for purpose: Purpose, named name: String? = nil) throws(FileSystemError) -> OpenFile {
        // Without O_NONBLOCK, opening a pipe that has no writer would block for ever.
        let common = O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let flags =
            switch purpose {
            case .reading: common | O_RDONLY
            case .appending: common | O_RDWR | O_APPEND
            case .creating: common | O_RDWR | O_APPEND | O_CREAT
            case .replacing: common | O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW
            case .folder: common | O_RDONLY | O_DIRECTORY
            }
        let descriptor = try high(try retrying("open", path) { openPath(path, flags) }, path)
        return OpenFile(descriptor, name ?? path, isWritable: purpose != .reading && purpose != .folder, self)
    }

    /// Returns a descriptor above 2: a program with closed standard streams would print into the file.
    func high(_ descriptor: Int32, _ path: String) throws(FileSystemError) -> Int32 {
        guard descriptor < 3 else { return descriptor }
        defer { closeDescriptor(descriptor) }
        return try retrying("fcntl", path) { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
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

    /// The offset behind the last write.
    func position(_ file: OpenFile) throws(FileSystemError) -> Int64 {
        Int64(try retrying("lseek", file.path) { lseek(file.descriptor, 0, SEEK_CUR) })
    }

    func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError) {
        _ = try retrying("ftruncate", file.path) { ftruncate(file.descriptor, off_t(size)) }
    }

    func sync(_ file: OpenFile) throws(FileSystemError) {
        _ = try retrying("fsync", file.path) { fsync(file.descriptor) }
    }

    /// Syncs what is needed to read the content again.
    func syncContent(_ file: OpenFile) throws(FileSystemError) {
        _ = try retrying("fdatasync", file.path) { preferences_sync_content(file.descriptor) }
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

    /// Gives a file the owner, access lists, attributes and mode of another one.
    func copyAccess(from old: OpenFile, _ oldStatus: FileStatus, to new: OpenFile) throws(FileSystemError) {
        let status = try status(new)
        if (status.owner, status.group) != (oldStatus.owner, oldStatus.group) {
            _ = try retrying("fchown", new.path) { fchown(new.descriptor, oldStatus.owner, oldStatus.group) }
        }
        // Before the mode: with an access control list, the mode's group bits are the most that the list can grant (acl(5)).
        _ = try retrying("fsetxattr", new.path) { preferences_copy_attributes(old.descriptor, new.descriptor) }
        try setMode(oldStatus.mode & 0o7777, of: new)
    }

    func setMode(_ mode: UInt32, of file: OpenFile) throws(FileSystemError) {
        _ = try retrying("fchmod", file.path) { fchmod(file.descriptor, mode_t(mode)) }
    }

    // MARK: Paths

    func status(at path: String, followsLinks: Bool = true) throws(FileSystemError) -> FileStatus {
        var status = preferences_status()
        _ = try retrying(followsLinks ? "stat" : "lstat", path) {
            path.withCString { preferences_get_status(-1, $0, followsLinks, &status) }
        }
        return FileStatus(status)
    }

    /// Whether no other file can take the place of a file without separating it from its other names.
    func hasOtherNames(_ path: String) throws(FileSystemError) -> Bool {
        try retrying("statx", path) { preferences_has_other_names(path) } > 0
    }

    /// Whether other machines might change a file without an event.
    func isRemote(_ path: String) throws(FileSystemError) -> Bool {
        try retrying("statfs", path) { preferences_is_remote(path) } > 0
    }

    func target(ofLinkAt path: String) throws(FileSystemError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try retrying("readlink", path) { readlink(path, &buffer, buffer.count) }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        _ = try retrying("rename", newPath) { renamePath(path, newPath) }
    }

    /// Exchanges two files in one step; returns false if the file system can't.
    func exchange(_ path: String, with newPath: String) throws(FileSystemError) -> Bool {
        do {
            _ = try retrying("renameat2", newPath) { preferences_exchange(path, newPath) }
            return true
        } catch {
            if error.code == EINVAL || error.code == ENOSYS || error.code == ENOTSUP { return false }
            throw error
        }
    }

    /// Removes a file or an empty folder.
    func remove(_ path: String) throws(FileSystemError) { _ = try retrying("unlink", path) { removePath(path) } }

    func makeFolder(_ path: String) throws(FileSystemError) { _ = try retrying("mkdir", path) { mkdir(path, 0o700) } }

    func names(inFolder path: String) throws(FileSystemError) -> [String] {
        try willCall("opendir", path)
        guard let folder = opendir(path) else { throw FileSystemError(call: "opendir", path: path, code: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                if errno != 0 { throw FileSystemError(call: "readdir", path: path, code: errno) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    /// Whether the effective user may write a file, or make files in a folder.
    func isWritable(_ path: String, isFolder: Bool = false) -> Bool {
        faccessat(AT_FDCWD, path, isFolder ? W_OK | X_OK : W_OK, AT_EACCESS) == 0
    }

    /// Whether the effective user may list a folder.
    func isReadable(_ path: String) -> Bool { faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 }

    // MARK: The process

    /// The effective user, and whether it must not be led by the files of others.
    var user: UInt32 { geteuid() }
    var isPrivileged: Bool { preferences_is_privileged() }

    /// The largest size of a file that this process may write.
    var sizeLimit: Int64 { preferences_size_limit() }

    func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    func sleep(nanoseconds: Int64) {
        var rest = timespec()
        (rest.tv_sec, rest.tv_nsec) = (Int(nanoseconds / 1_000_000_000), Int(nanoseconds % 1_000_000_000))
        nanosleep(&rest, nil)
    }
}

// C functions that are hidden by a method of the same name.
private func openPath(_ path: String, _ flags: Int32) -> Int32 { open(path, flags, 0o600) }
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
private func renamePath(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }
private func removePath(_ path: String) -> Int32 { remove(path) }

extension FileStatus {
    fileprivate init(_ status: preferences_status) {
        self.init(
            device: status.device,
            inode: status.inode,
            size: status.size,
            modified: status.modified,
            changed: status.changed,
            mode: status.mode,
            owner: status.owner,
            group: status.group,
            links: status.links
        )
    }
}
