#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that is locked until its release, or the end of the process.
final class FileLock: Sendable {
    /// The file can't be opened.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let number: Int32

        var description: String { "\(path): \(String(cString: strerror(number)))" }
    }

    private let descriptor: Int32

    /// Locks a file, which is created if it is missing; returns nil if another lock of it exists.
    init?(path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(path: path, number: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }
}
