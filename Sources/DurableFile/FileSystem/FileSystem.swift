/// Every system call that the package makes, so that a test can fail each in turn and record all of them.
///
/// A call that a signal interrupts is made again by the implementation. All calls are allowed on any thread.
package protocol FileSystem: Sendable {
    func open(_ path: String, for purpose: OpenPurpose) throws(FileSystemError) -> OpenFile
    /// Only for `OpenFile`; an error of `close` tells nothing that can be acted on once the data is synced or need not be.
    func close(_ descriptor: Int32)
    /// Reads at most the buffer's size from a position; 0 at the end.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError)
        -> Int
    /// Appends; returns how many of the bytes were written, which may be fewer.
    func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer) throws(FileSystemError) -> Int
    /// Where the last write ended.
    func position(_ file: OpenFile) throws(FileSystemError) -> Int64
    func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError)
    /// Syncs content and what is needed to find it (fdatasync).
    func syncData(_ file: OpenFile) throws(FileSystemError)
    /// Syncs all of a file or folder (fsync).
    func sync(_ file: OpenFile) throws(FileSystemError)
    /// Takes the exclusive lock, or returns false where another descriptor holds it.
    func lock(_ file: OpenFile) throws(FileSystemError) -> Bool
    func unlock(_ file: OpenFile) throws(FileSystemError)
    func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus
    /// Follows links.
    func status(at path: String) throws(FileSystemError) -> FileStatus
    /// Doesn't follow a link.
    func linkStatus(at path: String) throws(FileSystemError) -> FileStatus
    func target(ofLinkAt path: String) throws(FileSystemError) -> String
    func rename(_ path: String, to newPath: String) throws(FileSystemError)
    func remove(_ path: String) throws(FileSystemError)
    /// Makes one folder with mode 0700.
    func makeFolder(_ path: String) throws(FileSystemError)
    func names(inFolder path: String) throws(FileSystemError) -> [String]
    func setMode(_ file: OpenFile, _ mode: UInt32) throws(FileSystemError)
    func setOwner(_ file: OpenFile, _ owner: UInt32, _ group: UInt32) throws(FileSystemError)
    /// Gives a file the access control list and the extended attributes of another.
    ///
    /// `to` has no access control list afterwards if `from` has none, whatever its folder gave it.
    func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError)
    /// The user as whom files are opened.
    var user: UInt32 { get }
    /// Whether other machines may change files here unseen by this kernel.
    func isRemote(_ path: String) throws(FileSystemError) -> Bool

    /// A queue of events of folders; nil where the platform has none.
    func makeEventQueue() throws(FileSystemError) -> OpenFile?
    /// Begins to queue the events of a folder, and returns the number that they will bear.
    ///
    /// With `namesOnly` it queues those of its names and not those of its files' contents, unless these are queued already.
    func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32
    func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError)
    /// Takes the next events off a queue; none where there are none.
    func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent]
    /// A pipe whose ends never block.
    func makePipe() throws(FileSystemError) -> (reading: OpenFile, writing: OpenFile)
    /// Makes the other end of a pipe readable; nothing where it is already.
    func wake(_ pipe: OpenFile)
    /// Takes off all that `wake` wrote.
    func drain(_ pipe: OpenFile)
    /// Waits until one of the files can be read or the time is over.
    func wait(for files: [OpenFile], atMost timeout: Duration?) throws(FileSystemError)

    /// Time that only moves on, from any starting point.
    func now() -> Duration
    /// May return earlier, on a signal.
    func sleep(_ duration: Duration)
}
