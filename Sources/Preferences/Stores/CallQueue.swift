internal import DurableFile

/// A call of a store, as its sources with a timeout have to know it.
///
/// A class, as most calls have none, and to pass nothing on is cheap.
final class StoreCall: Sendable {
    /// When it began: it has the timeout of each of these sources from here.
    let start: ContinuousClock.Instant
    /// Whether it runs on a thread of the library, which may be blocked.
    let isOnLibraryThread: Bool

    init(start: ContinuousClock.Instant = .now, isOnLibraryThread: Bool = false) {
        self.start = start
        self.isOnLibraryThread = isOnLibraryThread
    }
}

/// Calls of tasks at one source: they run one after another on a thread of the library while the tasks are suspended.
///
/// A call that has not begun when its time is over or its task is cancelled never begins, and its task is resumed at that moment.
final class CallQueue: Sendable {
    private let worker = WorkerQueue(isBlocking: true)
    /// Has a queue of its own, as the worker may be at a call for long.
    private let timer = WorkerQueue()
    private let waiting = Lock(Waiting())

    fileprivate enum Refusal {
        case late, cancelled
    }

    fileprivate struct Call: Sendable {
        let number: UInt64
        let deadline: ContinuousClock.Instant?
        /// Runs the call, or only resumes its task with why that is refused.
        let finish: @Sendable (Refusal?) -> Void
    }

    fileprivate struct Waiting: Sendable {
        var calls = FirstInFirstOut<Call>()
        var lastNumber: UInt64 = 0
        /// When the timer fires that counts, and its number: an earlier deadline replaces it.
        var wake: ContinuousClock.Instant?
        var timers: UInt64 = 0
    }

    init() {}

    /// How many calls have not begun.
    var count: Int { waiting.withLock { $0.calls.count } }

    /// Runs a job that no task waits for.
    func run(_ job: @escaping @Sendable () -> Void) {
        worker.run(job)
    }

    /// Runs `body` on a thread of the library and returns its result.
    ///
    /// - Parameter deadline: By when it has to begin. Without one, cancelling the task has no effect either.
    /// - Throws: What `body` throws; `unavailable` if it was not run.
    nonisolated(nonsending) func perform<Result: Sendable>(
        until deadline: ContinuousClock.Instant?,
        _ body: @escaping @Sendable () throws(PreferencesError) -> Result
    ) async throws(PreferencesError) -> Result {
        let number = waiting.withLock { waiting in
            waiting.lastNumber += 1
            return waiting.lastNumber
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Swift.Result<Result, PreferencesError>, Never>) in
                let call = Call(number: number, deadline: deadline) { refusal in
                    continuation.resume(
                        returning: Swift.Result { () throws(PreferencesError) in
                            if let refusal { throw PreferencesError(refusal) }
                            return try body()
                        }
                    )
                }
                enqueue(call)
                // The handler found nothing where the task was cancelled before.
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
        // None where it was refused meanwhile.
        guard let call = waiting.withLock({ $0.calls.popFirst() }) else { return }
        call.finish(call.isLate(at: .now) ? .late : nil)
    }

    private func cancel(_ number: UInt64) {
        waiting.withLock { $0.calls.removeFirst { $0.number == number } }?.finish(.cancelled)
    }

    private func start(_ number: (timer: UInt64, delay: Duration)?) {
        guard let number else { return }
        timer.run(after: number.delay) { [weak self] in self?.refuseLate(number.timer) }
    }

    private func refuseLate(_ timer: UInt64) {
        let now = ContinuousClock.now
        let (late, next) = waiting.withLock { waiting in
            guard timer == waiting.timers else { return ([Call](), nil as (timer: UInt64, delay: Duration)?) }
            waiting.wake = nil
            var late: [Call] = []
            while let call = waiting.calls.removeFirst(where: { $0.isLate(at: now) }) { late.append(call) }
            return (late, waiting.calls.elements.compactMap(\.deadline).min().flatMap { waiting.setTimer(for: $0) })
        }
        for call in late { call.finish(.late) }
        start(next)
    }
}

extension CallQueue.Call {
    fileprivate func isLate(at now: ContinuousClock.Instant) -> Bool { deadline.map { $0 <= now } ?? false }
}

extension CallQueue.Waiting {
    /// Notes a timer for a deadline, unless one fires before; returns its number and when it fires.
    fileprivate mutating func setTimer(for deadline: ContinuousClock.Instant) -> (timer: UInt64, delay: Duration)? {
        if let wake, wake <= deadline { return nil }
        wake = deadline
        timers += 1
        return (timers, max(.zero, deadline - .now))
    }
}

extension PreferencesError {
    fileprivate init(_ refusal: CallQueue.Refusal) {
        switch refusal {
        case .late: self.init(late: ())
        case .cancelled:
            self.init(.unavailable, "the task was cancelled before the store's backend was called; nothing was changed")
        }
    }

    /// The error for a call that has not begun at the backend in its time.
    init(late: Void) {
        self.init(
            .unavailable,
            "other calls of the store took so long that the time for this one was over; nothing was changed. "
                + "Try again, and find out why the store's server is slow if that goes on"
        )
    }
}

extension Condition<Bool> {
    /// Waits until the state is true; false if it isn't at the deadline.
    func wait(until deadline: ContinuousClock.Instant?) -> Bool {
        wait { state in
            if state { return .done(true) }
            guard let deadline else { return .until(nil) }
            let rest = deadline - .now
            return rest > .zero ? .until(rest) : .done(false)
        }
    }
}
