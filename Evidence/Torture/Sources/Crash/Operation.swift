#if canImport(Glibc) && DEBUG
/// A change that a call made, or a promise that the program had been given when the call was made.
enum Operation: Hashable, Sendable {
    case write(node: Int, offset: Int, [UInt8])
    case truncate(node: Int, size: Int)
    /// Names of a folder that lead to another node or to none from now on, all at once.
    case entries(folder: Int, [Entry])
    case sync(node: Int)
    /// The system has dropped the information that written bytes aren't on the medium.
    case failedSync(node: Int)
    case mark(Mark)

    struct Entry: Hashable, Sendable {
        let name: String
        let node: Int?
    }

    enum Mark: Hashable, Sendable {
        /// A set begins.
        case issued([String: Int])
        /// This number of sets is promised to survive.
        case flushed(Int)
        /// This line can't be read, and must be found in some file from now on.
        case kept(String)
    }
}

/// The contents of a medium.
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
