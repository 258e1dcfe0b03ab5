#if canImport(Glibc) && DEBUG
import FoundationEssentials
import Glibc

/// A reader of a file of JSON lines that uses nothing of the library, to judge what the library reads.
struct LineReader<Value: Decodable> {
    private(set) var values: [String: Value] = [:]
    /// The complete lines that can't be decoded.
    private(set) var broken: Set<[UInt8]> = []
    /// Whether the last line has no newline and can't be read.
    private(set) var isUnfinished = false
    private var inode: UInt = 0
    private var offset = 0

    init() {}

    init(_ path: String) throws {
        try readOn(path)
    }

    /// Reads what was added, or all of another file.
    mutating func readOn(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Obstacle("\(path) can't be opened") }
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        if status.st_ino != inode || status.st_size < offset { self = Self() }
        inode = status.st_ino
        var bytes = [UInt8](repeating: 0, count: max(0, status.st_size - offset))
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, offset + count)
            }
            guard more > 0 else { throw Obstacle("\(path) can't be read") }
            count += more
        }
        var lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        let last = lines.removeLast()
        for line in lines where !line.isEmpty {
            if !take(line) { broken.insert(Array(line)) }
        }
        // A last line without a newline counts if it is complete, and is read again next time.
        isUnfinished = !last.isEmpty && !take(last)
        offset += count - last.count
    }

    private mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
        do {
            for (name, value) in try JSONDecoder().decode([String: Value?].self, from: Data(line)) {
                values[name] = value
            }
            return true
        } catch {
            return false
        }
    }
}
#endif
