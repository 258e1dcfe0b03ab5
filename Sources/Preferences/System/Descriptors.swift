#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The descriptors that the process may still open.
enum Descriptors {
    /// Whether a few more files can be opened, by trying.
    static var areLeft: Bool {
        let opened = (0..<4).map { _ in open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY) }
        for descriptor in opened where descriptor >= 0 { close(descriptor) }
        return opened.allSatisfy { $0 >= 0 }
    }
}
