/// The meaning of a log's lines; the log itself only handles bytes.
///
/// Contents are used only under the log's lock, except for a copy. They are a class, so that the log need not be
/// generic: generic code of another module looks up its types at each call, which took a quarter of a set's
/// instructions.
package protocol LogContents: AnyObject, Sendable {
    /// Creates empty contents.
    init()
    /// Returns empty contents, which are read into and then dropped.
    func empty() -> Self
    /// Reserves memory for lines of `byteCount` bytes in total.
    func expect(_ byteCount: Int)
    /// Applies one line, completely or not at all; `isFirst` for the first line of a file, which may begin with a byte
    /// order mark.
    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading
    /// Applies lines from the start of some bytes, up to the first that it can't read fast together with others; returns the number of
    /// bytes, ends of lines included, and of lines that it has applied. Has the effect of `read` for each of them. Not called for
    /// the first line of a file.
    func readLines(_ bytes: UnsafeRawBufferPointer) -> (byteCount: Int, lineCount: Int)
    /// Returns the length in bytes of the object that `bytes` begin with and that spans several lines; `nil` if there
    /// is no such object, or not all of it is there.
    func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int?
    /// Applies a last line without a newline until `dropUnfinished` is called; changes nothing unless it returns
    /// `.complete`.
    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading
    /// Undoes `readUnfinished`.
    func dropUnfinished()
    /// Becomes `contents`, which were read from the whole file.
    func replace(with contents: Self)
    /// Returns a copy that one thread can use without the lock.
    func copy() -> Self
    /// Whether there are changes that the user of the log hasn't asked for yet.
    var hasChanges: Bool { get }
    /// Returns all entries, without an unfinished line: one per line, each line with its newline, in the order in which they
    /// first appear in the lines `old` of the file, and with what else stands between these.
    ///
    /// - Parameter isRequested: Whether the user of the log has asked for it.
    func lines(inPlaceOf old: UnsafeRawBufferPointer, isRequested: Bool) throws -> [UInt8]
    /// The number of lines that `lines` returns, empty ones apart.
    var lineCount: Int { get }
    /// Whether a damaged line might be the parts of entries, as of programs that were ended in the middle of a line; otherwise it
    /// is of another kind of file.
    func mayBeEntries(_ line: UnsafeRawBufferPointer) -> Bool
    /// Returns what `lines` returned between lines that give it the same meaning as alone, whatever some lines of the file
    /// before them say.
    func repetition(of lines: [UInt8], after old: UnsafeRawBufferPointer) throws -> [UInt8]
}

extension LogContents {
    package func empty() -> Self { Self() }

    package func expect(_ byteCount: Int) {}

    package func readLines(_ bytes: UnsafeRawBufferPointer) -> (byteCount: Int, lineCount: Int) { (0, 0) }

    package func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? { nil }

    package func mayBeEntries(_ line: UnsafeRawBufferPointer) -> Bool { false }

    package func repetition(of lines: [UInt8], after old: UnsafeRawBufferPointer) throws -> [UInt8] { lines }

    /// Becomes what `read` makes of empty contents, once it returns true; stays unchanged if that throws.
    func reload<Failure: Error>(_ read: (any LogContents) throws(Failure) -> Bool) throws(Failure) {
        var fresh = empty()
        while try !read(fresh) { fresh = empty() }
        replace(with: fresh)
    }
}

/// The result of reading a line.
package enum LineReading: Equatable, Sendable {
    case complete
    /// The line can't be read, now or later; with the reason.
    case damaged(String)
    /// The line is the beginning of one, of which the rest might be missing or arriving.
    case incomplete
    /// The file must not be used at all; with the reason.
    case refused(String)
}

/// A line that could not be read; it is skipped and kept.
package struct LogDamage: Equatable, Sendable {
    package var path: String
    /// The number of the line, from 1.
    package var line: Int
    package var reason: String
    /// The number of lines that it spans.
    package var lineCount = 1
}

/// The lines that could not be read, each reported once, however often its file is read.
struct DamageList: Sendable {
    private var known: Set<Int> = []
    private var unreported: [LogDamage] = []
    /// The byte range of each of these lines, newline included; nil unless requested.
    private(set) var ranges: [Range<Int64>]?

    init(ranges: [Range<Int64>]? = nil) { self.ranges = ranges }

    mutating func note(_ line: UnsafeRawBufferPointer, _ range: Range<Int64>, _ damage: LogDamage) {
        var hasher = Hasher()
        hasher.combine(bytes: line)
        if known.insert(hasher.finalize()).inserted { unreported.append(damage) }
        ranges?.append(range)
    }

    var isUnreported: Bool { !unreported.isEmpty }

    mutating func removeUnreported() -> [LogDamage] {
        defer { unreported = [] }
        return unreported
    }
}

/// The reason why a log could not be read or written.
package enum LogError: Error, Sendable {
    /// A system call failed; nothing changed.
    case failed(FileSystemError)
    /// As `failed`, because the user isn't permitted to write or the file system is read-only.
    case readOnly(FileSystemError)
    /// Another descriptor held the lock for too long; `waited` is zero after a single try.
    case busy(path: String, waited: Duration)
    /// A link, a folder or the file belongs to another user, who could thus choose what is read and written.
    case foreignOwner(path: String, owner: UInt32)
    /// The file was treated as missing, because a folder on the way to it can't be entered.
    case hidden(path: String, cause: FileSystemError)
    /// The file has lines, but none that a log has, so it is another kind of file.
    case foreign(path: String)
    /// The file could not be rewritten, so it keeps lines that later ones override; all lines are stored.
    case notCompacted(path: String, cause: FileSystemError)
    /// Something other than a file is at the path.
    case notAFile(path: String, kind: FileStatus.Kind)
    /// The file can't be reached: the program has another root folder now, or its file system is no longer mounted.
    case outOfReach(path: String)
    /// Each time the file is opened, another file is at the path.
    case unstableIdentity(path: String)
    /// The contents refuse the file because of a line.
    case refused(path: String, line: Int, reason: String)
    /// Whether the line was stored is unknown.
    case outcomeUnknown(path: String, cause: any Error)
    /// The change is visible but might not survive a loss of power.
    case notDurable(path: String, cause: any Error)

    init(writing error: FileSystemError) {
        self = error.deniesWriting ? .readOnly(error) : .failed(error)
    }
}
