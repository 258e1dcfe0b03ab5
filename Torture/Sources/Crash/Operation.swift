#if canImport(Glibc)
/// What a call changed, or what the program had been promised when it was made.
enum Operation: Hashable, Sendable {
    case write(node: Int, offset: Int, [UInt8])
    case truncate(node: Int, size: Int)
    /// Names of a folder that mean another node now, or none, all at once.
    case entries(folder: Int, [Entry])
    case sync(node: Int)
    /// The system has forgotten that what was written isn't on the medium.
    case failedSync(node: Int)
    case mark(Mark)

    struct Entry: Hashable, Sendable {
        let name: String
        let node: Int?
    }

    enum Mark: Hashable, Sendable {
        /// A set begins.
        case issued([String: Int])
        /// So many of the sets are promised to survive.
        case flushed(Int)
        /// This line can't be read, and must be found in some file from now on.
        case kept(String)
    }
}

/// What a medium holds.
enum Tree: Hashable, Sendable {
    case file([UInt8])
    case folder([String: Tree])

    /// The contents of all files.
    var files: [[UInt8]] {
        switch self {
        case .file(let bytes): [bytes]
        case .folder(let children): children.values.flatMap(\.files)
        }
    }
}
#endif
