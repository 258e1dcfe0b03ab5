import PreferencesInspection

/// The size, permissions, owners and locks of a preferences file.
struct FileReport {
    let path: String
    private let status: stat

    /// Creates the report of a file; throws if the file doesn't exist or can't be read.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw errno == ENOENT
                ? Failure(.absent, "there is no file \(path)") : Failure("look at", path, errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\(path) isn't a regular file; name one")
        }
        guard access(path, R_OK) == 0 else { throw Failure("read", path, errno: errno) }
        self.path = path
        self.status = status
    }

    var size: Int64 { Int64(status.st_size) }

    /// Mode and owner, with a warning if other users can access the file.
    var permissions: String {
        let isOpen = status.st_mode & 0o077 != 0
        return "\(Self.modeAndOwner(status))\(isOpen ? "; other users can access it: restrict it with chmod 600" : "")"
    }

    /// Returns each link on the way to the file and its folder, with mode and owner: their owners decide which file is read.
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

    /// The reason why the user can't write the file, or its folder, which compaction needs; `nil` if both are writable.
    var problemOfWriting: String? {
        if access(path, W_OK) != 0 { return "the file can't be written" }
        return access(folder, W_OK) != 0 ? "its folder can't be written" : nil
    }

    /// Throws if the file or its folder can't be written.
    func checkWritable() throws {
        guard let problem = problemOfWriting else { return }
        throw Failure(.notPermitted, "\(problem); check who owns \(path)")
    }

    /// Returns the processes that hold the file's lock now, according to the kernel (proc(5), `/proc/locks`); `nil` if it doesn't say.
    func lockHolders() -> [String]? {
        do {
            let inode = ":\(status.st_ino)"
            let lines = String(decoding: try InputFile.bytes(of: "/proc/locks"), as: UTF8.self).split(separator: "\n")
            return lines.compactMap { line -> String? in
                let fields = line.split(separator: " ")
                // "1: FLOCK  ADVISORY  WRITE 1234 08:01:567 0 EOF"; "->" marks a process that waits.
                guard fields.count >= 8, fields[1] == "FLOCK", fields[5].hasSuffix(inode) else { return nil }
                return "process \(fields[4])"
            }
        } catch {
            return nil
        }
    }

    /// Returns how many folders the user may watch; each program with preferences watches a few. `nil` on a system without such a limit.
    static func watchLimits() -> String? {
        let limits = ["max_user_watches", "max_user_instances"].compactMap { name -> String? in
            do {
                let text = String(decoding: try InputFile.bytes(of: "/proc/sys/fs/inotify/\(name)"), as: UTF8.self)
                return "\(text.prefix { $0 != "\n" })"
            } catch {
                return nil
            }
        }
        guard limits.count == 2 else { return nil }
        return "at most \(limits[0]) folders and \(limits[1]) watchers per user"
    }

    /// The folder of the file behind all links, in which compaction writes.
    private var folder: String {
        let target = realpath(path, nil)
        defer { free(target) }
        let path = target.map { String(cString: $0) } ?? path
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder
    }
}
