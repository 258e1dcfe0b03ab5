internal import CDurableFile
internal import DurableFile
internal import Synchronization

/// A call of a store, with what a source with a timeout needs to know of it.
///
/// A class, because most calls have none: passing `nil` on is cheap.
package final class StoreCall: Sendable {
    /// The start of the call. The timeout of each source counts from here.
    let start: ContinuousClock.Instant
    /// The thread that the call blocks when it has to wait.
    let blocking: Blocking
    /// Whether a call that blocks no thread has ended because it would have had to wait.
    private let isEnded = Atomic(false)

    enum Blocking: Sendable {
        case callersThread, libraryThread
        /// None: the call throws and `wouldWait` is true. It must then be made again.
        case none
    }

    init(start: ContinuousClock.Instant = .now, blocking: Blocking = .callersThread) {
        self.start = start
        self.blocking = blocking
    }

    /// Returns the same call as one that blocks another thread, or none.
    func blocking(_ blocking: Blocking) -> StoreCall { StoreCall(start: start, blocking: blocking) }

    /// Whether a call that blocks no thread has thrown because it would have had to wait.
    var wouldWait: Bool { isEnded.load(ordering: .acquiring) }

    /// Ends a call that blocks no thread and would have to wait.
    func end() { isEnded.store(true, ordering: .releasing) }
}

/// The queue of the calls that tasks make at one source. They run one after another on a thread of the library while the tasks
/// are suspended.
///
/// If its task is cancelled before a call begins, or if its deadline passes while one call keeps the others waiting, the call never
/// begins and its task is resumed immediately. While calls end, a late one still begins: the machine is slow, and not the backend.
final class CallQueue: Sendable {
    /// A thread of its own: on the shared ones, a call with a deadline would wait for the syncs of all files.
    private let worker = WorkerQueue(hasOwnThread: true)
    /// A thread of its own, because a call may occupy `worker` for long.
    private let timer = WorkerQueue()
    private let waiting = Lock(Waiting())
    private let forks = durable_file_fork_count()

    fileprivate enum Refusal {
        case late, cancelled
    }

    fileprivate struct Call: Sendable {
        let number: UInt64
        let deadline: ContinuousClock.Instant?
        /// How long another call must have run for this one to be refused at the deadline: half of its own time.
        let patience: Duration
        /// Runs the call; with a refusal, only resumes the task with the error for it.
        let finish: @Sendable (Refusal?) -> Void
    }

    fileprivate struct Waiting: Sendable {
        var calls = FirstInFirstOut<Call>()
        var lastNumber: UInt64 = 0
        /// When the current call began.
        var running: ContinuousClock.Instant?
        /// The time at which the current timer fires. An earlier deadline starts another timer, whose number is then `timers`.
        var wake: ContinuousClock.Instant?
        var timers: UInt64 = 0
    }

    init() {}

    /// The number of calls that have not begun.
    var count: Int { waiting.withLock { $0.calls.count } }

    /// Runs a job that no task waits for.
    func run(_ job: @escaping @Sendable () -> Void) {
        worker.run(job)
    }

    /// Runs `body` on a thread of the library and returns its result; its argument is whether it had to wait for no other call.
    ///
    /// - Parameter deadline: The latest time for `body` to begin; `nil` for none. Without a deadline, cancelling the task has
    ///   no effect either.
    /// - Parameter late: The error of a call whose deadline has passed.
    /// - Throws: The error of `body`, `late`, or `unavailable` if `body` did not run.
    nonisolated(nonsending) func perform<Result: Sendable>(
        until deadline: ContinuousClock.Instant?,
        late: PreferenceError = PreferenceError(late: ()),
        _ body: @escaping @Sendable (_ isFirst: Bool) throws(PreferenceError) -> Result
    ) async throws(PreferenceError) -> Result {
        let (number, isFirst) = waiting.withLock { waiting in
            waiting.lastNumber += 1
            return (waiting.lastNumber, waiting.running == nil && waiting.calls.count == 0)
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Swift.Result<Result, PreferenceError>, Never>) in
                let patience = deadline.map { max(.zero, ($0 - .now) / 2) } ?? .zero
                let call = Call(number: number, deadline: deadline, patience: patience) { refusal in
                    continuation.resume(
                        returning: Swift.Result { () throws(PreferenceError) in
                            switch refusal {
                            case .late: throw late
                            case .cancelled: throw PreferenceError(cancelled: ())
                            case nil: break
                            }
                            return try body(isFirst)
                        }
                    )
                }
                enqueue(call)
                // If the task was cancelled before this point, the cancellation handler did not find the call in the queue.
                if deadline != nil, Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            if deadline != nil { cancel(number) }
        }
        return try result.get()
    }

    private func enqueue(_ call: Call) {
        let timer = waiting.withLock { waiting in
            waiting.calls.append(call)
            return call.deadline.flatMap { waiting.setTimer(for: $0) }
        }
        worker.run { self.runNext() }
        start(timer)
    }

    private func runNext() {
        // The call may have been refused after it was enqueued.
        let call = waiting.withLock { waiting in
            waiting.running = .now
            return waiting.calls.popFirst()
        }
        call?.finish(nil)
        waiting.withLock { $0.running = nil }
    }

    private func cancel(_ number: UInt64) {
        waiting.withLock { $0.calls.removeFirst { $0.number == number } }?.finish(.cancelled)
    }

    private func start(_ number: (timer: UInt64, delay: Duration)?) {
        guard let number else { return }
        timer.run(after: number.delay) { [weak self] in self?.refuseLate(number.timer) }
    }

    private func refuseLate(_ timer: UInt64) {
        // The calls of a parent's tasks aren't those of its children.
        guard forks == durable_file_fork_count() else { return }
        let now = ContinuousClock.now
        let (late, next) = waiting.withLock { waiting in
            guard timer == waiting.timers else { return ([Call](), nil as (timer: UInt64, delay: Duration)?) }
            waiting.wake = nil
            var late: [Call] = []
            let running = waiting.running ?? now
            while let call = waiting.calls.removeFirst(where: { call in
                call.refusal(whileRunningSince: running).map { $0 <= now } ?? false
            }) {
                late.append(call)
            }
            let next = waiting.calls.elements.compactMap { $0.refusal(whileRunningSince: running) }.min()
            return (late, next.flatMap { waiting.setTimer(for: $0) })
        }
        for call in late { call.finish(.late) }
        start(next)
    }
}

extension CallQueue.Call {
    /// Returns when the call is refused if the current one, which began then, doesn't end; nil if never.
    fileprivate func refusal(whileRunningSince start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        deadline.map { max($0, start + patience) }
    }
}

extension CallQueue.Waiting {
    /// Registers a timer for a deadline unless an earlier one is running; returns its number and its delay.
    fileprivate mutating func setTimer(for deadline: ContinuousClock.Instant) -> (timer: UInt64, delay: Duration)? {
        if let wake, wake <= deadline { return nil }
        wake = deadline
        timers += 1
        return (timers, max(.zero, deadline - .now))
    }
}

extension PreferenceError {
    fileprivate init(cancelled: Void) {
        self.init(.unavailable, "the task was cancelled before the store's backend was called; nothing was changed")
    }

    /// Creates the error for a call whose deadline passed before it began at the backend.
    init(late: Void) {
        self.init(
            .unavailable,
            "the call timed out while it waited for other calls of the store; nothing was changed. "
                + "Try again; if it happens again, find out why the store's server is slow"
        )
    }
}

extension Condition<Bool> {
    /// Waits until the state is true, and returns whether it was true before the deadline.
    func wait(until deadline: ContinuousClock.Instant?) -> Bool {
        wait { state in
            if state { return .done(true) }
            guard let deadline else { return .until(nil) }
            let rest = deadline - .now
            return rest > .zero ? .until(rest) : .done(false)
        }
    }
}
