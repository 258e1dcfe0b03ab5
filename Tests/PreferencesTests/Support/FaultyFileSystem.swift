@testable import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The system's file system, whose calls are counted and can be made to fail.
final class FaultyFileSystem: FileSystem, @unchecked Sendable {  // `state` is a lock
    struct Fault: Sendable {
        /// The `errno`; nil for a write that stores only `length` bytes.
        var code: Int32? = nil
        var length = 0
        /// The number of the first call that fails, from 0.
        var start = 0
        var isLasting = false
        /// The names of the calls that fail; all if there are none.
        var calls: Set<String> = []

        var description: String {
            "\(code.map { "errno \($0)" } ?? "short write of \(length)") at \(start)\(isLasting ? " on" : "") \(calls)"
        }
    }

    typealias Hook = @Sendable (_ call: String, _ path: String) -> Void

    private struct State {
        var calls: [String] = []
        var fault: Fault?
        var matched = 0
        var hook: Hook?
        var owners: [String: UInt32] = [:]
        var user: UInt32?
        var limit: Int64?
        var isMounted = false
        var isRemote = false
    }

    private let state = Lock(State())

    /// The calls since `begin`, those of the watcher apart.
    var calls: [String] { state.withLock { $0.calls } }
    /// The number of these that the fault concerns.
    var matched: Int { state.withLock { $0.matched } }

    func begin(_ fault: Fault? = nil) { state.withLock { ($0.calls, $0.matched, $0.fault) = ([], 0, fault) } }
    func beforeEachCall(_ hook: Hook?) { state.withLock { $0.hook = hook } }

    /// Lets the program run as a user, and files belong to users.
    func run(as user: UInt32, _ owners: [String: UInt32]) { state.withLock { ($0.user, $0.owners) = (user, owners) } }
    func limitSize(to limit: Int64?) { state.withLock { $0.limit = limit } }
    func mountFiles() { state.withLock { $0.isMounted = true } }
    func setRemote() { state.withLock { $0.isRemote = true } }

    override func willCall(_ call: String, _ path: String) throws(FileSystemError) {
        if path == "inotify" { return }
        let hook = state.withLock { $0.hook }
        hook?(call, path)
        let code = state.withLock { state -> Int32? in
            state.calls.append(call)
            guard let fault = state.fault, fault.calls.isEmpty || fault.calls.contains(call) else { return nil }
            guard fault.code != nil || call == "write" else { return nil }
            state.matched += 1
            let isHit = state.matched - 1 == fault.start || fault.isLasting && state.matched > fault.start
            return isHit ? fault.code : nil
        }
        if let code { throw FileSystemError(call: call, path: path, code: code) }
    }

    override func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int {
        let length = state.withLock { state -> Int in
            guard let fault = state.fault, fault.code == nil else { return .max }
            return state.matched == fault.start || fault.isLasting && state.matched > fault.start ? fault.length : .max
        }
        return try super.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(length)), to: file)
    }

    private func owned(_ status: FileStatus, _ path: String) -> FileStatus {
        var status = status
        status.owner = state.withLock { $0.user == nil ? nil : $0.owners[path] } ?? status.owner
        return status
    }

    override func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus {
        owned(try super.status(file), file.path)
    }

    override func status(at path: String, followsLinks: Bool = true) throws(FileSystemError) -> FileStatus {
        owned(try super.status(at: path, followsLinks: followsLinks), path)
    }

    override func hasOtherNames(_ path: String) throws(FileSystemError) -> Bool {
        let isMounted = state.withLock { $0.isMounted }
        return try super.hasOtherNames(path) || isMounted
    }

    override func isRemote(_ path: String) throws(FileSystemError) -> Bool {
        let isRemote = state.withLock { $0.isRemote }
        return try super.isRemote(path) || isRemote
    }

    override var user: UInt32 { state.withLock { $0.user } ?? super.user }
    override var isPrivileged: Bool { state.withLock { $0.user }.map { $0 == 0 } ?? false }
    override var sizeLimit: Int64 { state.withLock { $0.limit } ?? super.sizeLimit }
}

/// A file system on which no file can be opened for writing.
final class ReadOnlyFileSystem: FileSystem, @unchecked Sendable {  // it has no state that changes
    private let code: Int32

    init(_ code: Int32) { self.code = code }

    override func open(_ path: String, for purpose: Purpose, named name: String?) throws(FileSystemError) -> OpenFile {
        guard purpose == .reading || purpose == .folder else {
            throw FileSystemError(call: "open", path: path, code: code)
        }
        return try super.open(path, for: purpose, named: name)
    }
}

/// The store of a file, as another process has it: each has its own.
func fileStore(
    _ path: String,
    _ system: FileSystem = .system,
    timeout: Duration = .seconds(5),
    idle: Duration = .seconds(10)
) -> PreferenceStore {
    PreferenceStore(Layer(source: Source(FileBackend(path, system, Process.current, timeout: timeout, idle: idle))))
}
