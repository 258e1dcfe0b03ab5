/// Writing of files that aren't preferences files.
enum OutputFile {
    /// Writes a file atomically: the old file stays if anything fails. A link, the owner and the permissions are kept, the last two
    /// as far as the user may set them.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard lstat(path, &status) != 0 else {
                throw Failure(.usage, "\(path) links to a file that doesn't exist; remove the link, or create the file")
            }
            return try put(bytes, at: path, replacing: nil)
        }
        // An open descriptor, perhaps of a file that other processes write, too.
        let isStream = ["/dev/std", "/dev/fd/", "/proc/"].contains { path.hasPrefix($0) }
        if isStream || status.st_mode & S_IFMT != S_IFREG { return try append(to: path, bytes) }
        guard let target = realpath(path, nil) else { throw Failure("write", path, errno: errno) }
        defer { free(target) }
        try put(bytes, at: String(cString: target), replacing: status)
    }

    private static func put(_ bytes: [UInt8], at path: String, replacing old: stat?) throws {
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Failure("write", path, errno: errno) }
        let draft = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(descriptor) }
        if let old {
            // First the owner: chown(2) clears the set-user-ID and set-group-ID bits.
            _ = fchown(descriptor, old.st_uid, old.st_gid)
            _ = fchmod(descriptor, old.st_mode & 0o777)
        }
        guard write(bytes, to: descriptor), fsync(descriptor) == 0, rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw Failure("write", path, errno: code)
        }
    }

    /// Appends to a device, a FIFO or `/dev/stdout`, none of which can be replaced.
    private static func append(to path: String, _ bytes: [UInt8]) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("write", path, errno: errno) }
        defer { close(descriptor) }
        guard write(bytes, to: descriptor) else { throw Failure("write", path, errno: errno) }
    }

    /// Writes all bytes; if it returns false, `errno` has the reason.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = writeBytes(rest, to: descriptor)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return true
        }
    }
}
