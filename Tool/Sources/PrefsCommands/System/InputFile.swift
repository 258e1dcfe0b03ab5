/// Reading of files that aren't preferences files, or that are read as bytes.
enum InputFile {
    /// Returns the contents of a file, or of standard input for `-`.
    static func bytes(of path: String) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("read", path, errno: errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        return try bytes(from: descriptor, path == "-" ? "standard input" : path)
    }

    /// Returns all bytes up to the end of a file descriptor.
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

    /// Returns the lines of a file, without their newlines.
    static func lines(of path: String) throws -> [ArraySlice<UInt8>] {
        try bytes(of: path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Returns the path of a file with all links resolved, or the path itself if the file doesn't exist.
    static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}

/// The identity and state of a file, which differ after the file was replaced or written.
struct FileMark: Equatable {
    private let numbers: [Int]

    /// Creates the mark of the file at a path; `nil` if the file doesn't exist.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let times = status.times
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), Int(status.st_mode),
            times.written.tv_sec, times.written.tv_nsec, times.changed.tv_sec, times.changed.tv_nsec,
        ]
    }
}
