/// The tasks that wait to change a source, one after another, so that each of them waits on at most one thread of the pool.
final class TaskQueue: Sendable {
    private let state = Lock(State())

    private struct State {
        var isTaken = false
        var waiting: [Waiter] = []
    }

    /// A task in the queue, which has its place before it is suspended; guarded by the queue's lock.
    private final class Waiter: @unchecked Sendable {
        var continuation: UnsafeContinuation<Bool, Never>?
        /// Whether it may go on; nil while it waits.
        var result: Bool?
    }

    /// Waits for all that came before; returns false if the deadline has passed, or the task is cancelled.
    nonisolated(nonsending) func enter(until deadline: PreferenceDeadline, _ pool: Pool) async -> Bool {
        let waiter: Waiter? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.waiting.append(Waiter())
            return state.waiting.last
        }
        guard let waiter else { return true }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let result: Bool? = state.withLock { _ in
                    if waiter.result == nil { waiter.continuation = continuation }
                    return waiter.result
                }
                if let result { return continuation.resume(returning: result) }
                pool.run(after: deadline.rest) { self.giveUp(waiter) }
            }
        } onCancel: {
            giveUp(waiter)
        }
    }

    /// Whether a task has its turn, and how many wait for it.
    var isTaken: Bool { state.withLock { $0.isTaken } }
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func leave() {
        let next: Waiter? = state.withLock { state in
            state.isTaken = !state.waiting.isEmpty
            guard state.isTaken else { return nil }
            let next = state.waiting.removeFirst()
            next.result = true
            return next
        }
        // If it isn't suspended yet, it finds the result.
        next?.continuation?.resume(returning: true)
    }

    private func giveUp(_ waiter: Waiter) {
        let continuation: UnsafeContinuation<Bool, Never>? = state.withLock { state in
            guard waiter.result == nil else { return nil }
            waiter.result = false
            state.waiting.removeAll { $0 === waiter }
            return waiter.continuation
        }
        continuation?.resume(returning: false)
    }
}

extension Source {
    /// Runs a call of a task: at once if nothing is waited for, else on a thread of the pool while the task is suspended, with its priority,
    /// its task-local values and its cancellation.
    nonisolated(nonsending) func perform<Result: Sendable>(
        until deadline: PreferenceDeadline,
        isQueued: Bool = false,
        _ body: @escaping @Sendable (PreferenceDeadline) throws -> Result
    ) async throws -> Result {
        if saysWhenItWaits { do { return try body(.now) } catch is PreferenceDeadline.WouldWait {} }
        if !isQueued { try await enterQueue(until: deadline) }
        defer { if !isQueued { tasks.leave() } }
        return try await withTaskExecutorPreference(process.pool) { try await onThread(deadline, body) }
    }

    nonisolated(nonsending) func enterQueue(until deadline: PreferenceDeadline) async throws {
        guard await tasks.enter(until: deadline, process.pool) else {
            try Self.checkCancellation()
            throw PreferenceError(
                .busy,
                "\(backend.place) was in use by other tasks for \(backend.timeout); nothing was changed. Try again"
            )
        }
    }

    static func checkCancellation() throws(PreferenceError) {
        guard Task.isCancelled else { return }
        throw PreferenceError(
            .unavailable,
            "the task was cancelled; nothing was changed",
            cause: CancellationError()
        )
    }
}

@concurrent
private func onThread<Result: Sendable>(
    _ deadline: PreferenceDeadline,
    _ body: @Sendable (PreferenceDeadline) throws -> Result
) async throws -> Result {
    try body(deadline)
}
