import CBenchmarks
import Glibc

/// A file to which lines are appended with nothing but system calls.
final class BareFile {
    private let descriptor: Int32
    private let path: String
    private let line: [UInt8]

    /// - Parameter line: The line that is appended each time.
    init(_ path: String, line: String) throws {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        (self.path, self.line) = (path, Array(line.utf8))
        guard descriptor >= 0 else { throw Failure("\(path) can't be opened") }
    }

    deinit { close(descriptor) }

    /// Returns a whole file's bytes by open, fstat and pread.
    static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("\(path) can't be opened") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure("fstat fails") }
        return try [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            while count < buffer.count {
                let part = pread(descriptor, start + count, buffer.count - count, off_t(count))
                guard part > 0 else { throw Failure("pread fails") }
                count += part
            }
        }
    }

    func append() throws {
        guard write(descriptor, line, line.count) == line.count else { throw Failure("write fails") }
    }

    func appendUnderLock() throws {
        guard flock(descriptor, LOCK_EX) == 0 else { throw Failure("flock fails") }
        try append()
        guard flock(descriptor, LOCK_UN) == 0 else { throw Failure("flock fails") }
    }

    /// Performs the calls that a set in a shared file requires: checks under the lock whether the path still leads to
    /// this file, and gets the offset at which the line ended.
    func set() throws {
        guard flock(descriptor, LOCK_EX) == 0 else { throw Failure("flock fails") }
        guard benchmarks_statx(path) == 0 else { throw Failure("statx fails") }
        try append()
        guard lseek(descriptor, 0, SEEK_CUR) > 0 else { throw Failure("lseek fails") }
        guard flock(descriptor, LOCK_UN) == 0 else { throw Failure("flock fails") }
    }

    func lockOnly() throws {
        guard flock(descriptor, LOCK_EX) == 0, flock(descriptor, LOCK_UN) == 0 else { throw Failure("flock fails") }
    }

    func sync() throws {
        guard fdatasync(descriptor) == 0 else { throw Failure("fdatasync fails") }
    }
}
