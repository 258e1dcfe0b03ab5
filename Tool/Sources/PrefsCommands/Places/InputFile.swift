import Glibc

/// Files that the tool reads besides preferences files.
enum InputFile {
    /// All of a file; of standard input for `-`.
    static func bytes(of path: String) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("read", path, errno: errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        return try bytes(from: descriptor, path == "-" ? "standard input" : path)
    }

    /// All that a descriptor gives until its end.
    static func bytes(from descriptor: Int32, _ path: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("read", path, errno: errno) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }

    /// The lines of a file, without their newlines.
    static func lines(of path: String) throws -> [ArraySlice<UInt8>] {
        try bytes(of: path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// The path of a file behind all links; the path itself where nothing is.
    static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}

/// The state of a file, which differs once it is another file or was written.
struct FileMark: Equatable {
    private let numbers: [Int]

    /// nil if there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), Int(status.st_mode),
            Int(status.st_mtim.tv_sec),
            Int(status.st_mtim.tv_nsec), Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec),
        ]
    }
}
