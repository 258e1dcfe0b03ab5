internal import CDurableFile

/// A file of lines that several processes append to, read and compact, and that survives their deaths and a loss of power.
///
/// Any thread may call; what changes the file is done by one at a time. Nothing here calls out under a lock, except to
/// the contents themselves.
package final class LogFile<Contents: LogContents>: Sendable {
    package let path: String
    let core: Lock<LogCore>
    /// Used under the lock of `core` only.
    private let contents: Contents
    let worker: WorkerThread
    let compacting = Lock(CompactionSchedule())
    private let watcher: Watcher?
    private let background = Lock(LogBackground())

    /// Makes nothing and opens nothing yet.
    package init(
        path: String,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5),
        watcher: Watcher? = .shared,
        worker: WorkerThread? = nil
    ) {
        self.path = path
        contents = Contents()
        core = Lock(LogCore(path: path, contents: contents, fileSystem: fileSystem, lockTimeout: lockTimeout))
        self.watcher = watcher
        self.worker = worker ?? WorkerThread(name: "preferences", fileSystem: fileSystem)
    }

    deinit {
        let (sync, end) = core.withLock { ($0.current?.sync, $0.position.end) }
        guard let sync, background.withLock({ $0.syncScheduledIn }) == durable_file_fork_count() else { return }
        // The job keeps the descriptor alone. An error has nobody left to be told.
        worker.run { do { try sync.sync(upTo: end) } catch {} }
    }

    /// Reads what is there; from now on `observer` is told of what happens outside of calls.
    package func load(observer: LogObserver) throws(LogError) {
        // Watched before it is read, so that nothing falls in between.
        let watch = watcher?.watch(path) { [weak self] event in
            self?.noticed(event) ?? WatchFinding(isBlank: false, isNews: false)
        }
        background.withLock { background in
            background.observer = observer
            background.watch = watch
        }
        defer { tellDamage() }
        try core.withLock { core throws(LogError) in try core.readAfresh() }
    }

    /// Takes in what others did, but for a file that is perhaps in the middle of a save: that the watcher tells of.
    package func catchUp() throws(LogError) {
        defer { tellDamage() }
        let isWatched = background.withLock { $0.watch != nil }
        try core.withLock { core throws(LogError) in
            try core.catchUp(isWatched ? (core.isUnsettled ? .appended : .all) : .compared(whole: true))
        }
    }

    /// Takes in what others did, on the watcher's thread, and tells the observer if it is anything.
    private func noticed(_ event: WatchEvent) -> WatchFinding {
        let finding: WatchFinding?
        do throws(LogError) {
            finding =
                switch event {
                case .touched:
                    // Whoever holds the lock is writing and catches up itself; what it misses shows when all is quiet.
                    try core.withLockIfAvailable { core throws(LogError) in try core.noticed(.appended) }
                case .settled(let isWhole):
                    try core.withLock { core throws(LogError) in try core.noticed(.compared(whole: isWhole)) }
                }
        } catch {
            // Who asks for the changes is told the error.
            background.withLock { $0.observer }?.changed()
            return WatchFinding(isBlank: false, isNews: true)
        }
        guard let finding else { return WatchFinding(isBlank: false, isNews: false) }
        tellNews()
        return finding
    }

    /// Uses or changes what is known in memory.
    package func withContents<Result: Sendable>(_ body: (Contents) -> Result) -> Result {
        core.withLock { _ in body(contents) }
    }

    /// Tells the observer from the background thread that something changed.
    package func announceNews() {
        worker.run { [weak self] in self?.tellNews() }
    }

    /// Adds the line that `prepare` makes of what everybody has stored; nil adds nothing.
    ///
    /// `prepare` runs under the lock and may be asked twice. When this returns the line survives the death of the process.
    /// Where it throws, the contents are those of the file as far as it could be read.
    package func append(_ prepare: (Contents) -> [UInt8]?) throws(LogError) {
        defer { tellDamage() }
        try core.withLock { core throws(LogError) in try core.append { prepare(contents) } }
        let mustSchedule = background.withLock { background in
            let forks = durable_file_fork_count()
            defer { background.syncScheduledIn = forks }
            return background.syncScheduledIn != forks
        }
        if mustSchedule {
            worker.run(after: .milliseconds(80)) { [weak self] in self?.syncInBackground() }
        }
    }

    /// Returns when everything read or appended so far survives a loss of power; blocks.
    package func sync() throws(LogError) {
        let (sync, end) = try core.withLock { core throws(LogError) -> (FileSync?, Int64) in
            guard let handle = try core.currentHandle() else { return (nil, 0) }
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
            try compact()
            let (sync, end) = core.withLock { ($0.current?.sync, $0.position.end) }
            try sync?.sync(upTo: end)
        } catch { throw .notDurable(path: path, cause: error) }
    }

    /// As `sync`, on the background thread.
    package func flush() async throws(LogError) {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, LogError>, Never>) in
            worker.run { [self] in
                continuation.resume(returning: Result { () throws(LogError) in try sync() })
            }
        }
        try result.get()
    }

    private func syncInBackground() {
        background.withLock { $0.syncScheduledIn = nil }
        do { try sync() } catch { tell(error) }
        do { try compactIfDue() } catch { tell(error) }
    }

    private func replaceFailedFileInBackground() {
        do { try replaceFailedFile() } catch { tell(error) }
    }

    // MARK: Telling the observer, never under a lock

    func tell(_ error: LogError) {
        background.withLock { $0.observer }?.failed(error)
    }

    func tellNews() {
        tellDamage()
        guard core.withLock({ $0.contents.hasNews }) else { return }
        background.withLock { $0.observer }?.changed()
    }

    private func tellDamage() {
        let untold = core.withLock { $0.damage.takeUntold() }
        guard !untold.isEmpty, let observer = background.withLock({ $0.observer }) else { return }
        for damage in untold { observer.damaged(damage) }
    }
}

/// What a log does outside of calls.
private struct LogBackground {
    var observer: LogObserver?
    var watch: Watch?
    /// In which process a sync will follow, as a child of `fork` has no thread to make its parent's.
    var syncScheduledIn: UInt64?
}

/// Who is told of what happens outside of calls; on any thread, without any lock held.
package struct LogObserver: Sendable {
    /// Others changed something; `catchUp` has taken it in already.
    package var changed: @Sendable () -> Void
    package var damaged: @Sendable (LogDamage) -> Void
    package var failed: @Sendable (LogError) -> Void

    package init(
        changed: @escaping @Sendable () -> Void,
        damaged: @escaping @Sendable (LogDamage) -> Void,
        failed: @escaping @Sendable (LogError) -> Void
    ) {
        self.changed = changed
        self.damaged = damaged
        self.failed = failed
    }
}
