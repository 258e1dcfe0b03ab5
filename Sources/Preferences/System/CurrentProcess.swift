internal import CPreferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The running program and its user.
enum CurrentProcess {
    /// Returns an environment variable, or nil if it isn't set or if the program runs with more rights than its caller
    /// (set-user-ID): the caller must not choose where such a program writes.
    static func variable(_ name: String) -> String? { preferences_variable(name).map { String(cString: $0) } }

    /// Returns the user's home folder in the user database.
    static func homeFolder() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil, let folder = entry.pw_dir
        else { return nil }
        // The string is in the buffer.
        return withExtendedLifetime(buffer) { String(cString: folder) }
    }

    /// Returns the absolute path of one in the current folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder).entry(path)
    }

    /// Returns whether a file exists and the program may read it.
    static func canRead(_ path: String) -> Bool { faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 }

    /// Returns whether the program may create a file and its missing folders: in the nearest folder that exists.
    static func canCreate(_ path: String) -> Bool {
        var folder = path.folder
        while faccessat(AT_FDCWD, folder, F_OK, AT_EACCESS) != 0, folder != "/" { folder = folder.folder }
        return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
    }

    /// Returns the name of the program's file.
    static func executableName() -> String? { executablePath().flatMap(programName) }

    /// Returns the program's name of a path: that of the program itself for `.player-wrapped`, as Nix names the file that a
    /// script of the program's name starts.
    static func programName(of path: String) -> String? {
        guard var name = path.split(separator: "/").last else { return nil }
        let suffix = "-wrapped"
        while true {
            // If a script replaces a script, the inner one's name gets an underscore; a wrapped one can be wrapped as well.
            var wrapped = name
            while wrapped.last == "_" { wrapped.removeLast() }
            guard wrapped.first == ".", wrapped.hasSuffix(suffix), wrapped.utf8.count > suffix.utf8.count + 1 else {
                return String(name)
            }
            name = wrapped.dropFirst().dropLast(suffix.count)
        }
    }
}

#if canImport(Darwin)
extension CurrentProcess {
    static func executablePath() -> String? { CommandLine.arguments.first }
}
#endif

#if os(Linux)
extension CurrentProcess {
    /// Returns the path of the program's file; nil if that is a dynamic loader, which many programs may be started with.
    static func executablePath() -> String? {
        do throws(FileSystemError) {
            let path = try FileSystem.system.target(ofLinkAt: "/proc/self/exe")
            // The mark that the kernel gives a program that was replaced while it runs (proc(5)).
            let mark = " (deleted)"
            if path.hasSuffix(mark) { return String(path.dropLast(mark.count)) }
            return isLoader(path) ? nil : path
        } catch {
            // If /proc is missing, as in some containers, use the path by which the program was started.
            return CommandLine.arguments.first
        }
    }

    /// Whether a path is that of a dynamic loader, such as `ld-linux-x86-64.so.2` or `ld.so`.
    static func isLoader(_ path: String) -> Bool {
        let parts = path.lastComponent.split(separator: ".")
        guard let first = parts.first, parts.dropFirst().contains("so") else { return false }
        return first == "ld" || first == "ld64" || first.hasPrefix("ld-")
    }
}
#endif
