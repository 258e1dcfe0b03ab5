/// What the lines of a log mean; the log itself knows only bytes.
///
/// Used under the log's lock only, but for a copy. A class, so that the log need not be generic: between modules generic
/// code looks its types up at each call, which took a quarter of a set's instructions.
package protocol LogContents: AnyObject, Sendable {
    /// What nothing read amounts to.
    init()
    /// Makes room for lines of so many bytes in all.
    func expect(_ byteCount: Int)
    /// Takes in one line, all of it or nothing; `isFirst` for the first of a file, which may begin with a byte order mark.
    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading
    /// How many bytes an object takes that begins some bytes and goes on over several lines; `nil` if there is none, or if not
    /// all of it is there.
    func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int?
    /// Takes in a last line without a newline, for the time being; anything but `.complete` changes nothing.
    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading
    /// Undoes `readUnfinished`.
    func dropUnfinished()
    /// Becomes `contents`, which was read from a file afresh.
    func replace(with contents: Self)
    /// What there is now, for one user without the lock.
    func copy() -> Self
    /// Whether something changed that whoever uses the log hasn't asked for yet.
    var hasNews: Bool { get }
    /// All there is without an unfinished line, one entry a line, each line with its newline.
    func lines() throws -> [UInt8]
}

extension LogContents {
    package func expect(_ byteCount: Int) {}

    package func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? { nil }

    /// New contents of the same type, of nothing read.
    func empty() -> any LogContents { Self() }

    /// Becomes what `read` makes of new contents; what it was where that throws.
    func readAfresh<Failure: Error>(_ read: (any LogContents) throws(Failure) -> Void) throws(Failure) {
        let fresh = Self()
        try read(fresh)
        replace(with: fresh)
    }
}

/// What came of reading a line.
package enum LineReading: Equatable, Sendable {
    case complete
    /// It can't be read, now or ever; with the reason.
    case damaged(String)
    /// Of a last line: it may still become readable.
    case incomplete
    /// The file must not be used at all; with the reason.
    case refused(String)
}

/// A line that could not be read; it is skipped and kept.
package struct LogDamage: Equatable, Sendable {
    package var path: String
    /// From 1.
    package var line: Int
    package var reason: String
    /// How many lines it goes on over.
    package var lineCount = 1
}

/// The lines that could not be read, each reported once however often its file is read again.
struct DamageList: Sendable {
    private var known: Set<Int> = []
    private var unreported: [LogDamage] = []
    /// The byte range of each of them, newline included; nil unless asked for.
    private(set) var ranges: [Range<Int64>]?

    init(ranges: [Range<Int64>]? = nil) { self.ranges = ranges }

    mutating func note(_ line: UnsafeRawBufferPointer, _ range: Range<Int64>, _ damage: LogDamage) {
        var hasher = Hasher()
        hasher.combine(bytes: line)
        if known.insert(hasher.finalize()).inserted { unreported.append(damage) }
        ranges?.append(range)
    }

    var isUnreported: Bool { !unreported.isEmpty }

    mutating func takeUnreported() -> [LogDamage] {
        defer { unreported = [] }
        return unreported
    }
}

/// Why a log could not be read or written.
package enum LogError: Error, Sendable {
    /// A system call failed; nothing changed.
    case failed(FileSystemError)
    /// As `failed`, because the user or the file system allows no writing.
    case readOnly(FileSystemError)
    /// Another descriptor held the lock for too long.
    case busy(path: String, waited: Duration)
    /// A link, a folder or the file belongs to a user who could so choose what is read and written.
    case foreign(path: String, owner: UInt32)
    /// Something else than a file stands at the path.
    case notAFile(path: String, kind: FileStatus.Kind)
    /// Each time it is opened, another file is at the path.
    case neverTheSame(path: String)
    /// The contents refuse the file.
    case refused(path: String, line: Int, reason: String)
    /// It can't be told whether the line was stored.
    case outcomeUnknown(path: String, cause: any Error)
    /// What was written is visible but may not survive a loss of power.
    case notDurable(path: String, cause: any Error)

    init(writing error: FileSystemError) {
        self = error.deniesWriting ? .readOnly(error) : .failed(error)
    }
}
