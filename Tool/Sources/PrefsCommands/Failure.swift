import Glibc
package import Preferences

/// How a command ends, as its exit code.
package enum ExitStatus: Int32 {
    case done = 0
    /// What was asked for isn't there; or, of `diff`, there are differences.
    case absent = 1
    case usage = 2
    case damaged = 3
    case notPermitted = 4
    /// The system failed, or others were in the way.
    case failed = 5
}

/// Why a command ends early: what happened and what to do.
package struct Failure: Error {
    package let status: ExitStatus
    package let message: String
    /// Whether to show how the command is used.
    let isAboutWords: Bool

    package init(_ status: ExitStatus, _ message: String, isAboutWords: Bool = false) {
        self.status = status
        self.message = message
        self.isAboutWords = isAboutWords
    }

    package init(_ error: PreferencesError) {
        let status: ExitStatus =
            switch error.code {
            case .invalidName, .unencodable, .tooLarge, .misuse: .usage
            case .managed, .readOnly, .notPermitted: .notPermitted
            case .damaged, .unknownFormat, .unreadable: .damaged
            default: .failed
            }
        self.init(status, "\(error)")
    }

    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as PreferencesError: self.init(error)
        default: self.init(.failed, "\(error)")
        }
    }

    /// A system call on a path that the user named.
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
