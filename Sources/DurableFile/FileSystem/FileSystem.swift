/// The system calls of the package, of which a test can record all and make each fail.
///
/// An implementation repeats a call that a signal interrupted. All calls can be made on any thread.
package protocol FileSystem: Sendable {
    func open(_ path: String, for purpose: OpenPurpose) throws(FileSystemError) -> OpenFile
    /// Closes a descriptor, for `OpenFile` only. Ignores an error of `close`: nothing can be done about it, and the
    /// data is synced by then or need not be.
    func close(_ descriptor: Int32)
    /// Reads at most the buffer's size from an offset; returns 0 at the end.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError)
        -> Int
    /// Appends; returns how many of the bytes were written, which may be fewer.
    func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int
    /// Writes at an offset of a file that is open for overwriting; returns how many of the bytes were written.
    func overwrite(_ bytes: UnsafeRawBufferPointer, in file: OpenFile, at offset: Int64) throws(FileSystemError) -> Int
    /// Returns the offset at which the last write ended.
    func position(_ file: OpenFile) throws(FileSystemError) -> Int64
    func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError)
    /// Syncs the content and the metadata that is needed to find it (fdatasync).
    func syncData(_ file: OpenFile) throws(FileSystemError)
    /// Syncs all of a file or folder (fsync).
    func sync(_ file: OpenFile) throws(FileSystemError)
    /// Takes the exclusive lock; returns false if another descriptor holds it.
    func lock(_ file: OpenFile) throws(FileSystemError) -> Bool
    func unlock(_ file: OpenFile) throws(FileSystemError)
    func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus
    /// Returns the status of the file that a path leads to through links.
    func status(at path: String) throws(FileSystemError) -> FileStatus
    /// Returns the status of what is at a path, without following a link.
    func linkStatus(at path: String) throws(FileSystemError) -> FileStatus
    /// Returns when a file was last changed; follows links. Makes the next write to the file slower.
    func changeTimes(at path: String) throws(FileSystemError) -> ChangeTimes
    /// Whether a file has names outside of its folder, by several links or as a file that is mounted by itself. Then a
    /// new file can't take its place, and it might change without an event of its folder; follows links.
    func hasOtherNames(_ path: String) throws(FileSystemError) -> Bool
    /// Whether the user may write a file, or create files in a folder; changes nothing, and follows links.
    func isWritable(_ path: String, _ kind: FileStatus.Kind) throws(FileSystemError) -> Bool
    /// Whether a descriptor that can write to the file is open in any process, as far as that is known; one of `file`,
    /// which is open for reading, doesn't count.
    func hasWriters(_ file: OpenFile) throws(FileSystemError) -> Bool
    /// Opens a file once more, for reading only, also if it has no name any more.
    func reopen(_ file: OpenFile) throws(FileSystemError) -> OpenFile
    func target(ofLinkAt path: String) throws(FileSystemError) -> String
    func rename(_ path: String, to newPath: String) throws(FileSystemError)
    func remove(_ path: String) throws(FileSystemError)
    /// Creates one folder with mode 0700.
    func makeFolder(_ path: String) throws(FileSystemError)
    func names(inFolder path: String) throws(FileSystemError) -> [String]
    func setMode(_ file: OpenFile, _ mode: UInt32) throws(FileSystemError)
    func setOwner(_ file: OpenFile, _ owner: UInt32, _ group: UInt32) throws(FileSystemError)
    /// Copies the access control list and the extended attributes of one file to another.
    ///
    /// Removes the access control list of `to`, which its folder might have given it, if `from` has none.
    func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError)
    /// The user as whom files are opened.
    var user: UInt32 { get }
    /// Whether the process has more rights than other users: it runs as root, or as another user than its caller.
    var isPrivileged: Bool { get }
    /// Whether other machines might change files here without this kernel knowing.
    func isRemote(_ path: String) throws(FileSystemError) -> Bool

    /// Creates a queue of folder events; returns nil if the platform has none.
    func makeEventQueue() throws(FileSystemError) -> OpenFile?
    /// Begins to queue the events of a folder, and returns the number that they carry.
    ///
    /// With `namesOnly` it queues the events of the folder's names but not those of its files' contents, unless these
    /// are queued already.
    func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32
    /// Begins to queue the events of a file, which carry no name, and returns the number that they carry.
    func addWatch(_ queue: OpenFile, file: String) throws(FileSystemError) -> Int32
    func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError)
    /// Removes the next events from a queue and returns them, if there are any.
    func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent]
    /// Creates a pipe whose ends never block.
    func makePipe() throws(FileSystemError) -> (reading: OpenFile, writing: OpenFile)
    /// Writes to a pipe, so that its other end can be read, unless that is so already.
    func wake(_ pipe: OpenFile)
    /// Reads everything that `wake` wrote.
    func drain(_ pipe: OpenFile)
    /// Waits until one of the files can be read or the time is over, and returns for each whether it can be read.
    func wait(for queue: OpenFile?, or pipe: OpenFile?, atMost timeout: Duration?) throws(FileSystemError)
        -> (queue: Bool, pipe: Bool)

    /// Returns the time since an arbitrary moment; it never goes back.
    func now() -> Duration
    /// Sleeps; might return earlier, on a signal.
    func sleep(_ duration: Duration)
}

extension FileSystem {
    /// Writes until all bytes are in the file; for files that no other process writes.
    func writeAll(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try append(rest, to: file)
            if count == 0 { throw FileSystemError("write", file.path, .noSpace) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes all bytes of an array, as the buffer's `writeAll` does.
    func writeAll(_ bytes: [UInt8], to file: OpenFile) throws(FileSystemError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileSystemError) in
            try writeAll(UnsafeRawBufferPointer(bytes), to: file)
        }
    }

    /// Returns when the content was last changed.
    package func modificationTime(at path: String) throws(FileSystemError) -> Int64 {
        try changeTimes(at: path).modified
    }

    /// Syncs the names in a folder.
    func syncFolder(_ path: String) throws(FileSystemError) {
        do {
            try sync(try open(path, for: .folder))
        } catch {
            // Some file systems have nothing to sync in a folder and return an error.
            if error.call == "fsync", error.code == .invalid || error.code == .notSupported { return }
            throw error
        }
    }

    /// Removes a file that isn't needed; if that fails, the next compaction removes it.
    func discard(_ path: String) {
        do { try remove(path) } catch {}
    }
}

/// When a file was last changed, in nanoseconds since 1970.
package struct ChangeTimes: Equatable, Sendable {
    /// When the content was changed; programs can set it.
    package var modified: Int64
    /// When the content or the status was changed; no program can set it.
    package var changed: Int64

    package init(modified: Int64, changed: Int64) {
        self.modified = modified
        self.changed = changed
    }
}

/// The identity of a file, whatever its name.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The status of a file as `stat` returns it, as far as it is used and without the times.
package struct FileStatus: Hashable, Sendable {
    /// The kind of what is at a path.
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
/// A thread that waits for its sync retains it: the kernel reports a write-back error only to descriptors that were
/// open when it happened (fsync(2)).
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

/// The purpose for which a file is opened, which decides the flags of `open`.
package enum OpenPurpose: Hashable, Sendable {
    /// Reads and appends to an existing file.
    case appending
    /// As `appending`; creates a missing file with mode 0600.
    case creating
    /// Reads an existing file.
    case reading
    /// Writes at any offset of an existing file.
    case overwriting
    /// Creates a file with mode 0600 that must not exist yet, and follows no link.
    case replacing
    /// Opens a folder, to sync or lock it.
    case folder
}

/// An event of an entry of a watched folder, or of the folder.
package struct FolderEvent: Equatable, Sendable {
    package enum Kind: Sendable {
        /// A file was written to.
        case content
        /// A file that was open for writing was closed.
        case closed
        /// A file was renamed to the name, so it is complete.
        case arrived
        /// The name appeared or disappeared in another way.
        case name
        /// The folder itself was removed or renamed; no more events of its path follow.
        case folderGone
        /// Events were lost, of any folder.
        case overflow
    }

    package var watch: Int32
    package var name: String
    package var kind: Kind
}
