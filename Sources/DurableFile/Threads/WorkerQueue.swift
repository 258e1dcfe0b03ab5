internal import CDurableFile

/// Jobs that run one after another, on threads that all such queues share.
///
/// It keeps neither the process nor its owner alive. Jobs that wait for their time when the last reference goes are
/// dropped, those that are due are run first.
package final class WorkerQueue: Sendable {
    package typealias Job = @Sendable () -> Void
    private let pool: WorkerPool
    private let number: Int
    private let isManual: Bool
    private let isBlocking: Bool

    /// Creates a queue without a thread yet.
    ///
    /// - Parameters:
    ///   - fileSystem: The clock; the threads are shared by those with the system's.
    ///   - isManual: Whether jobs run in `runNextJob` alone, for experiments in which nothing happens by chance.
    ///   - isBlocking: Whether jobs wait for the disk, and so aren't waited for by those that don't.
    ///   - hasOwnThread: Whether jobs run on a thread that no other queue shares, as those that may hang, and those that a job waits
    ///     for.
    package convenience init(
        fileSystem: any FileSystem = SystemFileSystem(),
        isManual: Bool = false,
        isBlocking: Bool = false,
        hasOwnThread: Bool = false
    ) {
        // What the parent's threads were at when a child was forked off is half done.
        let isShared = !isManual && !hasOwnThread && fileSystem is SystemFileSystem && Self.isAvailable
        self.init(isShared ? .shared : WorkerPool(fileSystem: fileSystem), isManual: isManual, isBlocking: isBlocking)
    }

    init(_ pool: WorkerPool, isManual: Bool = false, isBlocking: Bool = false) {
        self.pool = pool
        self.isManual = isManual
        self.isBlocking = isBlocking
        number = pool.schedule.withLock { $0.addQueue() }
    }

    deinit {
        guard Self.isAvailable else { return }
        let now = pool.fileSystem.now()
        // Released without the lock: what ends with a job may use a queue.
        let jobs = pool.schedule.signal { $0.removeQueue(number, at: now) }
        withExtendedLifetime(jobs) {}
    }

    /// Runs a job on a thread, now or after some time; never while the caller holds a lock that the job takes.
    package func run(after delay: Duration = .zero, _ job: @escaping Job) {
        // A child of `fork` has no such thread, though the schedule may say so.
        guard Self.isAvailable else { return job() }
        let due = pool.fileSystem.now() + delay
        let isTaken = pool.schedule.signal { schedule in
            schedule.add(job, to: number, due: due, isBlocking: isBlocking)
            guard !isManual, !pool.startThread(for: &schedule), schedule.threads == 0 else { return true }
            _ = schedule.removeJobs(of: number)
            return false
        }
        // Without a thread it runs here and now: somebody may wait for it.
        if !isTaken { job() }
    }

    /// Runs the next job of a manual queue, even if it isn't due yet; returns false if there is none.
    package func runNextJob() -> Bool {
        guard let job = pool.schedule.withLock({ $0.takeFirst() }) else { return false }
        job()
        return true
    }

    /// Drops the jobs of a manual queue, which would else keep what they use.
    package func removeJobs() {
        // Released without the lock, as in `deinit`.
        let jobs = pool.schedule.withLock { $0.removeJobs(of: number) }
        withExtendedLifetime(jobs) {}
    }

    /// Whether this process can have threads beside the program's: not if it is a child of `fork`.
    ///
    /// There `Synchronization.Mutex` takes the thread that called `fork` for the one it was copied from, whose number it
    /// keeps (`_swift_stdlib_gettid`), and traps where another thread waits for a lock that it holds.
    static var isAvailable: Bool { durable_file_fork_count() == 0 }

    /// Starts a thread of its own for `body`; false where the system has none left, and where none is available.
    package static func start(_ name: String, _ body: @escaping Job) -> Bool {
        guard isAvailable else { return false }
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
}

private final class JobBox: Sendable {
    let job: WorkerQueue.Job
    init(_ job: @escaping WorkerQueue.Job) { self.job = job }
}

/// The threads that queues of jobs share: mostly one that works, and one that looks on while jobs wait.
final class WorkerPool: Sendable {
    static let shared = WorkerPool()

    let schedule: Condition<JobSchedule>
    let fileSystem: any FileSystem
    private let start: @Sendable (String, @escaping WorkerQueue.Job) -> Bool

    /// Creates a pool without a thread yet.
    ///
    /// - Parameters:
    ///   - idleTime: How long a thread waits for the next job before it ends; the next one starts it again.
    ///   - start: Starts a thread for its second argument and returns whether it could.
    init(
        fileSystem: any FileSystem = SystemFileSystem(),
        idleTime: Duration = .seconds(1),
        start: @escaping @Sendable (String, @escaping WorkerQueue.Job) -> Bool = WorkerQueue.start
    ) {
        schedule = Condition(JobSchedule(idleTime: idleTime))
        self.fileSystem = fileSystem
        self.start = start
    }

    /// Starts a thread if one has to look on and none does; false if there should be one more.
    ///
    /// Under the lock, so that nobody counts on a thread that can't be started.
    fileprivate func startThread(for schedule: inout JobSchedule) -> Bool {
        guard schedule.needsThread else { return true }
        guard start("preferences", run) else { return false }
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

    /// Waits for the next job of the calling thread; nil if the thread has to end.
    private func next(after last: Int?) -> (queue: Int, job: WorkerQueue.Job)? {
        let idleSince = fileSystem.now()
        var last = last
        return schedule.wait { schedule in
            if let queue = last { schedule.finish(queue) }
            last = nil
            switch schedule.next(at: fileSystem.now(), idleSince: idleSince) {
            case .run(let queue, let job):
                // Where none can be started, this one looks when its job is done.
                _ = startThread(for: &schedule)
                return .done((queue, job))
            case .wait(let duration): return .until(duration)
            case .end: return .done(nil)
            }
        }
    }
}

/// Which job runs next on the threads that queues share; pure: it has no lock and no clock, and starts nothing.
///
/// One job of a queue runs at a time. One thread works: while it is at a job, another one takes only jobs that don't wait for
/// the disk from behind one that does. A thread that is at one job for `longestTurn` no longer counts, so that neither a slow
/// file nor an observer that waits delays others for longer, and there are more threads only while jobs are stuck.
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
    /// In the order of their time, equal times in the order they came.
    private var entries: [Entry] = []
    /// The queues of which a job runs.
    private var running: [Int: (since: Duration, isBlocking: Bool)] = [:]
    private var lastQueue = 0
    private var queues = 0
    private(set) var threads = 0
    /// How many of the threads have no job.
    private var waiting = 0

    init(idleTime: Duration = .seconds(1)) { self.idleTime = idleTime }

    mutating func addQueue() -> Int {
        queues += 1
        lastQueue += 1
        return lastQueue
    }

    /// Returns the jobs of the queue that aren't due and so are dropped.
    mutating func removeQueue(_ queue: Int, at now: Duration) -> [WorkerQueue.Job] {
        queues -= 1
        return removeJobs { $0.queue == queue && $0.due > now }
    }

    mutating func add(_ job: @escaping WorkerQueue.Job, to queue: Int, due: Duration, isBlocking: Bool) {
        let index = entries.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        entries.insert(Entry(due: due, queue: queue, isBlocking: isBlocking, job: job), at: index)
    }

    /// Takes the next job, even if it isn't due.
    mutating func takeFirst() -> WorkerQueue.Job? { entries.isEmpty ? nil : entries.removeFirst().job }

    mutating func removeJobs(of queue: Int) -> [WorkerQueue.Job] { removeJobs { $0.queue == queue } }

    private mutating func removeJobs(where isRemoved: (Entry) -> Bool) -> [WorkerQueue.Job] {
        defer { entries.removeAll(where: isRemoved) }
        return entries.filter(isRemoved).map(\.job)
    }

    /// Whether jobs wait, now or for their time, which no thread looks after.
    var needsThread: Bool { waiting == 0 && entries.contains { running[$0.queue] == nil } }

    /// Counts a thread, which calls `next`.
    mutating func addThread() {
        threads += 1
        waiting += 1
    }

    /// Notes that a job of the queue has ended; its thread calls `next`.
    mutating func finish(_ queue: Int) {
        running[queue] = nil
        waiting += 1
    }

    /// What a thread without a job does next.
    mutating func next(at now: Duration, idleSince: Duration) -> Next {
        var wake: Duration?
        for (index, entry) in entries.enumerated() where running[entry.queue] == nil {
            let time = max(entry.due, earliest(entry))
            if time <= now {
                waiting -= 1
                running[entry.queue] = (now, entry.isBlocking)
                return .run(queue: entry.queue, entries.remove(at: index).job)
            }
            wake = min(wake ?? time, time)
        }
        let end = queues == 0 ? now : idleSince + idleTime
        // One that looks on is enough.
        if let wake, waiting == 1 || wake < end { return .wait(wake - now) }
        if now < end { return .wait(end - now) }
        waiting -= 1
        threads -= 1
        return .end
    }

    /// When the threads that are at jobs no longer keep one from being taken.
    private func earliest(_ entry: Entry) -> Duration {
        var time = Duration.zero
        for job in running.values where entry.isBlocking || !job.isBlocking {
            time = max(time, job.since + Self.longestTurn)
        }
        return time
    }
}

/// A wait of the calling thread.
package enum Pause {
    /// Lets other threads run for about this long.
    package static func sleep(microseconds: UInt32) {
        usleep(microseconds)
    }
}
