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
    /// When the content was last changed, in nanoseconds since 1970; follows links. It makes the next write dearer.
    func modificationTime(at path: String) throws(FileSystemError) -> Int64
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
    /// Waits until one of the files can be read or the time is over, and returns which can be.
    func wait(for queue: OpenFile?, or pipe: OpenFile?, atMost timeout: Duration?) throws(FileSystemError)
        -> (queue: Bool, pipe: Bool)

    /// Time that only moves on, from any starting point.
    func now() -> Duration
    /// May return earlier, on a signal.
    func sleep(_ duration: Duration)
}

extension FileSystem {
    /// Writes as often as it takes until all bytes are in the file; for files that nobody else writes to.
    func writeAll(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try write(file, rest)
            if count == 0 { throw FileSystemError("write", file.path, .noSpace) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// As `writeAll` of a buffer.
    func writeAll(_ bytes: [UInt8], to file: OpenFile) throws(FileSystemError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
            try writeAll(UnsafeRawBufferPointer(bytes), to: file)
        }
    }

    /// Syncs the names in a folder.
    func syncFolder(_ path: String) throws(FileSystemError) {
        do {
            try sync(try open(path, for: .folder))
        } catch {
            // Some file systems have nothing to sync in a folder and say so.
            if error.call == "fsync", error.code == .invalid || error.code == .notSupported { return }
            throw error
        }
    }

    /// Removes a file that isn't wanted; one that stays is removed by the next compaction.
    func discard(_ path: String) {
        do { try remove(path) } catch {}
    }
}

/// Which file it is, whatever its name.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// What `stat` tells of a file but for its times, as far as it is used.
package struct FileStatus: Hashable, Sendable {
    /// What stands at a path.
    package enum Kind: String, Hashable, Sendable {
        case file, folder, link = "symbolic link", pipe = "named pipe", device, socket, other = "special file"
    }

    package var identity: FileIdentity
    package var kind: Kind
    package var size: Int64
    /// The permission bits.
    package var mode: UInt32
    package var owner: UInt32
    package var group: UInt32

    package init(
        identity: FileIdentity,
        kind: Kind,
        size: Int64,
        mode: UInt32,
        owner: UInt32,
        group: UInt32
    ) {
        self.identity = identity
        self.kind = kind
        self.size = size
        self.mode = mode
        self.owner = owner
        self.group = group
    }
}

/// An open descriptor, closed with the last reference to it.
///
/// It stays open as long as somebody waits for a sync on it: an error of writing back is told only to descriptors that
/// were open when it happened (fsync(2)).
package final class OpenFile: Sendable {
    package let descriptor: Int32
    private let name: Lock<String>
    private let fileSystem: any FileSystem

    package init(descriptor: Int32, path: String, fileSystem: any FileSystem) {
        self.descriptor = descriptor
        name = Lock(path)
        self.fileSystem = fileSystem
    }

    /// The path of the file, for messages.
    package var path: String { name.withLock { $0 } }

    /// Notes that the file was renamed.
    func rename(to path: String) { name.withLock { $0 = path } }

    deinit { fileSystem.close(descriptor) }
}

/// What a file is opened for, which decides the flags of `open`.
package enum OpenPurpose: Hashable, Sendable {
    /// Reading and appending to what is there.
    case appending
    /// As `appending`, and makes the file with mode 0600 where there is none.
    case creating
    /// Reading what is there.
    case reading
    /// A file that must not be there yet, mode 0600, not through a link.
    case replacing
    /// A folder, to sync it.
    case folder
}

/// What happened to an entry of a watched folder, or to the folder.
package struct FolderEvent: Equatable, Sendable {
    package enum Kind: Sendable {
        /// Something was written.
        case content
        /// A file that was open for writing was closed.
        case closed
        /// A file was renamed to the name, so it is complete.
        case arrived
        /// The name came or went otherwise.
        case name
        /// The folder itself was removed or renamed, and tells nothing more under its path.
        case folderGone
        /// Events were lost, of any folder.
        case overflow
    }

    package var watch: Int32
    package var name: String
    package var kind: Kind
}
