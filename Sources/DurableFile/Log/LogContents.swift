/// What the lines of a log mean; the log itself knows only bytes.
///
/// Used under the log's lock only, but for a copy. A class, so that the log need not be generic: between modules generic
/// code looks its types up at each call, which took a quarter of a set's instructions.
package protocol LogContents: AnyObject, Sendable {
    /// What nothing read amounts to.
    init()
    /// Takes in one line, all of it or nothing; `isFirst` for the first of a file, which may begin with a byte order mark.
    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading
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
}
