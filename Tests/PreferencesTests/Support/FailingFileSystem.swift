@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system's calls, of which some fail for a path.
final class FailingFileSystem: FileSystem, @unchecked Sendable {  // the lock guards the state
    private let failing = Lock<(calls: Set<String>, path: String)>(([], ""))

    func fail(_ calls: Set<String>, _ path: String) { failing.withLock { $0 = (calls, path) } }
    func mend() { failing.withLock { $0 = ([], "") } }

    override func willCall(_ call: String, _ path: String) throws(FileSystemError) {
        let (calls, failing) = failing.withLock { $0 }
        if path == failing, calls.contains(call) { throw FileSystemError(call: call, path: path, code: EACCES) }
    }
}
