import Glibc
@_spi(Tool) import Preferences

/// What the system knows of a preferences file.
struct FileReport {
    let path: String
    private let status: stat

    /// Fails where there is no file.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw errno == ENOENT
                ? Failure(.absent, "there is no file \(path)") : Failure("look at", path, errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(.usage, "\(path) is no file; name one") }
        guard access(path, R_OK) == 0 else { throw Failure("read", path, errno: errno) }
        self.path = path
        self.status = status
    }

    var size: Int64 { Int64(status.st_size) }

    /// Mode and owner, with a word where others can look in.
    var permissions: String {
        let isOpen = status.st_mode & 0o077 != 0
        return "\(Self.modeAndOwner(status))\(isOpen ? "; others can reach it: chmod 600 keeps them out" : "")"
    }

    /// The folder of the file and each link on the way to it, with mode and owner: their owners decide which file it is.
    func way() throws -> [(title: String, text: String)] {
        let links = try PreferencesFile.links(to: path).map { link in
            ("link", "\(link): \(try Self.modeAndOwner(of: link))")
        }
        return links + [("folder", "\(folder): \(try Self.modeAndOwner(of: folder))")]
    }

    private static func modeAndOwner(of path: String) throws -> String {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Failure("look at", path, errno: errno) }
        return modeAndOwner(status)
    }

    private static func modeAndOwner(_ status: stat) -> String {
        let owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
        return "\(String(status.st_mode & 0o7777, radix: 8)), owner \(owner)"
    }

    /// Why the user can't write it; compaction needs the folder, too.
    var problemOfWriting: String? {
        if access(path, W_OK) != 0 { return "the file can't be written" }
        return access(folder, W_OK) != 0 ? "its folder can't be written" : nil
    }

    /// Fails where the file or its folder can't be written.
    func checkWritable() throws {
        guard let problem = problemOfWriting else { return }
        throw Failure(.notPermitted, "\(problem); check who owns \(path)")
    }

    /// Copies of damaged files that were kept beside it.
    func damagedCopies() throws -> [String] {
        try (Folder.names(in: folder) ?? []).filter { $0.contains(".damaged-") }.map { "\(folder)/\($0)" }
    }

    /// Processes that hold the file's lock just now, by the kernel's list (proc(5), `/proc/locks`).
    func lockHolders() -> String {
        do {
            let inode = ":\(status.st_ino)"
            let lines = String(decoding: try InputFile.bytes(of: "/proc/locks"), as: UTF8.self).split(separator: "\n")
            let holders = lines.compactMap { line -> String? in
                let fields = line.split(separator: " ")
                // "1: FLOCK  ADVISORY  WRITE 1234 08:01:567 0 EOF"; "->" marks one that waits.
                guard fields.count >= 8, fields[1] == "FLOCK", fields[5].hasSuffix(inode) else { return nil }
                return "process \(fields[4])"
            }
            return holders.isEmpty ? "nobody" : holders.joined(separator: ", ")
        } catch {
            return "unknown: /proc/locks can't be read"
        }
    }

    /// How many folders the user may watch; each program with preferences takes a few of them.
    static func watchLimits() -> String {
        let limits = ["max_user_watches", "max_user_instances"].map { name in
            do {
                let text = String(decoding: try InputFile.bytes(of: "/proc/sys/fs/inotify/\(name)"), as: UTF8.self)
                return "\(text.prefix { $0 != "\n" })"
            } catch {
                return "unknown"
            }
        }
        return "\(limits[0]) folders, \(limits[1]) watchers at most for a user"
    }

    /// The folder of what a link leads to, where compaction works.
    private var folder: String {
        let target = realpath(path, nil)
        defer { free(target) }
        let path = target.map { String(cString: $0) } ?? path
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder
    }
}
