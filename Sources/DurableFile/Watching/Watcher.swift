internal import Synchronization

/// A watcher that reports when files might have changed externally; one thread looks at all files of the process.
///
/// The thread runs while a file is watched; another one takes its place if an observer that it calls takes long. A file is polled twice a second if the kernel reports nothing of it,
/// because it has no watch left or another machine might write to the file.
package final class Watcher: Sendable {
    /// A closure that is called on the watcher's thread without a lock; not again once the `Watch` is gone, except for
    /// one call that had begun.
    ///
    /// It must not wait, as all files share the thread: it returns nil to be called again when the file is idle. What may
    /// wait, such as an observer, is the `report` of what it returns.
    package typealias Body = @Sendable (WatchEvent) -> WatchFinding?

    /// The watcher of all stores.
    ///
    /// On Linux, ending a program that has a watch takes some milliseconds; the delay spares them a program that only
    /// reads a value.
    package static let shared = Watcher(startingAfter: .milliseconds(50))

    private let fileSystem: any FileSystem
    private let state: Lock<WatcherState>
    /// The pipe that wakes the thread; made when it starts, as a child of `fork` must not share its parent's.
    private let pipe = Lock<Pipe?>(nil)
    /// The queue of the job that looks whether a report lasts long; made for the first report.
    private let reportQueue = Lock<WorkerQueue?>(nil)
    /// Whether it is a participant of a `fork`.
    private let isAdded = Atomic(false)
    /// Its place among these; written once, at the first `watch`.
    nonisolated(unsafe) private var forkPlace = 0

    private struct Pipe: Sendable {
        let reading: OpenFile
        let writing: OpenFile
    }

    /// Creates a watcher that registers with the kernel a delay after the first file was added; it reports then what
    /// has changed until then.
    package init(fileSystem: any FileSystem = SystemFileSystem(), startingAfter delay: Duration = .zero) {
        self.fileSystem = fileSystem
        state = Lock(WatcherState(startingAfter: delay))
    }

    deinit {
        if isAdded.load(ordering: .acquiring) { ForkGate.remove(forkPlace) }
    }

    /// Watches the file that is or will be at a path; reports what happens after this returns.
    ///
    /// - Parameter isFolder: Whether the path is that of a folder, of which only the names are watched.
    package func watch(_ path: String, isFolder: Bool = false, _ body: @escaping Body) -> Watch {
        addToForks()
        let (number, thread) = state.withLock { $0.add(path, isFolder: isFolder, body, fileSystem) }
        if let thread { start(thread) } else { wake() }
        return Watch(self, number)
    }

    /// Watches again in a child of `fork`, which has none of its parent's threads, and reports what has happened since.
    package func resume() {
        if let thread = state.withLock({ $0.resume() }) { start(thread) }
    }

    // Not in the initializer: a thread that waits for a `fork` there leaves the shared watcher in creation in the child.
    private func addToForks() {
        guard !isAdded.load(ordering: .relaxed), !isAdded.exchange(true, ordering: .acquiringAndReleasing) else {
            return
        }
        forkPlace = ForkGate.add(self)
    }

    private func start(_ thread: Int) {
        makePipe()
        let isStarted = WorkerQueue.startOwnThread { [self] in run(thread) }
        // Without a thread nothing is reported; the next write still finds external changes.
        if !isStarted { state.withLock { $0.end() } }
    }

    private func makePipe() {
        guard pipe.withLock({ $0 == nil }) else { return }
        do {
            let (reading, writing) = try fileSystem.makePipe()
            pipe.withLock { $0 = $0 ?? Pipe(reading: reading, writing: writing) }
        } catch {
            // The thread looks twice a second whether it has to end.
        }
    }

    func cancel(_ number: Int) {
        state.withLock { $0.remove(number, fileSystem) }
        wake()
    }

    func isPolled(_ number: Int) -> Bool { state.withLock { $0.isPolled(number) } }

    /// Whether the watcher has a thread or a queue of events.
    var isRunning: Bool { state.withLock { $0.thread != nil || $0.queue != nil } }

    private func wake() {
        if let pipe = pipe.withLock({ $0 }) { fileSystem.wake(pipe.writing) }
    }

    private func run(_ thread: Int) {
        var limit = WakeLimit()
        while true {
            let plan = state.withLock { state -> (queue: OpenFile?, deadline: Duration?)? in
                state.thread == thread ? (state.queue, state.deadline) : nil
            }
            guard let plan else { return }
            let events = waitForEvents(plan.queue, until: plan.deadline) ? events(plan.queue) : []
            let hasChanges = serve(events, thread) || events.isEmpty
            let pause = limit.pause(hasChanges: hasChanges, at: fileSystem.now())
            if pause > .zero { waiting { fileSystem.sleep(pause) } }
        }
    }

    private func events(_ queue: OpenFile?) -> [FolderEvent] {
        guard let queue else { return [] }
        do {
            return try fileSystem.events(queue)
        } catch {
            state.withLock { $0.fallBackToPolling(at: fileSystem.now()) }
            return []
        }
    }

    /// Waits for events until the deadline; returns whether there might be some.
    private func waitForEvents(_ queue: OpenFile?, until deadline: Duration?) -> Bool {
        var timeout = deadline.map { max(.zero, $0 - fileSystem.now()) }
        let pipe = self.pipe.withLock { $0 }
        // Without a pipe the thread can't be woken to end it.
        if pipe == nil { timeout = min(timeout ?? WatcherState.pollInterval, WatcherState.pollInterval) }
        do {
            let (isReady, isWoken) = try waiting { () throws(FileSystemError) in
                try fileSystem.wait(for: queue, or: pipe?.reading, atMost: timeout)
            }
            if isWoken, let pipe { fileSystem.drain(pipe.reading) }
            return isReady
        } catch {
            // Without poll(2) the thread must not spin.
            waiting { fileSystem.sleep(WatcherState.pollInterval) }
            return true
        }
    }

    /// Runs `body`, which only waits, so that a `fork` needn't wait for it.
    private func waiting<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        ForkGate.leave()
        defer { ForkGate.enter() }
        return try body()
    }

    /// Calls the closures of the files that events are for and of those that are idle; returns whether an event brought
    /// changes.
    private func serve(_ events: [FolderEvent], _ thread: Int) -> Bool {
        let now = fileSystem.now()
        let (touched, idle) = state.withLock { state -> (WatcherState.Hits, WatcherState.Hits) in
            guard state.thread == thread else { return ([:], [:]) }
            let touched = state.touched(by: events, at: now, fileSystem)
            return (touched, state.idle(at: now, except: touched))
        }
        // On this thread, a report of one of several files would wait until all are looked at, or delay the look at the others.
        let isOnlyFile = touched.count + idle.count == 1
        var hasChanges = false
        var reports: [WorkerQueue.Job] = []
        func report(_ finding: WatchFinding?) {
            guard let report = finding?.report else { return }
            if isOnlyFile || !WorkerQueue().schedule(after: .zero, report) { reports.append(report) }
        }
        for (number, hit) in touched {
            guard let body = state.withLock({ $0.body(number) }) else { continue }
            var finding = body(hit.isClosed ? .closed : .touched)
            report(finding)
            // A file that was renamed to the path is complete, so there is nothing to wait for.
            if hit.isArrival, finding?.isBlank == false {
                finding = body(.idle(isWhole: true))
                report(finding)
            }
            hasChanges = hasChanges || finding?.hasChanges == true
            state.withLock { $0.note(number, hit, finding, at: now) }
        }
        for (number, hit) in idle {
            guard let body = state.withLock({ $0.body(number) }) else { continue }
            let finding = body(.idle(isWhole: hit.isWhole))
            report(finding)
            if finding == nil { state.withLock { $0.note(number, hit, nil, at: fileSystem.now()) } }
        }
        for report in reports { make(report, thread) }
        return hasChanges
    }

    // MARK: Reports, which may wait

    /// Makes a report on this thread, which saves the time that another one takes to wake up.
    private func make(_ report: WorkerQueue.Job, _ thread: Int) {
        if state.withLock({ $0.beginReport(on: thread, at: fileSystem.now()) }) { look(after: JobSchedule.longestTurn) }
        report()
        state.withLock { $0.endReport(on: thread) }
    }

    /// Looks later, on another thread, whether a report still lasts.
    private func look(after delay: Duration) {
        let queue = reportQueue.withLock { queue in
            let made = queue ?? WorkerQueue(fileSystem: fileSystem)
            queue = made
            return made
        }
        let isScheduled = queue.schedule(after: delay) { [weak self] in
            guard let self else { return }
            switch state.withLock({ $0.report.next(at: fileSystem.now()) }) {
            case .end: break
            case .look(let delay): look(after: delay)
            case .takeOver: watchOnNewThread()
            }
        }
        if !isScheduled { state.withLock { $0.report.endLooks() } }
    }

    private func watchOnNewThread() {
        let isStarted = WorkerQueue.startOwnThread { [self] in
            if let thread = state.withLock({ $0.takeOver(at: fileSystem.now()) }) { run(thread) }
        }
        // Tried again, as the report might never end; it isn't if the thread watches again by then.
        if !isStarted, state.withLock({ $0.report.lookAgain() }) { look(after: JobSchedule.longestTurn) }
    }
}

/// The duration of a report that the watcher's thread makes, which is looked at by one job, however many reports there are.
struct ReportTimer: Sendable {
    private var start: Duration?
    /// Whether a job is scheduled that will look.
    private var isGuarded = false

    enum Step: Equatable {
        /// No report is being made.
        case end
        /// Look again after this time, at a report that began later.
        case look(after: Duration)
        /// Another thread has to watch.
        case takeOver
    }

    /// Notes that a report begins; returns whether a look has to be scheduled.
    mutating func begin(at now: Duration) -> Bool {
        start = now
        return !exchange(&isGuarded, with: true)
    }

    mutating func end() { start = nil }

    /// Notes that no look is scheduled.
    mutating func endLooks() { isGuarded = false }

    /// Notes that no thread could take over; returns whether a look has to be scheduled.
    mutating func lookAgain() -> Bool { start != nil && !exchange(&isGuarded, with: true) }

    /// Returns what the job that looks does next.
    mutating func next(at now: Duration) -> Step {
        if let start, !isLong(at: now) { return .look(after: start + JobSchedule.longestTurn - now) }
        isGuarded = false
        return start == nil ? .end : .takeOver
    }

    func isLong(at now: Duration) -> Bool { start.map { $0 + JobSchedule.longestTurn <= now } ?? false }
}

extension Watcher: ForkParticipant {
    package var forkRanks: [ForkRank] { [.threads] }

    package func take(_ rank: ForkRank) -> Bool {
        guard state.take() else { return false }
        if pipe.take() { return true }
        state.release(inChild: false)
        return false
    }

    package func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        pipe.release(inChild: inChild)
        state.release(inChild: inChild)
        return nil
    }

    package func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        // The kernel's queue and the pipe are the parent's: what this process would read of them, that one would miss.
        state.withLock { $0.resetAfterFork() }
        pipe.withLock { $0 = nil }
        return []
    }
}

/// The watch of one file, which ends with the last reference to it.
package final class Watch: Sendable {
    private let watcher: Watcher
    private let number: Int

    init(_ watcher: Watcher, _ number: Int) {
        self.watcher = watcher
        self.number = number
    }

    deinit { watcher.cancel(number) }

    /// Whether the file is polled, because the kernel doesn't report what happens to it.
    var isPolled: Bool { watcher.isPolled(number) }
}

/// An event of a watched file.
package enum WatchEvent: Equatable, Sendable {
    /// Something has happened to the file.
    case touched
    /// As `touched`, and at last a program has closed the file after writing to it.
    case closed
    /// Nothing has happened to the file for a moment; `isWhole` if all of a large file has to be compared.
    case idle(isWhole: Bool)
}

/// The result of looking at a watched file.
package struct WatchFinding: Sendable {
    /// Whether the file is missing or empty.
    package var isBlank: Bool
    /// Whether the file was rewritten from its beginning, and might not be complete yet.
    package var isBeingSaved: Bool
    /// Whether there are changes to notify an observer of.
    package var hasChanges: Bool
    /// Whether the file has only grown, by whole lines, so that nothing is left to compare.
    package var isComplete: Bool
    /// Notifies an observer; may take any time, and is called once, on the watcher's thread or another one.
    package var report: (@Sendable () -> Void)?

    package init(isBlank: Bool, isBeingSaved: Bool = false, hasChanges: Bool, isComplete: Bool = false) {
        self.isBlank = isBlank
        self.isBeingSaved = isBeingSaved
        self.hasChanges = hasChanges
        self.isComplete = isComplete
    }
}
