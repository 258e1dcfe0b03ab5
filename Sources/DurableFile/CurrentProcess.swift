#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// What is known of the running program and its user.
package enum CurrentProcess {
    /// A variable of the environment; nil if it isn't set, or if the program has rights that its caller lacks (setuid), who would
    /// then say where it writes.
    package static func variable(_ name: String) -> String? {
        trustedVariable(name).map { String(cString: $0) }
    }

    /// The home folder that the user database names.
    package static func homeFolder() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil, let folder = entry.pw_dir
        else { return nil }
        // The text lies in the buffer.
        return withExtendedLifetime(buffer) { String(cString: folder) }
    }

    /// The name of the program's file.
    package static func executableName() -> String? {
        executablePath().flatMap { $0.split(separator: "/").last.map(String.init) }
    }
}
