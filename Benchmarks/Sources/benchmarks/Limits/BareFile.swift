import Glibc

/// A file to which lines are appended by nothing but system calls.
final class BareFile {
    private let descriptor: Int32
    private let line: [UInt8]

    /// - Parameter line: What is appended each time.
    init(_ path: String, line: String) throws {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        self.line = Array(line.utf8)
        guard descriptor >= 0 else { throw Failure("\(path) can't be opened") }
    }

    deinit { close(descriptor) }

    func append() throws {
        guard write(descriptor, line, line.count) == line.count else { throw Failure("write fails") }
    }

    func appendUnderLock() throws {
        guard flock(descriptor, LOCK_EX) == 0 else { throw Failure("flock fails") }
        try append()
        guard flock(descriptor, LOCK_UN) == 0 else { throw Failure("flock fails") }
    }

    func lockOnly() throws {
        guard flock(descriptor, LOCK_EX) == 0, flock(descriptor, LOCK_UN) == 0 else { throw Failure("flock fails") }
    }

    func sync() throws {
        guard fdatasync(descriptor) == 0 else { throw Failure("fdatasync fails") }
    }
}
