internal import CDurableFile

/// The operating system's file system.
package struct SystemFileSystem: FileSystem {
    package init() {}

    /// Repeats a call while signals interrupt it; the only place that handles `EINTR`.
    static func retrying<Result: SignedInteger>(
        _ call: String,
        _ path: @autoclosure () -> String,
        _ body: () -> Result
    ) throws(FileSystemError) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = FileSystemError.Code(rawValue: errno)
            if code != .interrupted { throw FileSystemError(call, path(), code) }
        }
    }

    package func open(_ path: String, for purpose: OpenPurpose) throws(FileSystemError) -> OpenFile {
        // O_NONBLOCK: without it, opening a pipe that has no writer would block for ever. It has no effect on a regular
        // file.
        let common = O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let flags =
            switch purpose {
            case .appending: common | O_RDWR | O_APPEND
            case .creating: common | O_RDWR | O_APPEND | O_CREAT
            case .reading: common | O_RDONLY
            // Without O_APPEND, with which Linux appends whatever the offset (pwrite(2)).
            case .overwriting: common | O_RDWR
            case .replacing: common | O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW
            case .folder: common | O_RDONLY | O_DIRECTORY
            }
        let descriptor = try Self.opening("open", path) { openPath(path, flags) }
        return OpenFile(descriptor: descriptor, path: path, fileSystem: self)
    }

    package func close(_ descriptor: Int32) {
        // Not repeated after EINTR: Linux has closed the descriptor, and the number might already be another thread's
        // (close(2)).
        closeDescriptor(descriptor)
    }

    package func read(
        _ file: OpenFile,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(FileSystemError) -> Int {
        try Self.retrying("read", file.path) { pread(file.descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    }

    package func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int {
        try Self.retrying("write", file.path) { write(file.descriptor, bytes.baseAddress, bytes.count) }
    }

    package func overwrite(
        _ bytes: UnsafeRawBufferPointer,
        in file: OpenFile,
        at offset: Int64
    ) throws(FileSystemError) -> Int {
        try Self.retrying("pwrite", file.path) {
            pwrite(file.descriptor, bytes.baseAddress, bytes.count, off_t(offset))
        }
    }

    package func position(_ file: OpenFile) throws(FileSystemError) -> Int64 {
        Int64(try Self.retrying("lseek", file.path) { lseek(file.descriptor, 0, SEEK_CUR) })
    }

    package func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError) {
        _ = try Self.retrying("ftruncate", file.path) { ftruncate(file.descriptor, off_t(size)) }
    }

    package func sync(_ file: OpenFile) throws(FileSystemError) {
        _ = try Self.retrying("fsync", file.path) { fsync(file.descriptor) }
    }

    package func lock(_ file: OpenFile) throws(FileSystemError) -> Bool {
        do {
            _ = try Self.retrying("flock", file.path) { flock(file.descriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == .wouldBlock { return false }
            throw error
        }
    }

    package func unlock(_ file: OpenFile) throws(FileSystemError) {
        _ = try Self.retrying("flock", file.path) { flock(file.descriptor, LOCK_UN) }
    }

    package func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus {
        var status = durable_file_status()
        _ = try Self.retrying("fstat", file.path) { durable_file_get_status(file.descriptor, nil, true, &status) }
        return FileStatus(status)
    }

    package func status(at path: String) throws(FileSystemError) -> FileStatus {
        var status = durable_file_status()
        // By `withCString`, as a String that is passed for the pointer would be copied into an array.
        _ = try Self.retrying("stat", path) { path.withCString { durable_file_get_status(-1, $0, true, &status) } }
        return FileStatus(status)
    }

    package func linkStatus(at path: String) throws(FileSystemError) -> FileStatus {
        var status = durable_file_status()
        _ = try Self.retrying("lstat", path) {
            path.withCString { durable_file_get_status(-1, $0, false, &status) }
        }
        return FileStatus(status)
    }

    package func changeTimes(at path: String) throws(FileSystemError) -> ChangeTimes {
        var status = stat()
        _ = try Self.retrying("stat", path) { path.withCString { stat($0, &status) } }
        func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec) }
        return ChangeTimes(
            modified: nanoseconds(status.modificationTime),
            changed: nanoseconds(status.statusChangeTime)
        )
    }

    package func hasOtherNames(_ path: String) throws(FileSystemError) -> Bool {
        try Self.retrying("stat", path) { path.withCString { durable_file_has_other_names($0) } } > 0
    }

    package func isWritable(_ path: String, _ kind: FileStatus.Kind) throws(FileSystemError) -> Bool {
        // By the effective user, with which files are opened (faccessat(2)).
        let mode = kind == .folder ? W_OK | X_OK : W_OK
        do {
            return try Self.retrying("faccessat", path) {
                path.withCString { faccessat(AT_FDCWD, $0, mode, AT_EACCESS) }
            } == 0
        } catch {
            if error.deniesWriting { return false }
            throw error
        }
    }

    package func target(ofLinkAt path: String) throws(FileSystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try Self.retrying("readlink", path) {
            buffer.withUnsafeMutableBytes { buffer in
                buffer.withMemoryRebound(to: CChar.self) { text in
                    text.baseAddress.map { text in path.withCString { readlink($0, text, Int(PATH_MAX)) } } ?? 0
                }
            }
        }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    package func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        _ = try Self.retrying("rename", newPath) { renamePath(path, newPath) }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        _ = try Self.retrying("unlink", path) { path.withCString { unlink($0) } }
    }

    package func makeFolder(_ path: String) throws(FileSystemError) {
        _ = try Self.retrying("mkdir", path) { path.isUTF8 ? path.withCString { mkdir($0, 0o700) } : -1 }
    }

    package func names(inFolder path: String) throws(FileSystemError) -> [String] {
        let descriptor = try Self.opening("opendir", path) { openPath(path, O_CLOEXEC | O_RDONLY | O_DIRECTORY) }
        guard let folder = fdopendir(descriptor) else {
            defer { close(descriptor) }
            throw FileSystemError("opendir", path, FileSystemError.Code(rawValue: errno))
        }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                if errno != 0 { throw FileSystemError("readdir", path, FileSystemError.Code(rawValue: errno)) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }

    package func setMode(_ file: OpenFile, _ mode: UInt32) throws(FileSystemError) {
        _ = try Self.retrying("fchmod", file.path) { fchmod(file.descriptor, mode_t(mode)) }
    }

    package func setOwner(_ file: OpenFile, _ owner: UInt32, _ group: UInt32) throws(FileSystemError) {
        _ = try Self.retrying("fchown", file.path) { fchown(file.descriptor, owner, group) }
    }

    package var user: UInt32 { geteuid() }

    package func makePipe() throws(FileSystemError) -> (reading: OpenFile, writing: OpenFile) {
        var ends: (reading: Int32, writing: Int32) = (-1, -1)
        Self.occupyLowDescriptors()
        _ = try Self.retrying("pipe", "") {
            withUnsafeMutablePointer(to: &ends) {
                $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
            }
        }
        let reading = OpenFile(descriptor: try Self.moved(ends.reading, "pipe", ""), path: "", fileSystem: self)
        let writing = OpenFile(descriptor: try Self.moved(ends.writing, "pipe", ""), path: "", fileSystem: self)
        try makePipeEnd(reading)
        try makePipeEnd(writing)
        return (reading, writing)
    }

    private func makePipeEnd(_ file: OpenFile) throws(FileSystemError) {
        _ = try Self.retrying("fcntl", "") { fcntl(file.descriptor, F_SETFD, FD_CLOEXEC) }
        _ = try Self.retrying("fcntl", "") { fcntl(file.descriptor, F_SETFL, O_NONBLOCK) }
    }

    package func wake(_ pipe: OpenFile) {
        var byte: UInt8 = 0
        // It can only fail because the pipe is full, and then it is readable.
        _ = write(pipe.descriptor, &byte, 1)
    }

    package func drain(_ pipe: OpenFile) {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
            while readBytes(pipe.descriptor, buffer) == buffer.count {}
        }
    }

    package func wait(
        for queue: OpenFile?,
        or pipe: OpenFile?,
        atMost timeout: Duration?
    ) throws(FileSystemError) -> (queue: Bool, pipe: Bool) {
        // poll(2) ignores a negative descriptor.
        var entries = (
            pollfd(fd: queue?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        )
        // Rounded up, so that the deadline has passed when the call returns.
        let milliseconds = timeout.map { max(0, $0 / .milliseconds(1)).rounded(.up) }.map { Int32(min($0, 1e9)) } ?? -1
        _ = try Self.retrying("poll", "") {
            withUnsafeMutableBytes(of: &entries) {
                poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 2, milliseconds)
            }
        }
        return (entries.0.revents != 0, entries.1.revents != 0)
    }

    package func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    package func sleep(_ duration: Duration) {
        let parts = duration.components
        var rest = timespec(tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
        nanosleep(&rest, nil)
    }
}

extension String {
    /// Whether all bytes of a path are UTF-8: without the character that stands for those that aren't, which would lead to another file;
    /// otherwise sets errno.
    fileprivate var isUTF8: Bool {
        guard unicodeScalars.contains("\u{FFFD}") else { return true }
        errno = EILSEQ
        return false
    }
}

// C functions that are hidden by a method of the same name.
private func openPath(_ path: String, _ flags: Int32) -> Int32 {
    path.isUTF8 ? path.withCString { open($0, flags, 0o600) } : -1
}
func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
private func renamePath(_ path: String, _ newPath: String) -> Int32 {
    path.withCString { path in newPath.withCString { rename(path, $0) } }
}

extension FileStatus {
    fileprivate init(_ status: durable_file_status) {
        let kind: Kind =
            switch mode_t(status.mode) & mode_t(S_IFMT) {
            case mode_t(S_IFREG): .file
            case mode_t(S_IFDIR): .folder
            case mode_t(S_IFLNK): .link
            case mode_t(S_IFIFO): .pipe
            case mode_t(S_IFCHR), mode_t(S_IFBLK): .device
            case mode_t(S_IFSOCK): .socket
            default: .other
            }
        self.init(
            identity: FileIdentity(device: status.device, inode: status.inode),
            kind: kind,
            size: status.size,
            mode: status.mode & 0o7777,
            owner: status.owner,
            group: status.group
        )
    }
}
