internal import CDurableFile
internal import Synchronization

/// A file of lines that several processes append to, read and compact, and that survives their deaths and a loss of
/// power.
///
/// All methods can be called on any thread; one thread at a time changes the file. No callback runs under a lock,
/// except the methods of the contents and the closures that get them.
// Not constrained to `LogContents`: the type would look for the conformance among all in the process when it is first used.
package final class LogFile<Contents: AnyObject & Sendable>: Sendable {
    package let path: String
    let core: Lock<LogCore>
    /// Used under the lock of `core` only.
    private let contents: Contents
    let fileSystem: any FileSystem
    let lockTimeout: Duration
    let worker: WorkerQueue
    /// The queue that calls the observer for what isn't reported on the watcher's thread; its code must not delay a sync.
    let notifier: WorkerQueue
    let compacting = Lock(CompactionSchedule())
    private let saves = Saves()
    let watcher: Watcher?
    let background = Lock(LogBackground())
    /// The fork count of the process that has scheduled a sync, as a child of `fork` has no thread that runs its
    /// parent's.
    private let syncScheduledIn = Atomic<UInt64>(.max)
    /// The fork count of the process that has scheduled a look at whether the file is idle.
    private let tidyingScheduledIn = Atomic<UInt64>(.max)
    /// The place among the participants of a `fork`; written once, in the initializer.
    nonisolated(unsafe) private var forkPlace = 0

    /// Creates a log; no file is created or opened yet.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether the file is opened for reading only and never written, synced or compacted.
    ///   - isKnown: Whether a file that is only read is known to exist: one in a folder that can't be entered isn't treated as missing.
    ///   - joinsLines: Whether an object that spans several lines is read, as it always is in a read-only file.
    ///   - reportsUnfinished: Whether a last line without a newline that can't be read is reported, as it always is in a read-only file.
    ///   - trustsOwners: Whether the file is used regardless of its owner.
    package init(
        path: String,
        isReadOnly: Bool = false,
        isKnown: Bool = false,
        joinsLines: Bool = false,
        reportsUnfinished: Bool = false,
        trustsOwners: Bool = false,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5),
        watcher: Watcher? = .shared,
        worker: WorkerQueue? = nil
    ) where Contents: LogContents {
        self.path = path
        contents = Contents()
        core = Lock(
            LogCore(
                path: path,
                contents: contents,
                isReadOnly: isReadOnly,
                isKnown: isKnown,
                joinsLines: joinsLines,
                reportsUnfinished: reportsUnfinished,
                trustsOwners: trustsOwners,
                fileSystem: fileSystem
            )
        )
        self.fileSystem = fileSystem
        self.lockTimeout = lockTimeout
        self.watcher = watcher
        self.worker = worker ?? WorkerQueue(fileSystem: fileSystem, isBlocking: true)
        notifier = worker ?? WorkerQueue(fileSystem: fileSystem)
        forkPlace = ForkGate.add(self)
    }

    deinit {
        ForkGate.remove(forkPlace)
        let (sync, end) = core.withLock { ($0.current?.sync, $0.position.end) }
        guard let sync, syncScheduledIn.load(ordering: .relaxed) == durable_file_fork_count() else { return }
        // The job retains only the descriptor. No observer is left to report an error to.
        worker.run { do { try sync.sync(upTo: end) } catch {} }
    }

    /// Reads the file; from now on `observer` is notified of what happens outside of calls.
    package func load(observer: LogObserver) throws(LogError) {
        // Watched before it is read, so that no change is missed in between.
        let watch = watcher?.watch(path) { [weak self] event in
            self?.handle(event)
        }
        background.withLock { background in
            background.observer = observer
            background.watch = watch
        }
        try withCore { core throws(LogError) in
            if watch != nil { (core.saves, core.watch) = (saves, watch) }
            defer { core.isBegun = true }
            try core.reload()
        }
    }

    /// Runs `body` with the core, and again with the file reopened if the server has dropped it (ESTALE: another machine
    /// has replaced the file); then reports the damage that was found, without the lock.
    ///
    /// The damage is removed under the same lock, so that no other thread reports it after the call has returned.
    private func withCore(_ body: (inout LogCore) throws(LogError) -> Void) throws(LogError) {
        var damage: [LogDamage] = []
        var issues: [LogError] = []
        defer { if !damage.isEmpty || !issues.isEmpty { notify(of: damage, issues) } }
        try core.withLock { core throws(LogError) in
            defer { core.moveReports(to: &damage, &issues) }
            do throws(LogError) { try body(&core) } catch {
                guard case .failed(let cause) = error, cause.code == .stale else { throw error }
                core.current = nil
                try body(&core)
            }
        }
    }

    /// Reads external changes, except those of a file that a program might not have finished saving, which the watcher reports.
    package func catchUp() throws(LogError) {
        let (isWatched, isReporting) = background.withLock { ($0.watch != nil, $0.isReporting) }
        try withCore { core throws(LogError) in
            let isBeingSaved = isWatched && core.needsReload
            // An observer is notified of what was read, so nothing has to be compared for it.
            try core.catchUp(isBeingSaved ? .appended : isReporting ? .all : .compared(whole: true))
        }
    }

    /// Reads external changes, on the watcher's thread, which then notifies the observer; returns nil if the log is in use.
    private func handle(_ event: WatchEvent) -> WatchFinding? {
        let scope: LogCore.Scope =
            switch event {
            case .touched, .closed: .appended
            case .idle(let isWhole): .compared(whole: isWhole, isIdle: true)
            }
        // Afterwards, as this look might be the first one at a file that was truncated and closed.
        defer { if event == .closed { saves.noteClose() } }
        do throws(LogError) {
            // One file's lock must not delay the watching of other files. A thread that uses the log reads external
            // changes too; those that it misses are found when the file is idle.
            var finding = try core.withLockIfAvailable { core throws(LogError) in try core.check(scope) } ?? nil
            if finding?.hasChanges == true { finding?.report = nextReport() }
            return finding
        } catch {
            // The next caller that asks for the changes gets the error.
            var finding = WatchFinding(isBlank: false, hasChanges: true)
            finding.report = nextReport { $0.isUnreadable = true }
            return finding
        }
    }

    /// Uses the file regardless of its owner, from now on.
    package func trustOwners() { core.withLock { $0.trustsOwners = true } }

    /// Whether the file is used regardless of its owner.
    package var trustsOwners: Bool { core.withLock { $0.trustsOwners } }

    /// Whether a line could be appended now, as far as that is known without trying; creates nothing.
    package var isWritable: Bool { core.withLock { $0.isWritable() } }

    /// Runs `body` with the contents in memory, under the lock.
    package func withContents<Result: Sendable>(_ body: (Contents) -> Result) -> Result {
        core.withLock { _ in body(contents) }
    }

    /// Notifies the observer of external changes and damage, if there are any, on another thread.
    package func notifyInBackground() {
        guard core.withLock({ $0.hasReport }) else { return }
        if let report = nextReport() { notifier.run(report) }
    }

    /// Notifies the observer on another thread of what `change` adds to the report.
    func notifyInBackground(_ change: (inout LogBackground.Report) -> Void) {
        if let report = nextReport(change) { notifier.run(report) }
    }

    /// Returns the job that notifies the observer; nil if one that was returned before does so, as it hasn't begun or will repeat.
    private func nextReport(_ change: (inout LogBackground.Report) -> Void = { _ in }) -> WorkerQueue.Job? {
        let mustSchedule = background.withLock { background in
            background.add(change)
            return background.beginSchedule()
        }
        return mustSchedule ? reportJob : nil
    }

    private func makeReports() {
        guard background.withLock({ $0.beginReporting() }) else { return }
        while let (report, observer) = background.withLock({ $0.nextReport() }) {
            for error in report.errors { observer.failed(error) }
            for copy in report.copies { observer.moved(copy) }
            if report.isUnreadable { observer.changed() }
            notifyObserver()
        }
    }

    /// Schedules, in a child of `fork`, the report that a thread of its parent would have made.
    func resumeReports() {
        if background.withLock({ $0.beginSchedule() }) { notifier.run(reportJob) }
    }

    private var reportJob: WorkerQueue.Job { { [weak self] in self?.makeReports() } }

    /// Appends the line that `prepare` makes of what all processes have stored; nothing if that returns nil.
    ///
    /// `prepare` runs under the lock and may be called several times; `commit` is called once the line is stored and all lines
    /// before it are applied. When this returns, the line survives the death of the process. If it throws, the contents
    /// are those of the file, as far as it could be read.
    ///
    /// - Parameter timeout: How long to wait for the lock that another process holds; nil for the log's `lockTimeout`.
    package func append(
        within timeout: Duration? = nil,
        _ prepare: (Contents) -> [UInt8]?,
        commit: (Contents) -> Void
    ) throws(LogError) {
        var wait = BusyWait(timeout ?? lockTimeout)
        while true {
            do throws(LogError) {
                try withCore { core throws(LogError) in
                    try core.append(&wait, { prepare(contents) }, commit: { commit(contents) })
                }
                return scheduleSync()
            } catch { try wait.pause(after: error, fileSystem) }
        }
    }

    /// Appends a line to a file of another kind, so that it is used from now on; does nothing to other files.
    package func adopt(with line: [UInt8]) throws(LogError) {
        try fileSystem.whileBusy(lockTimeout) { wait throws(LogError) in
            try withCore { core throws(LogError) in
                guard core.position.isForeign else { return }
                try core.append(external: line, &wait)
            }
        }
    }

    /// Ends a last line that has no newline, as a writer does before its own line; does nothing to files of another kind.
    package func endLastLine() throws(LogError) {
        try fileSystem.whileBusy(lockTimeout) { wait throws(LogError) in
            try withCore { core throws(LogError) in
                guard core.position.end > core.position.offset, !core.position.isForeign else { return }
                try core.append(external: [], &wait)
            }
        }
    }

    /// Returns the bytes of the file; nil if they are more, or can't be read.
    package func bytes(atMost limit: Int) -> [UInt8]? {
        do {
            let file = try fileSystem.open(path, for: .reading)
            let status = try fileSystem.status(file)
            guard status.kind == .file, status.size <= limit else { return nil }
            var bytes: [UInt8] = []
            try LogReader(file: file, fileSystem: fileSystem, longestLine: limit, joinsLines: false).copy(from: 0) {
                piece,
                _ throws(FileSystemError) in
                bytes += piece
            }
            return bytes
        } catch {
            return nil
        }
    }

    func scheduleSync() {
        // Together with the exchange in the sync, this orders earlier appends before that sync.
        let forks = durable_file_fork_count()
        if syncScheduledIn.exchange(forks, ordering: .acquiringAndReleasing) != forks {
            worker.run(after: .milliseconds(80)) { [weak self] in self?.syncInBackground() }
        }
    }

    /// Blocks until everything that was read or appended so far survives a loss of power.
    package func sync() throws(LogError) {
        let (sync, end) = try core.withLock { core throws(LogError) -> (FileSync?, Int64) in
            // What was read is synced, too. Nothing was appended to a file that can only be read.
            core.beginWriting()
            guard let handle = try core.currentHandle(), handle.isWritable else { return (nil, 0) }
            // If another file is at the path now, it has what was appended to the old one.
            if handle.identity != core.position.identity { try core.catchUp(.all) }
            return (core.current?.sync, core.position.end)
        }
        guard let sync else { return }
        if sync.failure == nil {
            do { return try sync.sync(upTo: end) } catch {
                worker.run { [weak self] in self?.replaceFailedFileInBackground() }
                throw .notDurable(path: path, cause: error)
            }
        }
        // After a failed sync, only a new file can get to stable storage: it is synced before it gets the name.
        do {
            defer { notifyInBackground() }
            try compact(.failedSync) { true }
            let (sync, end) = core.withLock { ($0.current?.sync, $0.position.end) }
            try sync?.sync(upTo: end)
        } catch { throw .notDurable(path: path, cause: error) }
    }

    private func syncInBackground() {
        _ = syncScheduledIn.exchange(.max, ordering: .acquiringAndReleasing)
        do { try sync() } catch { notifyInBackground(of: error) }
        removeDeadDrafts()
        do { try compactIfDue() } catch {
            // A failure that lasts is reported once.
            if !compacting.withLock({ $0.isFailingAgain }) {
                notifyInBackground(of: error.cause.map { .notCompacted(path: path, cause: $0) } ?? error)
            }
        }
        scheduleTidying()
    }

    private func scheduleTidying() {
        // A thread must not wait for files in which there is nothing to tidy.
        guard core.withLock({ $0.position.lines > $0.contents.lineCount }) else { return }
        let forks = durable_file_fork_count()
        if tidyingScheduledIn.exchange(forks, ordering: .acquiringAndReleasing) != forks { tidyWhenIdle() }
    }

    /// Tidies the file once nothing was added to it for a while, so that a person who keeps it in version control sees
    /// only what has changed.
    private func tidyWhenIdle() {
        let before = core.withLock { $0.position }
        let pause = compacting.withLock { $0.quiet(before.offset) }
        let isScheduled = worker.schedule(after: pause) { [weak self] in
            guard let self else { return }
            let now = core.withLock { $0.position }
            guard (now.identity, now.end) == (before.identity, before.end) else { return tidyWhenIdle() }
            tidyingScheduledIn.store(.max, ordering: .releasing)
            do throws(LogError) { try tidy() } catch {
                // A file that can't be compacted is reported once it is large.
                if error.cause == nil { notifyInBackground(of: error) }
            }
        }
        if !isScheduled { tidyingScheduledIn.store(.max, ordering: .releasing) }
    }

    private func replaceFailedFileInBackground() {
        do { try replaceFailedFile() } catch {
            notifyInBackground(of: error.cause.map { .notDurable(path: path, cause: $0) } ?? error)
        }
    }

    // MARK: Notifying the observer, never under a lock

    /// Notifies the observer of an error in the background, on another thread.
    func notifyInBackground(of error: LogError) {
        notifyInBackground { $0.errors.append(error) }
    }

    func notifyObserver() {
        let (damage, issues, hasChanges) = core.withLock { core in
            var (damage, issues) = ([LogDamage](), [LogError]())
            core.moveReports(to: &damage, &issues)
            return (damage, issues, core.contents.hasChanges)
        }
        notify(of: damage, issues)
        guard hasChanges else { return }
        background.withLock { $0.observer }?.changed()
    }

    private func notify(of damage: [LogDamage], _ issues: [LogError]) {
        guard let observer = background.withLock({ $0.observer }) else { return }
        for line in damage { observer.damaged(line) }
        for issue in issues { observer.failed(issue) }
    }
}

/// The state of what a log does outside of calls.
struct LogBackground {
    var observer: LogObserver?
    var watch: Watch?
    /// The next notification of the observer, with the errors and copies that it gets beside changes and damage; nil if none is due.
    private var report: Report?
    /// Whether a job is scheduled that makes the report.
    private var isScheduled = false
    /// The thread that makes reports. It repeats until there are none, so two never overlap, and an observer that waits blocks one
    /// thread only.
    private var reporter: UInt?

    struct Report {
        /// Whether the changes could not be read: the next caller that asks for them gets the error.
        var isUnreadable = false
        var errors: [LogError] = []
        /// The paths to which damaged lines were moved.
        var copies: [String] = []
    }

    /// Adds to the report, or makes a new one.
    mutating func add(_ change: (inout Report) -> Void) {
        var report = self.report ?? Report()
        change(&report)
        self.report = report
    }

    /// Returns whether a job has to be scheduled for a report that no thread will make.
    mutating func beginSchedule() -> Bool {
        guard report != nil, !isScheduled, reporter == nil else { return false }
        isScheduled = true
        return true
    }

    /// Notes that the calling thread makes reports; returns false if another one does.
    mutating func beginReporting() -> Bool {
        isScheduled = false
        guard reporter == nil else { return false }
        reporter = Self.thread
        return true
    }

    /// Whether the calling thread makes reports.
    var isReporting: Bool { reporter == Self.thread }

    /// Returns the next report, and notes the end if there is none.
    mutating func nextReport() -> (Report, LogObserver)? {
        if let report = exchange(&report, with: nil), let observer { return (report, observer) }
        reporter = nil
        return nil
    }

    /// Notes in a child of `fork` that its parent's threads, all but the calling one, make no report.
    mutating func forgetThreads() {
        isScheduled = false
        if reporter != Self.thread { reporter = nil }
    }

    private static var thread: UInt { UInt(bitPattern: c_thread_identity()) }
}

/// The closures that are called for what happens outside of calls; on any thread, without a lock held.
package struct LogObserver: Sendable {
    /// External changes were applied to the contents, or could not be read.
    package var changed: @Sendable () -> Void
    package var damaged: @Sendable (LogDamage) -> Void
    /// The damaged lines were moved to another file, at the path `copy`.
    package var moved: @Sendable (_ copy: String) -> Void
    package var failed: @Sendable (LogError) -> Void

    package init(
        changed: @escaping @Sendable () -> Void,
        damaged: @escaping @Sendable (LogDamage) -> Void,
        moved: @escaping @Sendable (_ copy: String) -> Void = { _ in },
        failed: @escaping @Sendable (LogError) -> Void
    ) {
        self.changed = changed
        self.damaged = damaged
        self.moved = moved
        self.failed = failed
    }
}
