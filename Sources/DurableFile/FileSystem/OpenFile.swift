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
