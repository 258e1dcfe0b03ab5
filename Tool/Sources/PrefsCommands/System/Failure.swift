package import Preferences

/// The outcome of a command, as its exit code.
package enum ExitStatus: Int32 {
    case done = 0
    /// The file, suite or value doesn't exist; for `diff`, there are differences, and for `merge`, conflicts.
    case absent = 1
    case usage = 2
    case damaged = 3
    case notPermitted = 4
    /// The system failed, or another process interfered.
    case failed = 5
}

/// The reason why a command ends early, and what to do.
package struct Failure: Error {
    package let status: ExitStatus
    package let message: String
    /// Whether to show the usage of the command below the message.
    let showsUsage: Bool

    package init(_ status: ExitStatus, _ message: String, showsUsage: Bool = false) {
        self.status = status
        self.message = message
        self.showsUsage = showsUsage
    }

    package init(_ error: PreferenceError) {
        let status: ExitStatus =
            switch error.code {
            case .invalid, .invalidName, .unencodable, .tooLarge, .misuse: .usage
            case .managed, .readOnly, .notPermitted: .notPermitted
            case .damaged, .unknownFormat, .unreadable: .damaged
            default: .failed
            }
        self.init(status, "\(error)")
    }

    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as PreferenceError: self.init(error)
        default: self.init(.failed, "\(error)")
        }
    }

    /// Creates the failure of a system call on a path that the user named.
    init(_ doing: String, _ path: String, errno code: Int32) {
        let status: ExitStatus =
            switch code {
            case ENOENT: .absent
            case EACCES, EPERM, EROFS: .notPermitted
            case EISDIR, ENOTDIR: .usage
            default: .failed
            }
        self.init(status, "can't \(doing) \(path): \(String(cString: strerror(code)))")
    }
}
