/// A system call that failed.
package struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` of a failed call.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let noEntry = Code(rawValue: ENOENT)
        package static let exists = Code(rawValue: EEXIST)
        package static let accessDenied = Code(rawValue: EACCES)
        package static let notPermitted = Code(rawValue: EPERM)
        package static let readOnlyFileSystem = Code(rawValue: EROFS)
        package static let isFolder = Code(rawValue: EISDIR)
        package static let notAFolder = Code(rawValue: ENOTDIR)
        package static let tooManyLinks = Code(rawValue: ELOOP)
        package static let noDevice = Code(rawValue: ENXIO)
        package static let noSpace = Code(rawValue: ENOSPC)
        package static let quota = Code(rawValue: EDQUOT)
        package static let inputOutput = Code(rawValue: EIO)
        package static let interrupted = Code(rawValue: EINTR)
        package static let tooManyFiles = Code(rawValue: EMFILE)
        package static let wouldBlock = Code(rawValue: EWOULDBLOCK)
        package static let notSupported = Code(rawValue: ENOTSUP)
        package static let invalid = Code(rawValue: EINVAL)
        package static let stale = Code(rawValue: ESTALE)
        package static let inUse = Code(rawValue: EBUSY)
    }

    /// The name of the call, as in its manual page.
    package let call: String
    /// The path that the call was for.
    package let path: String
    /// Why it failed.
    package let code: Code

    package init(_ call: String, _ path: String, _ code: Code) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// Whether the user isn't permitted to write here, as opposed to a failure.
    package var deniesWriting: Bool {
        code == .accessDenied || code == .notPermitted || code == .readOnlyFileSystem
    }

    /// Whether what is at the path isn't there for this user: it doesn't exist, or its folder can't be entered.
    var hidesEntry: Bool { code == .noEntry || code == .notAFolder || code == .accessDenied }

    package var description: String {
        "\(call) \(path): \(String(cString: strerror(code.rawValue)))"
    }
}
