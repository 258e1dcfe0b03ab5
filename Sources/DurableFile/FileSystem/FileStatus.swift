/// Which file it is, whatever its name.
package struct FileIdentity: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// What `stat` tells of a file, as far as it is used.
package struct FileStatus: Hashable, Sendable {
    /// What stands at a path.
    package enum Kind: String, Hashable, Sendable {
        case file, folder, link = "symbolic link", pipe = "named pipe", device, socket, other = "special file"
    }

    package var identity: FileIdentity
    package var kind: Kind
    package var size: Int64
    /// When the content was last changed, in nanoseconds since 1970; only ever compared for equality.
    package var modified: Int64
    /// The permission bits.
    package var mode: UInt32
    package var owner: UInt32
    package var group: UInt32

    package init(
        identity: FileIdentity,
        kind: Kind,
        size: Int64,
        modified: Int64,
        mode: UInt32,
        owner: UInt32,
        group: UInt32
    ) {
        self.identity = identity
        self.kind = kind
        self.size = size
        self.modified = modified
        self.mode = mode
        self.owner = owner
        self.group = group
    }
}
