internal import CPreferences
internal import Synchronization

/// A few threads that run jobs and timers. They are made when they are first needed, at the latest when a store opens a file; that a later
/// one can't be made costs time, not jobs.
///
/// Not libdispatch's: its timers end the process when no descriptor is left, and so does the first task of a process.
package final class Pool: TaskExecutor, @unchecked Sendable {  // `state` is a lock, `signal` atomic
    package typealias Job = @Sendable () -> Void

    private static let maximum = 16

    private let state = Lock(State())
    /// Counts what was added; idle threads sleep on it.
    private let signal = Atomic<UInt32>(0)

    private struct State {
        var jobs: [Job] = []
        /// The index of the next job.
        var next = 0
        /// The latest first.
        var timers: [(due: Int64, job: Job)] = []
        var idle = 0
        var threads = 0
    }

    /// Makes the first thread unless there is one; returns false if that fails.
    @discardableResult
    func start() -> Bool {
        let isNeeded = state.withLock { state in
            guard state.threads == 0 else { return false }
            state.threads = 1
            return true
        }
        return !isNeeded || addThread()
    }

    package func run(_ job: @escaping Job) {
        let isShort = state.withLock { state in
            state.jobs.append(job)
            guard state.idle < state.jobs.count - state.next, state.threads < Self.maximum else { return false }
            state.threads += 1
            return true
        }
        wake()
        if isShort { addThread() }
    }

    package func run(after duration: Duration, _ job: @escaping Job) { run(after: duration.nanoseconds, job) }

    func run(after nanoseconds: Int64, _ job: @escaping Job) {
        let due = preferences_now() + nanoseconds
        state.withLock { state in
            let index = state.timers.firstIndex { $0.due <= due } ?? state.timers.count
            state.timers.insert((due, job), at: index)
        }
        start()
        wake()
    }

    /// Runs a part of a task on a thread of the pool.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    private func wake() {
        signal.wrappingAdd(1, ordering: .releasing)
        withUnsafePointer(to: signal) { preferences_wake($0) }
    }

    /// Starts a thread that is counted already.
    @discardableResult
    private func addThread() -> Bool {
        if Self.startThread({ self.work() }) { return true }
        state.withLock { $0.threads -= 1 }
        return false
    }

    /// Runs a job that blocks for long on a thread of its own; returns false if none can be made.
    package static func startThread(_ job: @escaping Job) -> Bool {
        let context = Unmanaged.passRetained(Started(job)).toOpaque()
        let code = preferences_start_thread(
            { context in
                if let context { Unmanaged<Started>.fromOpaque(context).takeRetainedValue().job() }
            },
            context
        )
        if code != 0 { Unmanaged<Started>.fromOpaque(context).release() }
        return code == 0
    }

    private final class Started {
        let job: Job
        init(_ job: @escaping Job) { self.job = job }
    }

    private func work() {
        while true {
            let seen = signal.load(ordering: .acquiring)
            let (job, rest): (Job?, Int64) = state.withLock { state in
                if state.next < state.jobs.count {
                    state.next += 1
                    let job = state.jobs[state.next - 1]
                    if state.next == state.jobs.count { (state.jobs, state.next) = ([], 0) }
                    return (job, 0)
                }
                guard let timer = state.timers.last else {
                    state.idle += 1
                    return (nil, -1)
                }
                let rest = timer.due - preferences_now()
                if rest <= 0 { return (state.timers.removeLast().job, 0) }
                state.idle += 1
                return (nil, rest)
            }
            if let job {
                job()
                continue
            }
            withUnsafePointer(to: signal) { preferences_wait($0, seen, rest) }
            state.withLock { $0.idle -= 1 }
        }
    }
}
