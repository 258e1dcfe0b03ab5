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
