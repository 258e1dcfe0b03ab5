internal import CDurableFile

/// A thread that runs jobs one after another, started with the first job and ended with the last reference or when it has had
/// none for a while.
///
/// It keeps neither the process nor its owner alive. Jobs that wait for their time when the last reference goes are
/// dropped, those that are due are run first.
package final class WorkerThread: Sendable {
    package typealias Job = @Sendable () -> Void
    private let name: String
    private let queue = Condition(JobQueue())
    private let fileSystem: any FileSystem
    private let isManual: Bool
    private let idleTime: Duration
    private let start: @Sendable (String, @escaping Job) -> Bool

    /// Creates a worker without a thread yet.
    ///
    /// - Parameters:
    ///   - isManual: Whether jobs run in `runNextJob` alone, for experiments in which nothing happens by chance.
    ///   - idleTime: How long the thread waits for the next job before it ends; the next one starts it again.
    ///   - start: Starts a thread for its second argument and returns whether it could.
    package init(
        name: String,
        fileSystem: any FileSystem = SystemFileSystem(),
        isManual: Bool = false,
        idleTime: Duration = .seconds(1),
        start: @escaping @Sendable (String, @escaping Job) -> Bool = WorkerThread.start
    ) {
        self.name = name
        self.fileSystem = fileSystem
        self.isManual = isManual
        self.idleTime = idleTime
        self.start = start
    }

    deinit { queue.signal { $0.isFinishing = true } }

    /// Runs a job on the thread, now or after some time; never while the caller holds a lock that the job takes.
    package func run(after delay: Duration = .zero, _ job: @escaping Job) {
        // A child of `fork` has no such thread, though the queue may say so.
        guard Self.isAvailable else { return job() }
        let due = fileSystem.now() + delay
        let mustStart = queue.signal { queue in
            queue.add(job, due: due)
            defer { queue.isStarted = true }
            return !queue.isStarted && !isManual
        }
        guard mustStart else { return }
        if !start(name, Thread(queue: queue, fileSystem: fileSystem, idleTime: idleTime).run) {
            // Without a thread all that waits runs here and now: also what other threads have added since, and what they may be
            // waiting for.
            let jobs = queue.withLock { queue in
                queue.isStarted = false
                return queue.takeAll()
            }
            for job in jobs { job() }
        }
    }

    /// Whether there is a thread.
    var isRunning: Bool { queue.withLock { $0.isStarted } }

    /// Runs the next job of a manual worker, even if it isn't due yet; returns false if there is none.
    package func runNextJob() -> Bool {
        guard case .run(let job) = queue.withLock({ $0.next(at: .seconds(Int64.max)) }) else { return false }
        job()
        return true
    }

    /// Drops the jobs of a manual worker, which would else keep what they use.
    package func removeJobs() {
        // Released without the lock: what ends with a job may use the worker.
        let jobs = queue.withLock { $0.takeAll() }
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

    private struct Thread: Sendable {
        let queue: Condition<JobQueue>
        let fileSystem: any FileSystem
        let idleTime: Duration

        @Sendable func run() {
            while let job = next() { job() }
        }

        private func next() -> Job? {
            var idleUntil: Duration?
            return queue.wait { queue in
                let now = fileSystem.now()
                switch queue.next(at: now) {
                case .run(let job): return .done(job)
                case .wait(let duration?): return .until(duration)
                case .wait(nil):
                    let end = idleUntil ?? now + idleTime
                    idleUntil = end
                    guard now >= end else { return .until(end - now) }
                    queue.isStarted = false
                    return .done(nil)
                case .end: return .done(nil)
                }
            }
        }
    }
}

private final class JobBox: Sendable {
    let job: WorkerThread.Job
    init(_ job: @escaping WorkerThread.Job) { self.job = job }
}

/// The jobs of a worker thread in the order of their time, equal times in the order they came.
struct JobQueue {
    private var jobs: [(due: Duration, job: WorkerThread.Job)] = []
    var isStarted = false
    var isFinishing = false

    enum Next {
        case run(WorkerThread.Job), wait(Duration?), end
    }

    mutating func add(_ job: @escaping WorkerThread.Job, due: Duration) {
        let index = jobs.firstIndex { $0.due > due } ?? jobs.endIndex
        jobs.insert((due, job), at: index)
    }

    mutating func next(at now: Duration) -> Next {
        if let first = jobs.first, first.due <= now { return .run(jobs.removeFirst().job) }
        if isFinishing { return .end }
        return .wait(jobs.first.map { $0.due - now })
    }

    mutating func takeAll() -> [WorkerThread.Job] {
        defer { jobs = [] }
        return jobs.map(\.job)
    }
}

/// A wait of the calling thread.
package enum Pause {
    /// Lets other threads run for about this long.
    package static func sleep(microseconds: UInt32) {
        usleep(microseconds)
    }
}
