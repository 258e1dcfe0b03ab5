internal import CDurableFile
internal import Synchronization

/// A file of lines that several processes append to, read and compact, and that survives their deaths and a loss of power.
///
/// Any thread may call; what changes the file is done by one at a time. Nothing here calls out under a lock, except to
/// the contents themselves.
package final class LogFile<Contents: LogContents>: Sendable {
    package let path: String
    let core: Lock<LogCore>
    /// Used under the lock of `core` only.
    private let contents: Contents
    let fileSystem: any FileSystem
    private let lockTimeout: Duration
    let worker: WorkerQueue
    /// Calls the observer, whose code must keep neither a sync nor the watcher waiting.
    private let notifier: WorkerQueue
    let compacting = Lock(CompactionSchedule())
    private let watcher: Watcher?
    private let background = Lock(LogBackground())
    /// In which process a sync will follow, as a child of `fork` has no thread to make its parent's.
    private let syncScheduledIn = Atomic<UInt64>(.max)

    /// Makes nothing and opens nothing yet.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether the file is opened for reading only and never written, synced or compacted.
    ///   - joinsLines: Whether an object over several lines is read, as it always is of a file that is read only.
    package init(
        path: String,
        isReadOnly: Bool = false,
        joinsLines: Bool = false,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5),
        watcher: Watcher? = .shared,
        worker: WorkerQueue? = nil
    ) {
        self.path = path
        contents = Contents()
        core = Lock(
            LogCore(
                path: path,
                contents: contents,
                isReadOnly: isReadOnly,
                joinsLines: joinsLines,
                fileSystem: fileSystem,
                lockTimeout: lockTimeout
            )
        )
        self.fileSystem = fileSystem
        self.lockTimeout = lockTimeout
        self.watcher = watcher
        self.worker = worker ?? WorkerQueue(fileSystem: fileSystem, isBlocking: true)
        notifier = worker ?? WorkerQueue(fileSystem: fileSystem)
    }

    deinit {
        let (sync, end) = core.withLock { ($0.current?.sync, $0.position.end) }
        guard let sync, syncScheduledIn.load(ordering: .relaxed) == durable_file_fork_count() else { return }
        // The job keeps the descriptor alone. An error has nobody left to be told.
        worker.run { do { try sync.sync(upTo: end) } catch {} }
    }

    /// Reads what is there; from now on `observer` is told of what happens outside of calls.
    package func load(observer: LogObserver) throws(LogError) {
        // Watched before it is read, so that nothing falls in between.
        let watch = watcher?.watch(path) { [weak self] event in
            self?.noticed(event)
        }
        background.withLock { background in
            background.observer = observer
            background.watch = watch
        }
        try withCore { core throws(LogError) in
            defer { core.isBegun = true }
            try core.readAfresh()
        }
    }

    /// Runs `body` with the core, again if the file has to be reopened, and then reports without the lock the damage that it met.
    ///
    /// The damage is taken under the same lock, so that no other thread reports it later than the call returns.
    private func withCore(_ body: (inout LogCore) throws(LogError) -> Void) throws(LogError) {
        var damage: [LogDamage] = []
        defer { notify(of: damage) }
        try core.withLock { core throws(LogError) in
            defer { if core.damage.isUnreported { damage = core.damage.takeUnreported() } }
            try core.reopeningIfStale(body)
        }
    }

    /// Takes in what others did, but for a file that is perhaps in the middle of a save: that the watcher tells of.
    package func catchUp() throws(LogError) {
        let isWatched = background.withLock { $0.watch != nil }
        try withCore { core throws(LogError) in
            try core.catchUp(isWatched ? (core.isUnsettled ? .appended : .all) : .compared(whole: true))
        }
    }

    /// Reads external changes, on the watcher's thread, and has the observer notified of them; nil if the log is in use.
    private func noticed(_ event: WatchEvent) -> WatchFinding? {
        let scope: LogCore.Scope =
            switch event {
            case .touched: .appended
            case .settled(let isWhole): .compared(whole: isWhole)
            }
        do throws(LogError) {
            // One file's lock must not delay the other files' watching. Who uses the log reads external changes, too; what
            // it misses shows when the file has come to rest.
            let finding = try core.withLockIfAvailable { core throws(LogError) in try core.noticed(scope) } ?? nil
            if finding?.isNews == true { scheduleReport() }
            return finding
        } catch {
            // Who asks for the changes gets the error.
            scheduleReport(isError: true)
            return WatchFinding(isBlank: false, isNews: true)
        }
    }

    /// Uses or changes what is known in memory.
    package func withContents<Result: Sendable>(_ body: (Contents) -> Result) -> Result {
        core.withLock { _ in body(contents) }
    }

    /// Notifies the observer of external changes and damage, if there are any, on a thread of its own.
    package func announceNews() {
        if core.withLock({ $0.hasReport }) { scheduleReport() }
    }

    private func scheduleReport(isError: Bool = false) {
        let isScheduled = background.withLock { background in
            defer { background.report = background.report == .error || isError ? .error : .news }
            return background.report != nil
        }
        guard !isScheduled else { return }
        notifier.run { [weak self] in
            guard let self else { return }
            let report = background.withLock { exchange(&$0.report, with: nil) }
            if report == .error { background.withLock { $0.observer }?.changed() }
            tellNews()
        }
    }

    /// Adds the line that `prepare` makes of what everybody has stored; nil adds nothing.
    ///
    /// `prepare` runs under the lock and may be asked twice; `commit` once the line is stored and all before it was taken in.
    /// When this returns the line survives the death of the process. Where it throws, the contents are those of the file as
    /// far as it could be read.
    package func append(_ prepare: (Contents) -> [UInt8]?, commit: (Contents) -> Void) throws(LogError) {
        let deadline = fileSystem.now() + lockTimeout
        try withCore { core throws(LogError) in
            try core.append(until: deadline, { prepare(contents) }, commit: { commit(contents) })
        }
        scheduleSync()
    }

    func scheduleSync() {
        // With the sync's own exchange this orders what was appended before that sync.
        let forks = durable_file_fork_count()
        if syncScheduledIn.exchange(forks, ordering: .acquiringAndReleasing) != forks {
            worker.run(after: .milliseconds(80)) { [weak self] in self?.syncInBackground() }
        }
    }

    /// Returns when everything read or appended so far survives a loss of power; blocks.
    package func sync() throws(LogError) {
        let (sync, end) = try core.withLock { core throws(LogError) -> (FileSync?, Int64) in
            // To a file that can only be read nothing was appended.
            guard let handle = try core.currentHandle(), handle.isWritable else { return (nil, 0) }
            // Where another file is at the path now, what was appended to the old one is in it.
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
        // The only way to stable storage is a new file, which is synced before it is one.
        do {
            defer { announceNews() }
            try compact(isForced: true) { true }
            let (sync, end) = core.withLock { ($0.current?.sync, $0.position.end) }
            try sync?.sync(upTo: end)
        } catch { throw .notDurable(path: path, cause: error) }
    }

    private func syncInBackground() {
        _ = syncScheduledIn.exchange(.max, ordering: .acquiringAndReleasing)
        do { try sync() } catch { announce(error) }
        do { try compactIfDue() } catch { announce(error) }
    }

    private func replaceFailedFileInBackground() {
        do { try replaceFailedFile() } catch { announce(error) }
    }

    // MARK: Telling the observer, never under a lock

    /// Notifies the observer of an error of the background, on a thread of its own.
    func announce(_ error: LogError) {
        guard let observer = background.withLock({ $0.observer }) else { return }
        notifier.run { observer.failed(error) }
    }

    func tellNews() {
        let (damage, hasNews) = core.withLock { ($0.damage.takeUnreported(), $0.contents.hasNews) }
        notify(of: damage)
        guard hasNews else { return }
        background.withLock { $0.observer }?.changed()
    }

    private func notify(of damage: [LogDamage]) {
        guard !damage.isEmpty, let observer = background.withLock({ $0.observer }) else { return }
        for line in damage { observer.damaged(line) }
    }
}

/// What a log does outside of calls.
private struct LogBackground {
    var observer: LogObserver?
    var watch: Watch?
    /// The notification that is scheduled: what comes until then needs no other.
    var report: Report?

    enum Report { case news, error }
}

/// Who is told of what happens outside of calls; on any thread, without any lock held.
package struct LogObserver: Sendable {
    /// Others changed something; `catchUp` has taken it in already.
    package var changed: @Sendable () -> Void
    package var damaged: @Sendable (LogDamage) -> Void
    /// The damaged lines were moved to another file.
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

extension LogFile {
    /// Writes the file anew with one entry a line, whether or not it is worth it; blocks.
    ///
    /// Lines that can't be read are kept in a file beside it. Throws `outcomeUnknown` where the new file
    /// is in place but its name may not survive a loss of power.
    package func compact() throws(LogError) {
        defer { tellNews() }
        try compact(isForced: true) { true }
    }

    func compactIfDue() throws(LogError) {
        defer { announceNews() }
        try compact(isForced: false) { true }
    }

    /// Puts a new file in the place of one that couldn't be synced, unless another thread just has.
    func replaceFailedFile() throws(LogError) {
        defer { announceNews() }
        try compact(isForced: true) { core.withLock { $0.current?.sync.failure } != nil }
    }

    func compact(isForced: Bool, while isNeeded: () -> Bool) throws(LogError) {
        // One at a time; the lock is held while files are written, but nobody else waits for it.
        let stray = try compacting.withLock { schedule throws(LogError) -> StrayLines? in
            guard isNeeded() else { return nil }
            // Where another process compacted meanwhile there is mostly nothing left to do.
            for _ in 0..<(isForced ? 10 : 1) {
                guard let compaction = try core.withLock({ core throws(LogError) in try core.compaction() }),
                    isForced || schedule.mustLook(at: compaction.source)
                else { return nil }
                do throws(LogError) {
                    let lines = try compaction.lines()
                    guard isForced || schedule.isDue(compaction.source, live: lines.count) else { return nil }
                    let draft = try compaction.draft(lines)
                    let stray = try core.withLock { core throws(LogError) in try core.install(compaction, draft) }
                    if stray != nil {
                        schedule.noteSuccess(live: lines.count)
                        return stray
                    }
                    try core.withLock { core throws(LogError) in try core.catchUp(.all) }
                } catch {
                    schedule.noteFailure(compaction.source)
                    if !isForced, case .busy = error { return nil }
                    throw error
                }
            }
            return nil
        }
        guard let stray else { return }
        if let copy = stray.damagedCopy, let observer = background.withLock({ $0.observer }) {
            notifier.run { observer.moved(copy) }
        }
        collect(stray, times: 10)
        if let failure = stray.failure { throw .outcomeUnknown(path: path, cause: failure) }
    }

    /// For one second looks what appenders without the lock still write to the old file.
    ///
    /// The job keeps the log: its lines would else be lost with the last store.
    private func collect(_ stray: StrayLines, times: Int) {
        worker.run(after: .milliseconds(100)) { [self] in
            var stray = stray
            do throws(LogError) {
                let isAny = try core.withLock { core throws(LogError) in
                    try core.collect(&stray, isLast: times == 1)
                }
                if isAny { scheduleSync() }
            } catch { announce(error) }
            announceNews()
            if times > 1 { collect(stray, times: times - 1) }
        }
    }
}
