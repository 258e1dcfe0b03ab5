internal import CDurableFile

/// A serial queue of jobs, on threads that all queues share.
///
/// It keeps neither the process nor its owner alive. When the last reference to it is released, jobs that aren't due
/// are dropped, and those that are due still run.
package final class WorkerQueue: Sendable {
    package typealias Job = @Sendable () -> Void
    private let pool: WorkerPool
    private let number: Int
    private let isManual: Bool
    private let isBlocking: Bool

    /// Creates a queue; no thread is started yet.
    ///
    /// - Parameters:
    ///   - fileSystem: The clock. Queues with the system's clock share their threads.
    ///   - isManual: Whether jobs run in `runNextJob` only, for experiments in which nothing happens by chance.
    ///   - isBlocking: Whether the jobs wait for the disk; jobs of other queues that don't needn't wait for them.
    ///   - hasOwnThread: Whether jobs run on a thread that no other queue shares: for jobs that might hang, and for
    ///     jobs that another job waits for.
    package convenience init(
        fileSystem: any FileSystem = SystemFileSystem(),
        isManual: Bool = false,
        isBlocking: Bool = false,
        hasOwnThread: Bool = false
    ) {
        let isShared = !isManual && !hasOwnThread && fileSystem is SystemFileSystem
        self.init(isShared ? .shared : WorkerPool(fileSystem: fileSystem), isManual: isManual, isBlocking: isBlocking)
    }

    init(_ pool: WorkerPool, isManual: Bool = false, isBlocking: Bool = false) {
        self.pool = pool
        self.isManual = isManual
        self.isBlocking = isBlocking
        number = pool.schedule.withLock { $0.addQueue() }
    }

    deinit {
        let now = pool.fileSystem.now()
        // Released without the lock: what is released with a job might use a queue.
        let jobs = pool.schedule.signal { $0.removeQueue(number, at: now) }
        withExtendedLifetime(jobs) {}
    }

    /// Runs a job on a thread, at once or after a delay. Must not be called with a lock held that the job takes.
    package func run(after delay: Duration = .zero, _ job: @escaping Job) {
        // Without a thread it runs at once, on this one: a caller might wait for it.
        if !schedule(after: delay, job) { job() }
    }

    /// Runs a job on a thread, at once or after a delay, or returns false if there can't be a thread.
    func schedule(after delay: Duration, _ job: @escaping Job) -> Bool {
        guard ForkGate.mayStartThreads else { return false }
        let due = pool.fileSystem.now() + delay
        return pool.schedule.signal { schedule in
            schedule.add(job, to: number, due: due, isBlocking: isBlocking)
            guard !isManual, !pool.startThread(for: &schedule), schedule.threads == 0 else { return true }
            _ = schedule.removeJobs(of: number)
            return false
        }
    }

    /// Starts a thread for the jobs that a child of `fork` has from its parent; until then, the child has none.
    func resume() {
        guard !isManual else { return }
        pool.schedule.signal { schedule in _ = pool.startThread(for: &schedule) }
    }

    /// Runs the next job of a manual queue, even if it isn't due yet; returns false if the queue is empty.
    package func runNextJob() -> Bool {
        guard let job = pool.schedule.withLock({ $0.removeFirst() }) else { return false }
        job()
        return true
    }

    /// Drops the jobs of a manual queue, which would otherwise retain what they use.
    package func removeJobs() {
        // Released without the lock, as in `deinit`.
        let jobs = pool.schedule.withLock { $0.removeJobs(of: number) }
        withExtendedLifetime(jobs) {}
    }

    /// Starts a new thread for `body`; returns false if the system can't start one, and in a child of `fork` that must not have any.
    package static func startThread(_ name: String, _ body: @escaping Job) -> Bool {
        guard ForkGate.mayStartThreads else { return false }
        let box = Unmanaged.passRetained(JobBox(body))
        let error = durable_file_start_thread(
            name,
            { context in
                guard let context else { return }
                Unmanaged<JobBox>.fromOpaque(context).takeRetainedValue().job()
            },
            box.toOpaque()
        )
        if error != 0 { box.release() }
        return error == 0
    }

    /// Starts a thread of the library as `startThread` does; a `fork` waits until it has called `ForkGate.leave()`.
    static func startOwnThread(_ body: @escaping Job) -> Bool {
        ForkGate.noteStarting()
        let isStarted = startThread("preferences") {
            ForkGate.noteStarted()
            body()
            ForkGate.leave()
        }
        if !isStarted { ForkGate.noteNotStarted() }
        return isStarted
    }
}

private final class JobBox: Sendable {
    let job: WorkerQueue.Job
    init(_ job: @escaping WorkerQueue.Job) { self.job = job }
}

/// The threads that queues of jobs share: usually one that works and, while jobs wait, one that is idle until the next
/// is due.
final class WorkerPool: Sendable {
    static let shared = WorkerPool()

    let schedule: Condition<JobSchedule>
    let fileSystem: any FileSystem
    private let start: @Sendable (@escaping WorkerQueue.Job) -> Bool
    /// The place among the participants of a `fork`; written once, in the initializer.
    nonisolated(unsafe) private var forkPlace = 0

    /// Creates a pool; no thread is started yet.
    ///
    /// - Parameters:
    ///   - idleTime: How long a thread waits for the next job before it ends; a later job starts one again.
    ///   - start: Starts a thread for its second argument and returns whether that was possible.
    init(
        fileSystem: any FileSystem = SystemFileSystem(),
        idleTime: Duration = .seconds(1),
        start: @escaping @Sendable (@escaping WorkerQueue.Job) -> Bool = WorkerQueue.startOwnThread
    ) {
        schedule = Condition(JobSchedule(idleTime: idleTime))
        self.fileSystem = fileSystem
        self.start = start
        forkPlace = ForkGate.add(self)
    }

    deinit { ForkGate.remove(forkPlace) }

    /// Starts a thread if jobs wait and no thread is idle; returns false if that isn't possible.
    ///
    /// Called under the lock, so that no other thread relies on a thread that can't be started.
    fileprivate func startThread(for schedule: inout JobSchedule) -> Bool {
        guard schedule.needsThread else { return true }
        guard start(run) else { return false }
        schedule.addThread()
        return true
    }

    @Sendable private func run() {
        var last: Int?
        while let (queue, job) = next(after: last) {
            job()
            last = queue
        }
    }

    /// Waits for the next job of the calling thread; returns nil if the thread has to end.
    private func next(after last: Int?) -> (queue: Int, job: WorkerQueue.Job)? {
        let idleSince = fileSystem.now()
        var last = last
        ForkGate.leave()
        return schedule.wait { schedule in
            if let queue = last { schedule.finish(queue) }
            last = nil
            // Before a job is removed from the schedule: a child of `fork` would lose it.
            guard ForkGate.enterIfOpen() else { return .until(nil) }
            switch schedule.next(at: fileSystem.now(), idleSince: idleSince) {
            case .run(let queue, let job):
                // If none can be started, this thread takes the next job when its own is done.
                _ = startThread(for: &schedule)
                return .done((queue, job))
            case .wait(let duration):
                ForkGate.leave()
                return .until(duration)
            case .end:
                ForkGate.leave()
                return .done(nil)
            }
        }
    }
}

extension WorkerPool: ForkParticipant {
    var forkRanks: [ForkRank] { [.threads] }

    func take(_ rank: ForkRank) -> Bool { schedule.take() }

    func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        schedule.release(inChild: inChild)
        return nil
    }

    func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        schedule.withLock { $0.forgetThreads(isShared: self === Self.shared) }
    }

    func endFork() { schedule.signal { _ in } }
}

/// The schedule of jobs on the shared threads. It is pure: it has no lock and no clock, and starts nothing.
///
/// One job of a queue runs at a time. One thread works; while it runs a job that waits for the disk, another one runs
/// jobs that don't. A thread whose job has taken `longestTurn` no longer counts, so that neither a slow file nor an
/// observer that waits delays other jobs for longer, and there are more threads only while jobs are stuck.
struct JobSchedule {
    static let longestTurn = Duration.milliseconds(30)

    private struct Entry {
        let due: Duration
        let queue: Int
        let isBlocking: Bool
        let job: WorkerQueue.Job
    }

    enum Next {
        case run(queue: Int, WorkerQueue.Job), wait(Duration), end
    }

    private let idleTime: Duration
    /// The jobs, ordered by time, then by when they were added.
    private var entries: [Entry] = []
    /// The queues of which a job is running.
    private var running: [Int: (since: Duration, isBlocking: Bool, thread: UInt)] = [:]
    private var lastQueue = 0
    private var queues = 0
    private(set) var threads = 0
    /// The number of threads that have no job.
    private var waiting = 0

    init(idleTime: Duration = .seconds(1)) { self.idleTime = idleTime }

    mutating func addQueue() -> Int {
        queues += 1
        lastQueue += 1
        return lastQueue
    }

    /// Removes a queue; returns its jobs that aren't due, which are dropped.
    mutating func removeQueue(_ queue: Int, at now: Duration) -> [WorkerQueue.Job] {
        queues -= 1
        return removeJobs { $0.queue == queue && $0.due > now }
    }

    mutating func add(_ job: @escaping WorkerQueue.Job, to queue: Int, due: Duration, isBlocking: Bool) {
        let index = entries.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        entries.insert(Entry(due: due, queue: queue, isBlocking: isBlocking, job: job), at: index)
    }

    /// Removes the next job and returns it, even if it isn't due.
    mutating func removeFirst() -> WorkerQueue.Job? { entries.isEmpty ? nil : entries.removeFirst().job }

    mutating func removeJobs(of queue: Int) -> [WorkerQueue.Job] { removeJobs { $0.queue == queue } }

    private mutating func removeJobs(where isRemoved: (Entry) -> Bool) -> [WorkerQueue.Job] {
        defer { entries.removeAll(where: isRemoved) }
        return entries.filter(isRemoved).map(\.job)
    }

    /// Whether jobs wait, due or not, while no thread is idle.
    var needsThread: Bool { waiting == 0 && entries.contains { running[$0.queue] == nil } }

    /// Counts a new thread, which calls `next`.
    mutating func addThread() {
        threads += 1
        waiting += 1
    }

    /// Notes that a job of the queue has ended; its thread calls `next`.
    mutating func finish(_ queue: Int) {
        running[queue] = nil
        waiting += 1
    }

    /// Returns what a thread without a job does next.
    mutating func next(at now: Duration, idleSince: Duration) -> Next {
        var wake: Duration?
        for (index, entry) in entries.enumerated() where running[entry.queue] == nil {
            let time = max(entry.due, earliest(entry))
            if time <= now {
                waiting -= 1
                running[entry.queue] = (now, entry.isBlocking, Self.thread)
                return .run(queue: entry.queue, entries.remove(at: index).job)
            }
            wake = min(wake ?? time, time)
        }
        let end = queues == 0 ? now : idleSince + idleTime
        // One idle thread that waits for the next job is enough.
        if let wake, waiting == 1 || wake < end { return .wait(wake - now) }
        if now < end { return .wait(end - now) }
        waiting -= 1
        threads -= 1
        return .end
    }

    /// Forgets the threads of the parent in a child of `fork`, except the one that called it in a job; returns the jobs that the child
    /// must not do.
    ///
    /// The parent does what waits for the disk; and what is done on threads of their own is done for callers that wait for it, which are
    /// the parent's.
    mutating func forgetThreads(isShared: Bool) -> [WorkerQueue.Job] {
        let mustDropAll = !isShared && threads > 0
        if !running.isEmpty { running = running.filter { $0.value.thread == Self.thread } }
        threads = running.count
        waiting = 0
        if entries.isEmpty { return [] }
        defer { entries.removeAll { $0.isBlocking || mustDropAll } }
        return entries.filter { $0.isBlocking || mustDropAll }.map(\.job)
    }

    private static var thread: UInt { UInt(bitPattern: c_thread_identity()) }

    /// Returns when the running jobs no longer delay a job.
    private func earliest(_ entry: Entry) -> Duration {
        var time = Duration.zero
        for job in running.values where entry.isBlocking || !job.isBlocking {
            time = max(time, job.since + Self.longestTurn)
        }
        return time
    }
}

/// A pause of the calling thread.
package enum Pause {
    /// Lets other threads run for about this long.
    package static func sleep(microseconds: UInt32) {
        usleep(microseconds)
    }
}
