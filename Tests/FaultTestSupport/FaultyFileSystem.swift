package import DurableFile

/// A worker whose jobs run in `queue.runNextJob()` only, as time doesn't pass by itself; drops the remaining jobs when
/// it is released.
package final class StoppedWorker: Sendable {
    package let queue = WorkerQueue(isManual: true)
    package init() {}
    deinit { queue.removeJobs() }
}

/// The system's file system, in which each call is counted and one or more can be made to fail.
///
/// Time passes in `sleep` only, so that nothing that a log does after a while comes between the calls of a test, until
/// the clock is started.
package final class FaultyFileSystem: FileSystem {
    /// A fault of one or more calls.
    package struct Fault: Sendable {
        package enum Kind: Hashable, Sendable {
            case error(FileSystemError.Code)
            /// A write stores only this many bytes.
            case shortWrite(Int)
        }
        package var kind: Kind
        /// The number of the first counted call that fails, from 0.
        package var start: Int
        package var isLasting: Bool
        /// The names of the calls that fail, as in manual pages; nil for all calls.
        package var calls: Set<String>?
        /// The path of the calls that fail; nil for all paths.
        package var path: String?

        package init(
            _ kind: Kind,
            at start: Int = 0,
            isLasting: Bool = false,
            calls: Set<String>? = nil,
            path: String? = nil
        ) {
            self.kind = kind
            self.start = start
            self.isLasting = isLasting
            self.calls = calls
            self.path = path
        }

        fileprivate func concerns(_ call: String, _ path: String) -> Bool {
            if case .shortWrite = kind, call != "write" { return false }
            return calls?.contains(call) ?? true && self.path.map { $0 == path } ?? true
        }
    }

    private struct State {
        var calls: [String] = []
        var fault: Fault?
        var matched = 0
        var isEnded = false
        var hook: (@Sendable (_ call: String, _ path: String) -> Void)?
        var sleepHook: (@Sendable () -> Void)?
        /// The time; nil if it passes by itself.
        var time: Duration? = .zero
        var denial: FileSystemError.Code?
        var clockReads = 0
        var isDisagreeing = false
        var owners: [String: UInt32] = [:]
        var user: UInt32?
        var isMounted = false
        var modified: Int64?
    }

    private let base = SystemFileSystem()
    private let state = Lock(State())

    package init() {}

    /// The names of the calls since the last `begin`.
    package var calls: [String] { state.withLock { $0.calls } }

    /// The number of calls since the last `begin`, up to `end`, that the fault concerns.
    package var faultableCalls: Int { state.withLock { $0.matched } }

    /// Whether a call has failed since the last `begin`.
    package var isFaultMet: Bool { state.withLock { $0.matched > $0.fault?.start ?? .max } }

    /// Counts from 0 again, with or without a fault.
    package func begin(_ fault: Fault? = nil) {
        state.withLock { state in
            state.calls = []
            state.matched = 0
            state.isEnded = false
            state.fault = fault
        }
    }

    /// Ends the fault; keeps what was counted since `begin`.
    package func end() {
        state.withLock { $0.isEnded = true }
    }

    /// Runs a closure before each call, without a lock.
    package func beforeEachCall(_ hook: (@Sendable (_ call: String, _ path: String) -> Void)?) {
        state.withLock { $0.hook = hook }
    }

    /// Runs a closure before each sleep, without a lock.
    package func beforeEachSleep(_ hook: (@Sendable () -> Void)?) {
        state.withLock { $0.sleepHook = hook }
    }

    /// Lets opening a file for writing fail with an error, or succeed again if nil.
    package func denyWriting(_ code: FileSystemError.Code?) {
        state.withLock { $0.denial = code }
    }

    /// How often the time was read.
    package var clockReads: Int { state.withLock { $0.clockReads } }

    /// Gives the file, folder or link at a path to another user, from now on.
    package func give(_ path: String, to user: UInt32) {
        state.withLock { $0.owners[path] = user }
    }

    private func owned(_ status: FileStatus, _ path: String) -> FileStatus {
        var status = status
        status.owner = state.withLock { $0.owners[path] } ?? status.owner
        return status
    }

    package var user: UInt32 { state.withLock { $0.user } ?? base.user }

    package var isPrivileged: Bool { user == 0 }

    /// Runs as another user, from now on.
    package func run(as user: UInt32) { state.withLock { $0.user = user } }

    /// Lets files seem to be mounted by themselves, from now on.
    package func mountFiles() {
        state.withLock { $0.isMounted = true }
    }

    /// Lets all files seem to be modified at one time, as on a disk with coarse times, from now on.
    package func stopModificationTimes() {
        state.withLock { $0.modified = 0 }
    }

    /// Lets `stat` of a path return another identity than `fstat` of the file that is opened there, from now on.
    package func disagree() {
        state.withLock { $0.isDisagreeing = true }
    }

    /// Lets time pass by itself from now on; must be called before a log is opened that reads the clock.
    package func startClock() {
        state.withLock { $0.time = nil }
    }

    /// Counts a call; returns how many bytes a write stores, or throws if the call has to fail.
    @discardableResult
    private func enter(_ call: String, _ path: String) throws(FileSystemError) -> Int {
        let (hook, kind) = state.withLock { state -> ((@Sendable (String, String) -> Void)?, Fault.Kind?) in
            state.calls.append(call)
            guard !state.isEnded, let fault = state.fault, fault.concerns(call, path) else { return (state.hook, nil) }
            defer { state.matched += 1 }
            let isHit = state.matched == fault.start || (fault.isLasting && state.matched > fault.start)
            return (state.hook, isHit ? fault.kind : nil)
        }
        hook?(call, path)
        switch kind {
        case .error(let code): throw FileSystemError(call, path, code)
        case .shortWrite(let count): return count
        case nil: return .max
        }
    }

    package func open(_ path: String, for purpose: OpenPurpose) throws(FileSystemError) -> OpenFile {
        try enter("open", path)
        if purpose != .reading, purpose != .folder, let denial = state.withLock({ $0.denial }) {
            throw FileSystemError("open", path, denial)
        }
        return try base.open(path, for: purpose)
    }

    package func close(_ descriptor: Int32) { base.close(descriptor) }

    package func read(
        _ file: OpenFile,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(FileSystemError) -> Int {
        try enter("pread", file.path)
        return try base.read(file, into: buffer, at: offset)
    }

    package func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int {
        let limit = try enter("write", file.path)
        return try base.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(limit)), to: file)
    }

    package func position(_ file: OpenFile) throws(FileSystemError) -> Int64 {
        try enter("lseek", file.path)
        return try base.position(file)
    }

    package func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError) {
        try enter("ftruncate", file.path)
        try base.truncate(file, to: size)
    }

    package func syncData(_ file: OpenFile) throws(FileSystemError) {
        try enter("fdatasync", file.path)
        try base.syncData(file)
    }

    package func sync(_ file: OpenFile) throws(FileSystemError) {
        try enter("fsync", file.path)
        try base.sync(file)
    }

    package func lock(_ file: OpenFile) throws(FileSystemError) -> Bool {
        try enter("flock", file.path)
        return try base.lock(file)
    }

    package func unlock(_ file: OpenFile) throws(FileSystemError) {
        try enter("flock", file.path)
        try base.unlock(file)
    }

    package func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus {
        try enter("fstat", file.path)
        return owned(try base.status(file), file.path)
    }

    package func status(at path: String) throws(FileSystemError) -> FileStatus {
        try enter("stat", path)
        var status = try base.status(at: path)
        if state.withLock({ $0.isDisagreeing }) { status.identity.inode += 1 }
        return owned(status, path)
    }

    package func linkStatus(at path: String) throws(FileSystemError) -> FileStatus {
        try enter("lstat", path)
        return owned(try base.linkStatus(at: path), path)
    }

    package func changeTimes(at path: String) throws(FileSystemError) -> ChangeTimes {
        try enter("stat", path)
        var times = try base.changeTimes(at: path)
        if let time = state.withLock({ $0.modified }) { times.modified = time }
        return times
    }

    package func hasOtherNames(_ path: String) throws(FileSystemError) -> Bool {
        try enter("statx", path)
        if state.withLock({ $0.isMounted }) { return true }
        return try base.hasOtherNames(path)
    }

    package func isWritable(_ path: String, _ kind: FileStatus.Kind) throws(FileSystemError) -> Bool {
        try enter("faccessat", path)
        if state.withLock({ $0.denial }) != nil { return false }
        return try base.isWritable(path, kind)
    }

    package func hasWriters(_ file: OpenFile) throws(FileSystemError) -> Bool {
        try enter("fcntl", file.path)
        return try base.hasWriters(file)
    }

    package func reopen(_ file: OpenFile) throws(FileSystemError) -> OpenFile {
        try enter("open", file.path)
        return try base.reopen(file)
    }

    package func overwrite(
        _ bytes: UnsafeRawBufferPointer,
        in file: OpenFile,
        at offset: Int64
    ) throws(FileSystemError) -> Int {
        try enter("pwrite", file.path)
        return try base.overwrite(bytes, in: file, at: offset)
    }

    package func target(ofLinkAt path: String) throws(FileSystemError) -> String {
        try enter("readlink", path)
        return try base.target(ofLinkAt: path)
    }

    package func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        try enter("rename", path)
        try base.rename(path, to: newPath)
    }

    package func remove(_ path: String) throws(FileSystemError) {
        try enter("unlink", path)
        try base.remove(path)
    }

    package func makeFolder(_ path: String) throws(FileSystemError) {
        try enter("mkdir", path)
        try base.makeFolder(path)
    }

    package func names(inFolder path: String) throws(FileSystemError) -> [String] {
        try enter("readdir", path)
        return try base.names(inFolder: path)
    }

    package func setMode(_ file: OpenFile, _ mode: UInt32) throws(FileSystemError) {
        try enter("fchmod", file.path)
        try base.setMode(file, mode)
    }

    package func setOwner(_ file: OpenFile, _ owner: UInt32, _ group: UInt32) throws(FileSystemError) {
        try enter("fchown", file.path)
        try base.setOwner(file, owner, group)
    }

    package func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError) {
        try enter("fsetxattr", to.path)
        try base.copyAttributes(from: from, to: to)
    }

    package func isRemote(_ path: String) throws(FileSystemError) -> Bool {
        try enter("statfs", path)
        return try base.isRemote(path)
    }

    package func makeEventQueue() throws(FileSystemError) -> OpenFile? {
        try enter("inotify_init1", "")
        return try base.makeEventQueue()
    }

    package func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32 {
        try enter("inotify_add_watch", folder)
        return try base.addWatch(queue, folder: folder, namesOnly: namesOnly)
    }

    package func addWatch(_ queue: OpenFile, file: String) throws(FileSystemError) -> Int32 {
        try enter("inotify_add_watch", file)
        return try base.addWatch(queue, file: file)
    }

    package func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError) {
        try enter("inotify_rm_watch", queue.path)
        try base.removeWatch(queue, watch)
    }

    package func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent] {
        try enter("read", queue.path)
        return try base.events(queue)
    }

    package func wake(_ pipe: OpenFile) { base.wake(pipe) }

    package func drain(_ pipe: OpenFile) { base.drain(pipe) }

    package func makePipe() throws(FileSystemError) -> (reading: OpenFile, writing: OpenFile) {
        try enter("pipe", "")
        return try base.makePipe()
    }

    package func wait(
        for queue: OpenFile?,
        or pipe: OpenFile?,
        atMost timeout: Duration?
    ) throws(FileSystemError) -> (queue: Bool, pipe: Bool) {
        try enter("poll", "")
        return try base.wait(for: queue, or: pipe, atMost: timeout)
    }

    package func now() -> Duration {
        let time = state.withLock { state in
            state.clockReads += 1
            return state.time
        }
        return time ?? base.now()
    }

    package func sleep(_ duration: Duration) {
        state.withLock { $0.sleepHook }?()
        let isStopped = state.withLock { state in
            state.time? += duration
            return state.time != nil
        }
        if !isStopped { base.sleep(duration) }
    }
}
